# SPDX-License-Identifier: Apache-2.0
"""Badges of the first page: two words in a box each, from files of the tree."""
import os
import re
from xml.sax.saxutils import escape

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEIGHT, LETTER, SPACE = 20, 6.6, 14  # pixels; of a letter, and beside a word


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def version(_):
    return re.search(r"version: '([\d.]+)'", text_of("meson.build"))[1]


def licence(_):
    name, number = re.search(r"(Apache) License\s+Version ([\d.]+)", text_of("LICENSE")).groups()
    return f"{name}-{number}"


def tests(data):
    return f"{data['tests']['passed'] // 1000 * 1000:,} passed"


# The file's name: the left word, what the right word is, and its color.
BADGES = {"badge-version.svg": ("version", version, "#2f6fbf"), "badge-licence.svg": ("licence", licence, "#59636e"),
          "badge-tests.svg": ("tests", tests, "#1f8a5b")}


def badge(left, right, color):
    first, second = (len(word) * LETTER + SPACE for word in (left, right))
    width = first + second
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{HEIGHT}" viewBox="0 0 {width:g} {HEIGHT}" role="img" '
            f'aria-labelledby="title desc">\n<title id="title">{escape(left)}: {escape(right)}</title>\n'
            f'<desc id="desc">A badge: {escape(left)}, {escape(right)}</desc>\n'
            '<style>text { font: 11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #ffffff; text-anchor: middle; }</style>\n'
            f'<rect width="{width:g}" height="{HEIGHT}" rx="3" fill="#3a4149"/>\n'
            f'<path d="M{first:g} 0H{width - 3:g}a3 3 0 0 1 3 3V{HEIGHT - 3}a3 3 0 0 1 -3 3H{first:g}z" fill="{color}"/>\n'
            f'<text x="{first / 2:g}" y="14">{escape(left)}</text>\n<text x="{first + second / 2:g}" y="14">{escape(right)}</text>\n</svg>\n')


def pages(data):
    """{file name: badge}; none where the tests were not counted."""
    if not os.path.exists(os.path.join(data.folder, "tests.json")):
        return {}
    return {name: badge(left, right(data), color) for name, (left, right, color) in BADGES.items()}
