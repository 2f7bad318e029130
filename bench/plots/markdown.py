# SPDX-License-Identifier: Apache-2.0
"""Tables and numbers in Markdown."""
import re


def table(head, rows):
    def line(cells):
        return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells) + "\n"
    return line(head) + "|" + "---|" * len(head) + "\n" + "".join(map(line, rows))


def three_digits(value):
    """Three digits, as in 4.6, 31 and 105; those of a file with fewer are not more exact."""
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def tenths(value):
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def exponent(value):
    return re.sub(r"e([+-])0", r"e\1", f"{value:.1e}")


def megabytes(value):
    return f"{value * 1e-6:.1f}"
