#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws charts of the measurements in a folder, which README.md describes."""
import argparse
import os
import sys

import badges
import load_chart
import machine_charts
import roofline_chart
from measurements import Measurements


def pages_of(folder):
    """{file name: page}"""
    pages = {}
    data = Measurements(folder)
    pages.update(badges.pages(data))
    for name, machine in data.machines.items():
        pages.update(machine_charts.charts(name, machine, folder))
        if "roofline" in machine:
            pages[f"{name}-roofline.svg"] = roofline_chart.chart(data[f"{name}-roofline"], machine)
        if data.has(f"{name}-serving"):
            pages[f"{name}-serving.svg"] = load_chart.chart(data[f"{name}-serving"], machine)
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
