# SPDX-License-Identifier: Apache-2.0
"""The lists of operators in docs/nnvm-operators.md, each kept by the test that tries these operators."""
import os
import re
import sys
import textwrap

from tap import ROOT

PAGE = os.path.join(ROOT, "docs", "nnvm-operators.md")


def section(title, ops):
    return f"## {title}\n\n" + textwrap.fill(", ".join(f"`{op}`" for op in sorted(ops)), 100) + "\n"


def check(tap, title, ops):
    """The section `title` lists these operators; with --update it is written."""
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    wanted = re.sub(rf"^## {title}\n\n[^#]*\n(?=\n|\Z)", lambda _: section(title, ops), page, flags=re.M)
    if "--update" in sys.argv:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(wanted)
    listed = section(title, ops) in (wanted if "--update" in sys.argv else page)
    tap.check(f"the_page_lists: {title}", [] if listed else [f"{PAGE}: {os.path.basename(sys.argv[0])} LIGHTNET --update writes it"])
