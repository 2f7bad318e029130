# SPDX-License-Identifier: Apache-2.0
"""The times of requests at servers over the rate at which they arrive: a panel for each model."""
from machine_charts import RUNTIMES
from svg_page import LogScale, Page

WIDTH, HEIGHT = 800, 420
TOP, BOTTOM, LEFT, RIGHT, GAP = 132, 366, 64, 782, 64
SERVERS = {"lightnet": "lightnet serve", "node": "ONNX Runtime in a server in Node"}
COLORS = dict(zip(SERVERS, (color for _, color in RUNTIMES)))
LINES = [("p50_ms", "median", " dashed"), ("p99_ms", "99th percentile", "")]
HALF = 1  # the place of half of the full load in the rates
STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]


class LinearScale:
    """Maps 0 .. max to begin .. end; ticks at least 60 pixels apart."""

    def __init__(self, most, begin, end):
        self.most, self.begin, self.end = 1.05 * most, begin, end

    def __call__(self, value):
        return self.begin + (self.end - self.begin) * value / self.most

    def ticks(self):
        step = next((step for step in STEPS if self(step) - self(0) >= 60), STEPS[-1])
        return range(0, int(self.most) + 1, step)


def description(serving, machine):
    limits = "; ".join(f"{name}: {model['bench']['lightnet_per_second']:.0f} and {model['bench']['node_per_second']:.0f}"
                       for name, model in serving["models"].items())
    return (f"Milliseconds from the arrival of a request to its answer, on a logarithmic axis, over requests per second that arrive at "
            f"random times, on {machine['processor']}. Requests per second of full load, of LightNet and of ONNX Runtime: {limits}.")


def draw_head(page, machine):
    page.text(14, 24, "Time of a request over the load of a server", "title")
    page.text(14, 46, f"Requests at random times from the same machine. {machine['processor']}", "muted")
    x = 22
    for name, words in SERVERS.items():
        page.shape("rect", COLORS[name], x=x - 6, y=67, width=12, height=12)
        page.text(x + 14, 73, words)
        x += 40 + 7 * len(words)
    for _, words, css in LINES:
        page.line(f"axis{css}", x - 6, 73, x + 18, 73)
        page.text(x + 26, 73, words)
        x += 52 + 7 * len(words)


def draw_axes(page, name, across, up):
    page.text((across.begin + across.end) / 2, TOP - 18, name, "strong", "middle")
    for tick in up.ticks():
        page.line("grid", across.begin, up(tick), across.end, up(tick))
        page.text(across.begin - 8, up(tick), f"{tick:g}", "muted", "end")
    for tick in across.ticks():
        page.line("grid", across(tick), TOP, across(tick), BOTTOM)
        page.text(across(tick), BOTTOM + 14, f"{tick}", "muted", "middle")
    page.text((across.begin + across.end) / 2, BOTTOM + 38, "requests per second", "", "middle")


def draw_lines(page, rows, color, title, across, up):
    for key, words, css in LINES:
        points = [(across(row["offered"]), up(row[key])) for row in rows]
        for (x1, y1), (x2, y2) in zip(points, points[1:]):
            page.line(f"stroke-{color}{css}", x1, y1, x2, y2)
        for (x, y), row in zip(points, rows):
            page.shape("circle", color, f"{title}, {words}: {row[key]:.1f} ms at {row['offered']:.0f} requests per second", cx=x, cy=y, r=3)


def draw_model(page, name, model, across, up):
    draw_axes(page, name, across, up)
    for server, title in SERVERS.items():
        draw_lines(page, model["rates"][server], COLORS[server], title, across, up)


def chart(serving, machine):
    """Returns the page of `serving`, the output of bench/serve/serve_bench.py, measured on `machine`."""
    page = Page(WIDTH, HEIGHT, "Time of a request over the load of a server", description(serving, machine))
    draw_head(page, machine)
    width = (RIGHT - LEFT - GAP * (len(serving["models"]) - 1)) / len(serving["models"])
    for i, (name, model) in enumerate(serving["models"].items()):
        rows = [row for rows in model["rates"].values() for row in rows]
        begin = LEFT + i * (width + GAP)
        across = LinearScale(max(row["offered"] for row in rows), begin, begin + width)
        up = LogScale([row[key] for row in rows for key, _, _ in LINES], BOTTOM, TOP)
        draw_model(page, name, model, across, up)
    page.text(20, (TOP + BOTTOM) / 2, "milliseconds", "", "middle", -90)
    return page
