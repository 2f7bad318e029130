#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes measurements into pages: tables between `<!-- table NAME -->` and `<!-- end -->`, and single figures in sentences.

The same measurements are those of the charts; README.md describes their files."""
import argparse
import os
import re
import sys

import kernel_tables as kernels
import load_tables as loads
import network_tables as networks
from figures import with_figures
from measurements import Measurements

TABLE = re.compile(r"(?<=<!-- table )([\w-]+)( -->\n)((?:(?!<!-- table ).)*?)(?=<!-- end -->)", re.S)
HEAD = re.compile(r"<!-- table ([\w-]+) -->")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = ["README.md", "docs/cuda.md", "docs/dev/kernels.md", "docs/performance.md", "docs/serving.md", "docs/speed.md"]

# The name of a table in a page: the file of measurements (None: all machines), and the function that writes the table.
TABLES = {
    "machines": (None, networks.machines_table),
    "summary": (None, networks.summary_of),
    "zen3-networks": ("zen3", networks.precisions_table),
    "zen5-networks": ("zen5", networks.precisions_table),
    "zen5-float32": ("zen5", networks.float32_of),
    "zen5-operators": ("zen5", networks.operators_of),
    "zen5-loading": ("zen5", networks.loading_of),
    "zen5-shapes": ("zen5", networks.shapes_of),
    "zen5-sessions": ("zen5", networks.sessions_of),
    "zen5-bfloat16": ("zen5", networks.bfloat16_of),
    "zen5-decoder": ("zen5", networks.decoder_of),
    "zen5-trees": ("zen5", networks.trees_of),
    "h100-32-images": ("h100", networks.batch_of),
    "h100-1-image": ("h100", networks.single_of),
    "libraries": ("zen5", kernels.libraries_of),
    "zen5-corners": ("zen5-corners", kernels.corners_of),
    "zen5-corners-summary": ("zen5-corners", kernels.corners_summary_of),
    "zen5-recurrent": ("zen5-corners", kernels.recurrent_of),
    "zen5-peaks": ("zen5-kernels", kernels.peaks_of),
    "zen5-winograd": ("zen5-kernels", kernels.winograd_of),
    "zen5-convolutions": ("zen5-kernels", kernels.convolutions_of),
    "zen5-groups": ("zen5-kernels", kernels.groups_of),
    "zen5-products": ("zen5-kernels", kernels.products_of),
    "zen5-bytes": ("zen5-kernels", kernels.bytes_of),
    "zen5-bits": ("zen5-kernels", kernels.bits_of),
    "zen5-chains": ("zen5-kernels", kernels.chains_of),
    "xeon-serving": ("xeon-serving", loads.serving_of),
    "xeon-overload": ("xeon-serving", loads.overload_of),
    "float-errors": ("float-errors", kernels.errors_of),
}


def with_tables(page, data):
    """The text of a page with its tables written anew."""
    def written(match):
        if match[1] not in TABLES:
            raise ValueError(f"unknown table {match[1]}; known are {', '.join(TABLES)}")
        file, write = TABLES[match[1]]
        try:
            return f"{match[1]}{match[2]}\n{write(data[file] if file else data.machines)}\n"
        except KeyError as error:
            raise ValueError(f"table {match[1]}: {file or 'a machine'}.json lacks the field {error}") from None
    open_tables = set(HEAD.findall(page)) - {match[1] for match in TABLE.finditer(page)}
    if open_tables:
        raise ValueError(f"table {', '.join(sorted(open_tables))} has no <!-- end -->")
    return TABLE.sub(written, page)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", metavar="FOLDER", help="JSON files of measurements")
    parser.add_argument("pages", metavar="PAGE", nargs="*", help="pages, else those of the tree")
    parser.add_argument("--root", metavar="DIR", default=ROOT, help="the folder of README.md and docs (default: that of the tree)")
    parser.add_argument("--check", action="store_true",
                        help="change no page; name those that differ")
    args = parser.parse_intermixed_args()
    try:
        data = Measurements(args.folder)
        stale = []
        for path in args.pages or [os.path.join(ROOT, page) for page in PAGES]:
            with open(path, encoding="utf-8") as file:
                old = file.read()
            new = with_figures(with_tables(old, data), os.path.relpath(path, args.root), data)
            if new != old:
                stale.append(path)
            if new != old and not args.check:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(new)
    except (OSError, ValueError) as error:
        sys.exit(f"tables.py: {error}")
    except KeyError as error:
        sys.exit(f"tables.py: a file in {args.folder} lacks the field {error}")
    if args.check and stale:
        sys.exit("".join(f"tables.py: {path}: differs from the measurements; "
                         f"run bench/plots/tables.py {args.folder}\n" for path in stale).strip())


if __name__ == "__main__":
    main()
