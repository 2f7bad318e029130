# SPDX-License-Identifier: Apache-2.0
"""An SVG image for light and dark pages.

Classes set colors, for both color schemes. The image has its own background, so its text is
legible on any page.
"""
import math
from xml.sax.saxutils import escape

# selector: property, its color in the light and in the dark scheme
COLORS = {
    ".page": ("fill", "#ffffff", "#0d1117"),
    "text": ("fill", "#1f2328", "#e6edf3"),
    ".muted": ("fill", "#59636e", "#9da7b3"),
    ".grid": ("stroke", "#e1e5ea", "#262d36"),
    ".axis": ("stroke", "#59636e", "#9da7b3"),
    ".blue": ("fill", "#2f6fbf", "#5aa2f0"),
    ".orange": ("fill", "#dd7a1f", "#f2a553"),
    ".green": ("fill", "#1f8a5b", "#4fbf8f"),
    ".stroke-blue": ("stroke", "#2f6fbf", "#5aa2f0"),
    ".stroke-orange": ("stroke", "#dd7a1f", "#f2a553"),
}

SHAPES = """\
text { font: 12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
.title { font-size: 17px; font-weight: 600; }
.strong { font-weight: 600; }
.small { font-size: 10px; }
.axis { stroke-width: 1.2; }
.stroke-blue, .stroke-orange { stroke-width: 2; }
.dashed { stroke-dasharray: 5 4; }
.dot { fill-opacity: 0.7; }"""


def style():
    light = [f"{selector} {{ {key}: {color}; }}" for selector, (key, color, _) in COLORS.items()]
    dark = [f"  {selector} {{ {key}: {color}; }}" for selector, (key, _, color) in COLORS.items()]
    return "\n".join(["<style>", SHAPES, *light,
                      "@media (prefers-color-scheme: dark) {", *dark, "}", "</style>"])


def number(x):
    """A coordinate in tenths of a pixel, without -0."""
    return f"{round(x, 1) + 0.0:g}"


class Page:
    """Collects shapes and text; `str(page)` is the file. Screen readers use `title` and `desc`."""

    def __init__(self, width, height, title, desc):
        self.width, self.height = width, height
        self.head = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                     f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="title desc">',
                     f'<title id="title">{escape(title)}</title>',
                     f'<desc id="desc">{escape(desc)}</desc>', style()]
        self.body = []
        self.shape("rect", "page", x=0, y=0, width=width, height=height)

    def shape(self, tag, css, hint="", **where):
        """Adds an element with its coordinates; `hint` is its tooltip."""
        values = "".join(f' {key}="{value if isinstance(value, str) else number(value)}"'
                         for key, value in where.items())
        content = f"><title>{escape(hint)}</title></{tag}>" if hint else "/>"
        self.body.append(f'<{tag} class="{css}"{values}{content}')

    def line(self, css, x1, y1, x2, y2):
        self.shape("line", css, x1=x1, y1=y1, x2=x2, y2=y2)

    def text(self, x, y, text, css="", anchor="start", angle=0.0):
        """Adds a line of text whose letters are centered at `y`, turned by `angle` degrees."""
        css = f' class="{css}"' if css else ""
        at = f'x="{number(x)}" y="{number(y)}" dy="0.35em" text-anchor="{anchor}"'
        turn = f' transform="rotate({number(angle)} {number(x)} {number(y)})"' if angle else ""
        self.body.append(f'<text{css} {at}{turn}>{escape(text)}</text>')

    def __str__(self):
        return "\n".join([*self.head, *self.body, "</svg>", ""])


class LogScale:
    """Maps values to a logarithmic axis, whose ends are the next ticks beyond `values`."""

    def __init__(self, values, begin, end):
        self.low = max(tick for tick in nice_numbers() if tick <= 0.8 * min(values))
        self.high = min(tick for tick in nice_numbers() if tick >= 1.2 * max(values))
        self.begin, self.end = begin, end

    def __call__(self, value):
        part = math.log(value / self.low) / math.log(self.high / self.low)
        return self.begin + (self.end - self.begin) * part

    def ticks(self):
        return [tick for tick in nice_numbers() if self.low <= tick <= self.high]


def nice_numbers():
    """1, 2 and 5 times powers of ten, from a thousandth to a hundred million."""
    return [float(f"{digit}e{power}") for power in range(-3, 9) for digit in (1, 2, 5)]
