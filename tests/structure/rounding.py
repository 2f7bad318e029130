#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names in docs/dev/rounding.md exist: operators, and tests (FILE.c: NAME a START_TEST, FILE.py: NAME a function)."""
import os
import re

from tap import Tap, text_of, tracked

PAGE = "docs/dev/rounding.md"


def faults_of_test(files, name, test):
    if name not in files:
        return [f"{PAGE}: no file {name}"]
    marks = {".c": rf"^START_TEST\({test}\)", ".py": rf"^def {test}\("}
    found = re.search(marks[os.path.splitext(name)[1]], text_of(files[name]), re.M)
    return [] if found else [f"{PAGE}: {files[name]} has no test {test}"]


def check_rows(tap, files):
    """A test for each row of the first table: its last column names tests, each of which exists."""
    table = text_of(PAGE).partition("## Rules")[2].partition("## ")[0]
    operators = set(re.findall(r'\boptype: "(\w+)"', "".join(map(text_of, tracked("lightnet/arch/*.op")))))
    for row in [line for line in table.splitlines() if line.startswith("| ")][1:]:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        named = re.findall(r"`([\w.]+): (\w+)`", cells[-1])
        faults = [fault for name, test in named for fault in faults_of_test(files, name, test)]
        faults += [f"{PAGE}: no operator {name}" for name in re.findall(r"`(\w+)`", cells[1]) if name not in operators]
        tap.check(f"rows_name_tests: {cells[0]} ({cells[1]})", faults if named else ["names no test"])


def check_kinds(tap, files):
    """The table lists each function of ties.py that makes cases."""
    kinds = re.search(r"^KINDS = \[(.*?)\]", text_of(files["ties.py"]), re.M | re.S).group(1)
    missing = [kind for kind in re.findall(r"\w+", kinds) if f"`ties.py: {kind}`" not in text_of(PAGE)]
    tap.check("all_kinds_of_ties_stand_in_the_table", missing)


def main():
    tap = Tap()
    files = {os.path.basename(path): path for path in tracked("tensorlight/**/*_test.c", "tests/onnx/*.py")}
    check_rows(tap, files)
    check_kinds(tap, files)
    tap.end()


if __name__ == "__main__":
    main()
