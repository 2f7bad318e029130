# SPDX-License-Identifier: Apache-2.0
"""Figures in sentences of pages that come from measurements."""
import re

from machine_charts import mean, ratios_of
from markdown import megabytes


def library_megabytes(data):
    sizes = data["zen5"]["libraries"]
    return megabytes(sum(sizes[name]["stripped"] for name in ("libtensorlight", "liblightnet")))


def means_of_float32(data):
    """With AVX2, and with AVX-512, on one thread."""
    return tuple(f"{mean(ratios_of(data[name]['networks'], 'float32', 1)):.1f}" for name in ("zen3", "zen5"))


def both_sizes(data):
    return library_megabytes(data), f"{data['zen5']['libraries']['libonnxruntime']['stripped'] * 1e-6:.0f}"


# The page; a sentence, whose groups are the figures; what they are.
FIGURES = [
    ("README.md", r"two libraries, ([\d.]+) MB together", lambda data: (library_megabytes(data),)),
    ("README.md", r"on average ([\d.]+)\s+times \(AVX2\) or ([\d.]+) times \(AVX-512\)", means_of_float32),
    ("README.md", r"two shared libraries, ([\d.]+) MB in total when stripped, where ONNX Runtime has (\d+) MB", both_sizes),
]


def replaced(match, figures):
    """The text of the match with its groups replaced."""
    text = match[0]
    for i in reversed(range(1, len(figures) + 1)):
        begin = match.start(i) - match.start()
        text = text[:begin] + figures[i - 1] + text[begin + len(match[i]):]
    return text


def with_figures(page, name, data):
    """The text of the page `name` with its figures written anew."""
    for page_name, pattern, figures_of in FIGURES:
        pattern = pattern.replace(" ", r"\s+")
        if page_name == name and not re.search(pattern, page):
            raise ValueError(f"{name}: no sentence matches {pattern}")
        if page_name == name:
            figures = figures_of(data)
            page = re.sub(pattern, lambda match, figures=figures: replaced(match, figures), page)
    return page
