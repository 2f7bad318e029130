#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tables of measurements into pages, between `<!-- table NAME -->` and `<!-- end -->`.

The same measurements are those of the charts; README.md describes their files."""
import argparse
import os
import re
import sys

from machine_charts import GPU_PRECISIONS, PRECISIONS, mean, precisions_of, ratios_of
from measurements import read_machines

TABLE = re.compile(r"(?<=<!-- table )([\w-]+)( -->\n)(.*?)(?=<!-- end -->)", re.S)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = ["docs/cuda.md", "docs/performance.md", "docs/speed.md"]


def table(head, rows):
    def line(cells):
        return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells) + "\n"
    return line(head) + "|" + "---|" * len(head) + "\n" + "".join(map(line, rows))


def ms(value):
    """Three digits, as in 4.60, 31.0 and 105; those of a file with fewer are not more exact."""
    return f"{value:.3g}"


def tenths(value):
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def exponent(value):
    return re.sub(r"e([+-])0", r"e\1", f"{value:.1e}")


def bold_mean(machine, precision, threads):
    return f"**{mean(ratios_of(machine['networks'], precision, threads)):.2f}**"


def float32_of(machine):
    one, two = (machine["networks"][f"float32_{n}"] for n in (1, 2))
    rows = [[name, ms(row["lightnet_ms"]), f"{row['ratio_min']:.2f}", ms(row["bound_ms"]),
             ms(two[name]["lightnet_ms"]), f"{two[name]['ratio_min']:.2f}", exponent(row["error"])]
            for name, row in one.items()]
    means = [bold_mean(machine, "float32", n) for n in (1, 2)]
    return table(["network", "ms, 1 thread", "ratio", "bound, ms", "ms, 2 threads", "ratio",
                  "max error"], [*rows, ["geometric mean", "", means[0], "", "", means[1], ""]])


def bytes_of(machine):
    columns = [machine["networks"][f"{key}_1"] for key in ("qdq", "dyn")]
    rows = [[name, *(cell for row in (column[name] for column in columns)
                     for cell in (f"{row['lightnet_ms']:.1f}", f"{row['ratio_min']:.2f}"))]
            for name in columns[0]]
    means = [bold_mean(machine, key, 1) for key in ("qdq", "dyn")]
    return table(["network", "static, ms", "ratio", "dynamic, ms", "ratio"],
                 [*rows, ["geometric mean", "", means[0], "", means[1]]])


def precisions_table(machine):
    """Times with one thread, ratios with one and two."""
    networks = machine["networks"]
    keys = [key for key, _, _ in PRECISIONS]
    titles = ["float32", "fp16", "static", "dynamic"]
    rows = [[name, *(cell for key in keys for cell in (
        tenths(networks[f"{key}_1"][name]["lightnet_ms"]),
        ", ".join(f"{networks[f'{key}_{n}'][name]['ratio_min']:.2f}" for n in (1, 2))))]
        for name in networks["float32_1"]]
    means = [cell for key in keys for cell in (
        "", "**" + ", ".join(bold_mean(machine, key, n).strip("*") for n in (1, 2)) + "**")]
    return table(["network", *(cell for title in titles for cell in (f"{title}, ms", "ratios"))],
                 [*rows, ["geometric mean", *means]])


def bfloat16_of(machine):
    return table(["", "float32, ms", "bf16, ms", "ratio", "max difference"],
                 [[name, f"{row['float32_ms']:.1f}", f"{row['bf16_ms']:.1f}", f"{row['ratio']:.2f}",
                   f"{row['difference_percent']:g} %"]
                  for name, row in machine["bfloat16"].items()])


def decoder_of(machine):
    rows = []
    for row in machine["decoder"]:
        is_prompt = row["phase"] == "prompt"
        title = f"prompt of {row['prompt']} tokens" if is_prompt else "steps after it"
        rows.append([title if row["threads"] == 1 else "", str(row["threads"]),
                     *(f"{row[name]:g}" for name in ("LightNet", "ONNX Runtime", "llama.cpp"))])
    ort = f"ONNX Runtime {machine['versions']['ONNX Runtime']}"
    return table(["", "threads", "LightNet", ort, "llama.cpp"], rows)


def four_digits(value):
    return f"{value:.3f}" if value < 10 else f"{value:.2f}"


def beside_floor(row):
    """The time, the floor and their ratio, as far as they were measured."""
    if "floor_ms" not in row:
        return [four_digits(row["ms"]), "", ""]
    return [four_digits(row["ms"]), four_digits(row["floor_ms"]), f"{row['ratio']:.2f}"]


def batch_of(machine):
    head = [cell for title in ("float32", "TF32", "fp16") for cell in (title, "floor", "ratio")]
    rows = [[name, *(cell for key, _ in GPU_PRECISIONS for cell in beside_floor(row[key]))]
            for name, row in machine["batch_32"].items()]
    return table(["network", *head], rows)


def single_of(machine):
    return table(["network", "float32", "TF32", "fp16"],
                 [[name, *(f"{row[key]:.3f}" for key, _ in GPU_PRECISIONS)]
                  for name, row in machine["batch_1"].items()])


def summary_of(machines):
    """Geometric means of the ratios over the networks, of each machine with networks."""
    rows = [[machine["processor"], title,
             *(f"{mean(column):.2f}" if column else "" for column in columns)]
            for machine in machines.values()
            for _, title, columns in precisions_of(machine.get("networks", {}))]
    return table(["processor", "precision", "1 thread", "2 threads"], rows)


def machines_table(machines):
    return table(["machine", "processor", "recorded", "method", "compared with"],
                 [[machine["name"], machine["processor"], machine["recorded"], machine["method"],
                   ", ".join(f"{name} {number}" for name, number in machine["versions"].items())]
                  for machine in machines.values()])


# The name of a table in a page: the machine (None: all), and the function that writes the table.
TABLES = {
    "machines": (None, machines_table),
    "summary": (None, summary_of),
    "zen3-networks": ("zen3", precisions_table),
    "zen4-float32": ("zen4", float32_of),
    "zen4-8-bits": ("zen4", bytes_of),
    "zen4-bfloat16": ("zen4", bfloat16_of),
    "zen5-decoder": ("zen5", decoder_of),
    "h100-32-images": ("h100", batch_of),
    "h100-1-image": ("h100", single_of),
}


def with_tables(page, machines):
    """The text of a page with its tables written anew."""
    def written(match):
        if match[1] not in TABLES:
            raise ValueError(f"unknown table {match[1]}; known are {', '.join(TABLES)}")
        machine, write = TABLES[match[1]]
        return f"{match[1]}{match[2]}\n{write(machines[machine] if machine else machines)}\n"
    return TABLE.sub(written, page)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", metavar="FOLDER", help="JSON files of measurements")
    parser.add_argument("pages", metavar="PAGE", nargs="*", help="pages, else those of the tree")
    parser.add_argument("--check", action="store_true",
                        help="change no page; name those whose tables differ")
    args = parser.parse_intermixed_args()
    try:
        machines = read_machines(args.folder)
        stale = []
        for path in args.pages or [os.path.join(ROOT, page) for page in PAGES]:
            with open(path, encoding="utf-8") as file:
                old = file.read()
            new = with_tables(old, machines)
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
        sys.exit("".join(f"tables.py: {path}: a table differs from the measurements; "
                         f"run bench/plots/tables.py {args.folder}\n" for path in stale).strip())


if __name__ == "__main__":
    main()
