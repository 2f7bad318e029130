# SPDX-License-Identifier: Apache-2.0
"""The operators of a network in a roofline plot: GFLOP/s over FLOP per byte.

Source: Williams, Waterman, Patterson, "Roofline: an insightful visual performance model for
multicore architectures", Communications of the ACM 52 (4), 2009.
"""
import math

from svg_page import LogScale, Page

WIDTH, HEIGHT = 800, 520
LEFT, RIGHT, TOP, BOTTOM = 64, 782, 122, 466
SMALLEST = 2.5    # radius of a dot
AREA = 6000.0     # of all dots together


def circle(page, x, y, r, css, hint=""):
    page.shape("circle", css, hint, cx=x, cy=y, r=r)


def square(page, x, y, r, css, hint=""):
    """Draws a square with the area of a circle of radius `r`."""
    side = r * math.sqrt(math.pi)
    page.shape("rect", css, hint, x=x - side / 2, y=y - side / 2, width=side, height=side)


def diamond(page, x, y, r, css, hint=""):
    """Draws a diamond with the area of a circle of radius `r`."""
    d = r * math.sqrt(math.pi / 2)
    corners = [(x, y - d), (x + d, y), (x, y + d), (x - d, y)]
    page.shape("polygon", css, hint, points=" ".join(f"{a:.1f},{b:.1f}" for a, b in corners))


# A prefix of algorithms, its text in the legend, its shape and color. The last row matches all.
KINDS = [("direct", "direct convolution", circle, "blue"),
         ("winograd", "Winograd's algorithm, counted as direct: can exceed the peak",
          diamond, "orange"),
         ("", "other", square, "green")]


def kind_of(op):
    return next(kind for kind in KINDS if op["algorithm"].startswith(kind[0]))


def intensity(op):
    """FLOP per byte of inputs and outputs."""
    return 2 * op["macs"] / op["bytes"]


def share(ops, bench):
    return sum(op["ms"] for op in ops) / sum(op["ms"] for op in bench["ops"])


def left_out(bench, ops):
    return (f"Not drawn: {len(bench['ops']) - len(ops)} operators without multiply-accumulates, "
            f"{100 * (1 - share(ops, bench)):.1f} % of the time.")


def description(bench, ops, machine):
    return (f"A dot for each of {len(ops)} operators of {machine['roofline']}, on "
            f"{machine['processor']}: GFLOP/s over FLOP per byte of inputs and outputs, on "
            f"logarithmic axes. Roofs: the measured peak, {bench['peak_gflops']:.1f} GFLOP/s, and "
            f"the bandwidth of a copy, {bench['peak_gbs']:.1f} GB/s. {left_out(bench, ops)}")


def draw_head(page, bench, ops, machine):
    page.text(14, 24, f"Roofline of {machine['roofline']}", "title")
    page.text(14, 46, "A dot for each operator, its area proportional to its time. "
              f"{machine['processor']}", "muted")
    page.text(14, 64, left_out(bench, ops), "muted")


def draw_legend(page, ops):
    x = 22
    used = [kind_of(op) for op in ops]
    for _, words, mark, color in [kind for kind in KINDS if kind in used]:
        mark(page, x, 90, 5, color)
        page.text(x + 12, 90, words)
        x += 40 + 6.5 * len(words)


def draw_axes(page, across, up):
    for tick in across.ticks():
        page.line("grid", across(tick), TOP, across(tick), BOTTOM)
        page.text(across(tick), BOTTOM + 14, f"{tick:g}", "muted", "middle")
    for tick in up.ticks():
        page.line("grid", LEFT, up(tick), RIGHT, up(tick))
        page.text(LEFT - 8, up(tick), f"{tick:g}", "muted", "end")
    page.text((LEFT + RIGHT) / 2, BOTTOM + 38, "FLOP per byte of inputs and outputs", "", "middle")
    page.text(20, (TOP + BOTTOM) / 2, "GFLOP/s of the direct computation", "", "middle", -90)


def draw_roofs(page, bench, across, up):
    """Draws both roofs to where they meet; the peak continues to its name at the left, dashed."""
    peak, bandwidth = bench["peak_gflops"], bench["peak_gbs"]
    begin = max(across.low, up.low / bandwidth)
    x0, y0, x, y = across(begin), up(begin * bandwidth), across(peak / bandwidth), up(peak)
    page.line("axis", x0, y0, x, y)
    page.line("axis", x, y, RIGHT, y)
    page.line("axis dashed", LEFT, y, x, y)
    page.text(LEFT + 8, y - 12, f"measured peak, {peak:.1f} GFLOP/s", "strong")
    # The name of the slope ends 20 pixels before the corner, 11 pixels above the slope.
    angle = math.atan2(y - y0, x - x0)
    page.text(x - 20 * math.cos(angle) + 11 * math.sin(angle),
              y - 20 * math.sin(angle) - 11 * math.cos(angle),
              f"bandwidth of a copy, {bandwidth:.1f} GB/s", "strong", "end", math.degrees(angle))


def draw_dots(page, bench, ops, across, up):
    """Draws the longest operators first, so that small dots are on top of large ones."""
    for op in sorted(ops, key=lambda op: -op["ms"]):
        _, _, mark, color = kind_of(op)
        part = share([op], bench)
        radius = max(SMALLEST, math.sqrt(AREA * part / math.pi))
        mark(page, across(intensity(op)), up(op["gflops"]), radius, f"dot {color}",
             f"{op['name']}, {op['algorithm']}, {op['output']}: {op['gflops']:.1f} GFLOP/s, "
             f"{intensity(op):.1f} FLOP/byte, {op['ms']:.3f} ms, {100 * part:.1f} %")


def chart(bench, machine):
    """Returns the page of `bench`, the output of lightnet bench, measured on `machine`."""
    ops = [op for op in bench["ops"] if op["macs"] > 0 and op["gflops"] > 0]
    ridge = bench["peak_gflops"] / bench["peak_gbs"]
    across = LogScale([intensity(op) for op in ops] + [ridge], LEFT, RIGHT)
    up = LogScale([op["gflops"] for op in ops] + [bench["peak_gflops"]], BOTTOM, TOP)
    page = Page(WIDTH, HEIGHT, f"Roofline of {machine['roofline']}",
                description(bench, ops, machine))
    draw_head(page, bench, ops, machine)
    draw_legend(page, ops)
    draw_axes(page, across, up)
    draw_roofs(page, bench, across, up)
    draw_dots(page, bench, ops, across, up)
    return page
