#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws charts of the measurements in a folder, which README.md describes."""
import argparse
import os
import sys

import machine_charts
import roofline_chart
from measurements import read_machines, read_roofline


def pages_of(folder):
    """{file name: page}"""
    pages = {}
    for name, machine in read_machines(folder).items():
        pages[f"{name}.svg"] = machine_charts.chart(machine, os.path.join(folder, f"{name}.json"))
        if "roofline" in machine:
            bench = read_roofline(folder, name)
            pages[f"{name}-roofline.svg"] = roofline_chart.chart(bench, machine)
    return pages


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", metavar="FOLDER", help="JSON files of measurements")
    parser.add_argument("-o", dest="out", metavar="DIR", help="folder of the charts, else FOLDER")
    args = parser.parse_args()
    try:
        for name, page in pages_of(args.folder).items():
            with open(os.path.join(args.out or args.folder, name), "w", encoding="utf-8") as file:
                file.write(str(page))
    except (OSError, ValueError) as error:
        sys.exit(f"plots.py: {error}")
    except KeyError as error:
        sys.exit(f"plots.py: a file in {args.folder} lacks the field {error}")


if __name__ == "__main__":
    main()
