#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws charts of the measurements in a folder, which README.md describes."""
import argparse
import json
import os
import sys

import bars_chart
import roofline_chart

CHARTS = {"bars.svg": bars_chart.chart, "roofline.svg": roofline_chart.chart}


def reader_of(folder):
    def read_json(name):
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as file:
            try:
                return json.load(file)
            except ValueError as error:
                raise ValueError(f"{path}: {error}") from None
    return read_json


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", metavar="FOLDER", help="JSON files of measurements")
    parser.add_argument("-o", dest="out", metavar="DIR", help="folder of the charts, else FOLDER")
    args = parser.parse_args()
    read_json = reader_of(args.folder)
    try:
        machine = read_json("machine.json")
        pages = {name: str(chart(read_json, machine)) for name, chart in CHARTS.items()}
        for name, page in pages.items():
            with open(os.path.join(args.out or args.folder, name), "w", encoding="utf-8") as file:
                file.write(page)
    except (OSError, ValueError) as error:
        sys.exit(f"plots.py: {error}")
    except KeyError as error:
        sys.exit(f"plots.py: a file in {args.folder} lacks the field {error}")


if __name__ == "__main__":
    main()
