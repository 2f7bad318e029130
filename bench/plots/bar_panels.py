# SPDX-License-Identifier: Apache-2.0
"""A chart of panels side by side: a row for each name, a bar for each series."""
import math
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from svg_page import Page

WIDTH, LEFT, RIGHT, GAP = 800, 136, 14, 16
LABEL = 36          # of a panel's width, for the column of values
TOP, BAR, SPACE = 104, 10, 9
LEGEND = 12         # pixels between entries of the legend, beside 7 for each letter

Column = Dict[str, Optional[float]]  # {row: value, or None where there is no correct result}


class Panel(NamedTuple):
    """`columns` has a column for each series; None: the series was not measured."""
    title: str
    columns: List[Optional[Column]]


class Chart(NamedTuple):
    """All that a chart shows. `has_one_scale`: values of all panels compare with each other."""
    title: str
    heading: str
    lines: List[str]               # below the heading
    desc: str                      # for screen readers
    series: List[Tuple[str, str]]  # name, color
    panels: List[Panel]
    rows: List[str]
    words: Callable[[float], str]
    missing: str = "failed"        # in place of a value that is None
    reference: Optional[float] = None  # the value of a thick line
    summary: Optional[str] = None  # the last row, below a line
    has_one_scale: bool = True


def draw_head(page, chart):
    page.text(14, 24, chart.heading, "title")
    for i, line in enumerate(chart.lines):
        page.text(14, 46 + 18 * i, line, "muted")
    x = WIDTH - RIGHT
    for name, color in reversed(chart.series if len(chart.series) > 1 else []):
        x -= 7 * len(name) + 15
        page.shape("rect", color, x=x, y=19, width=10, height=10)
        page.text(x + 15, 24, name)
        x -= LEGEND


def step_of(most):
    """The distance of grid lines: 1, 2 or 5 times a power of ten, for at most three beyond 0."""
    power = 10.0 ** math.floor(math.log10(most / 5))
    return next(power * digit for digit in (1, 2, 5, 10) if most / (power * digit) < 4)


def decimals_of(value):
    """The number of decimals that a value of an axis needs."""
    return len(f"{value:g}".partition(".")[2])


def draw_grid(page, chart, left, unit, bottom, most):
    """Draws a line at 0, at the reference, and at most five others, with their values below."""
    step = step_of(most) if chart.reference is None else max(1, math.ceil(most / 6))
    values = [step * i for i in range(math.floor(most / step) + 1)]
    if chart.reference is not None and chart.reference not in values:
        values.insert(1, chart.reference)
    decimals = max(decimals_of(value) for value in values)
    for value in values:
        x = left + value * unit
        page.line("grid", x, TOP - 4, x, bottom)
        page.text(x, bottom + 10, f"{value:.{decimals}f}", "small muted", "middle")


def draw_bar(page, chart, panel, row, series, left, width, unit, y):
    """Draws a bar and its value in the column at the panel's end."""
    name, color = chart.series[series]
    value = panel.columns[series].get(row)
    words = chart.words(value) if value else chart.missing
    if value:
        page.shape("rect", color, f"{row}, {panel.title}, {name}: {words}",
                   x=left, y=y, width=value * unit, height=BAR - 1)
    page.text(left + width, y + BAR / 2, words,
              f"small {'strong' if row == chart.summary else 'muted'}", "end")


def max_of(panels):
    return max((value for panel in panels for column in panel.columns if column
                for value in column.values() if value), default=1)


def draw_panel(page, chart, panel, left, width, height):
    most = max_of(chart.panels if chart.has_one_scale else [panel])
    unit = (width - LABEL) / most
    bottom = TOP + height * len(chart.rows) + 2
    page.text(left, TOP - 16, panel.title, "strong")
    draw_grid(page, chart, left, unit, bottom, most)
    measured = [i for i, column in enumerate(panel.columns) if column is not None]
    for i, row in enumerate(chart.rows):
        # Bars of few series are in the middle of the row.
        y = TOP + i * height + (height - BAR * len(measured)) / 2
        for j, series in enumerate(measured):
            draw_bar(page, chart, panel, row, series, left, width, unit, y + j * BAR)
    if chart.reference is not None:
        x = left + chart.reference * unit
        page.line("axis", x, TOP - 4, x, bottom)


def draw_names(page, chart, height):
    for i, row in enumerate(chart.rows):
        page.text(LEFT - 10, TOP + (i + 0.5) * height, row,
                  "strong" if row == chart.summary else "", "end")
    if chart.summary:
        y = TOP + (len(chart.rows) - 1) * height
        page.line("grid", 14, y, WIDTH - RIGHT, y)


def draw(chart):
    """Returns the page."""
    height = BAR * len(chart.series) + SPACE
    n = len(chart.panels)
    width = (WIDTH - LEFT - RIGHT - GAP * (n - 1)) / n
    page = Page(WIDTH, TOP + height * len(chart.rows) + 24, chart.title, chart.desc)
    draw_head(page, chart)
    draw_names(page, chart, height)
    for i, panel in enumerate(chart.panels):
        draw_panel(page, chart, panel, LEFT + i * (width + GAP), width, height)
    return page
