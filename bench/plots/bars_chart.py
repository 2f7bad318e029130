# SPDX-License-Identifier: Apache-2.0
"""The speed of networks relative to ONNX Runtime.

A panel for each precision, a row for each network, a bar for each number of threads.
"""
import math

from svg_page import Page

# The name in files and in the chart, and the tolerance: the max error relative to the max output.
PRECISIONS = [("float32", "float32", 1e-3), ("fp16", "float16", 5e-2),
              ("qdq", "8 bits, static (QDQ)", 0.2), ("dyn", "8 bits, dynamic", 0.2)]
MEAN = "geometric mean"
THREADS = [(1, "1 thread", "blue"), (2, "2 threads", "orange")]

WIDTH, LEFT, RIGHT, GAP = 800, 136, 14, 16
PANEL = (WIDTH - LEFT - RIGHT - GAP * (len(PRECISIONS) - 1)) / len(PRECISIONS)
LABEL = 36          # of a panel's width, for the column of ratios
TOP, BAR, SPACE = 104, 10, 9
ROW = BAR * len(THREADS) + SPACE


def read(read_json):
    """{(precision, threads): {network: ratio, or None where there is no correct result}}"""
    rows = read_json("networks.json")
    return {(key, n): {network: ratio_of(row, tolerance)
                       for network, row in rows[f"{key}_{n}"].items()}
            for key, _, tolerance in PRECISIONS for n, _, _ in THREADS}


def ratio_of(row, tolerance):
    return row["ratio_min"] if row and row["error"] < tolerance else None


def mean(ratios):
    """The geometric mean of the correct results, None if there are none."""
    logs = [math.log(ratio) for ratio in ratios.values() if ratio]
    return math.exp(sum(logs) / len(logs)) if logs else None


def words(ratio):
    return f"{ratio:.2f}" if ratio else "failed"


def description(results, machine):
    means = [f"{title}: " + ", ".join(f"{words(mean(results[key, n]))} with {threads}"
                                      for n, threads, _ in THREADS)
             for key, title, _ in PRECISIONS]
    return (f"Bars: the minimum time of ONNX Runtime {machine['ort']} divided by that of LightNet, "
            f"for each network, on {machine['processor']}. Geometric means: {'; '.join(means)}.")


def draw_head(page, machine):
    page.text(14, 24, "Speed relative to ONNX Runtime", "title")
    page.text(14, 46, f"Minimum time of ONNX Runtime {machine['ort']} divided by that of LightNet: "
              "above 1.0 LightNet is faster.", "muted")
    page.text(14, 64, machine["processor"], "muted")
    for i, (_, threads, color) in enumerate(THREADS):
        x = WIDTH - RIGHT - 80 * (len(THREADS) - i)
        page.shape("rect", color, x=x, y=19, width=10, height=10)
        page.text(x + 15, 24, threads)


def draw_bar(page, left, y, unit, ratio, color, css, hint):
    """Draws a bar of `unit` pixels for 1.0, and its ratio in the column at the panel's end."""
    if ratio:
        page.shape("rect", color, hint, x=left, y=y, width=ratio * unit, height=BAR - 1)
    page.text(left + PANEL, y + BAR / 2, words(ratio), f"small {css}", "end")


def draw_grid(page, left, unit, bottom, most):
    """Draws a line at 0, at 1, and at most five beyond, with their values below."""
    for ratio in [0, *range(1, math.floor(most) + 1, math.ceil(most / 6))]:
        x = left + ratio * unit
        page.line("grid", x, TOP - 4, x, bottom)
        page.text(x, bottom + 10, "1.0" if ratio == 1 else str(ratio), "small muted", "middle")


def draw_panel(page, left, title, columns, networks, unit, most):
    """Draws a precision; `columns` is {network: ratio} for each number of threads."""
    bottom = TOP + ROW * len(networks) + 2
    page.text(left, TOP - 16, title, "strong")
    draw_grid(page, left, unit, bottom, most)
    for i, network in enumerate(networks):
        for j, (ratios, (_, threads, color)) in enumerate(zip(columns, THREADS)):
            ratio = ratios.get(network)
            draw_bar(page, left, TOP + i * ROW + j * BAR + SPACE / 2, unit, ratio, color,
                     "strong" if network == MEAN else "muted",
                     f"{network}, {title}, {threads}: {words(ratio)}")
    page.line("axis", left + unit, TOP - 4, left + unit, bottom)


def draw_names(page, networks):
    for i, network in enumerate(networks):
        page.text(LEFT - 10, TOP + (i + 0.5) * ROW, network,
                  "strong" if network == MEAN else "", "end")
    above_mean = TOP + (len(networks) - 1) * ROW
    page.line("grid", 14, above_mean, WIDTH - RIGHT, above_mean)


def chart(read_json, machine):
    """Returns the page; `read_json(name)` reads a file of measurements."""
    results = read(read_json)
    networks = [*dict.fromkeys(network for ratios in results.values() for network in ratios), MEAN]
    most = max((ratio for ratios in results.values() for ratio in ratios.values() if ratio),
               default=1)
    page = Page(WIDTH, TOP + ROW * len(networks) + 24, "Speed of LightNet relative to ONNX Runtime",
                description(results, machine))
    draw_head(page, machine)
    draw_names(page, networks)
    for i, (key, title, _) in enumerate(PRECISIONS):
        columns = [{**results[key, n], MEAN: mean(results[key, n])} for n, _, _ in THREADS]
        draw_panel(page, LEFT + i * (PANEL + GAP), title, columns, networks,
                   (PANEL - LABEL) / most, most)
    return page
