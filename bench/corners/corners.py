#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Small models off the beaten track, LightNet beside ONNX Runtime: same machine, same inputs, in turns.

usage: corners.py [--lightnet PATH] [--threads N] [--isa SETS] [--rounds N] [--seconds S] [--json FILE] [--list] [TEXT ...]

Runs the corners whose name contains one of the texts (none: all). Both must return equal outputs; a ratio is
ONNX Runtime's time by LightNet's (above 1: LightNet is faster), by the minimum of all rounds, for each instruction set of LightNet
(avx2,avx512,best: the values of LIGHTNET_MAX_ISA; best is that of the CPU). Needs the Python packages numpy and onnx,
node, and the npm package onnxruntime-node where NODE_PATH or ~/.cache/lightnet-bench/node_modules has it.
"""
import argparse
import json
import os
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "measure"))
from beside import Measuring
from rows_bodies import BODIES
from rows_detection import DETECTION
from rows_elements import ELEMENTS
from rows_layers import LAYERS
from rows_moves import MOVES
from onnx import save

CORNERS = {**BODIES, **DETECTION, **LAYERS, **MOVES, **ELEMENTS}
TOLERANCE = 1e-4   # of the largest number: sums in another order


def measure(args, name, folder):
    """ONNX Runtime's ms, and for each instruction set LightNet's ms, their ratio, and the error."""
    proto, inputs = CORNERS[name]()
    path = os.path.join(folder, "model.onnx")
    save(proto, path)
    row = {"ort_ms": None}
    for isa in args.isa:
        measuring = Measuring(args.lightnet, folder, path, inputs, None if isa == "best" else isa)
        error = measuring.error(args.threads)
        ours, theirs = measuring.times(args.threads, args.rounds, args.seconds)
        row["ort_ms"] = min(theirs, row["ort_ms"] or theirs)
        row[isa] = {"lightnet_ms": ours, "error": error}
    for isa in args.isa:
        row[isa]["ratio"] = row["ort_ms"] / row[isa]["lightnet_ms"]
    return row


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lightnet", default="lightnet")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--isa", type=lambda text: text.split(","), default=["best"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--json")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("texts", nargs="*")
    return parser.parse_args()


def main():
    args = options()
    names = [name for name in CORNERS if not args.texts or any(text in name for text in args.texts)]
    if args.list:
        print("\n".join(names))
        return 0
    rows, wrong = {}, False
    print(f'{"corner":60} {"ORT ms":>9}' + "".join(f" {isa:>9} {'ratio':>6}" for isa in args.isa) + "  error")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            row = rows[name] = measure(args, name, folder)
        error = max(row[isa]["error"] for isa in args.isa)
        wrong |= not error < TOLERANCE
        times = "".join(f' {row[isa]["lightnet_ms"]:9.4f} {row[isa]["ratio"]:6.2f}' for isa in args.isa)
        print(f'{name:60} {row["ort_ms"]:9.4f}{times}  {error:.1e}{"" if error < TOLERANCE else "  WRONG"}', flush=True)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
