#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A random forest, LightNet beside ONNX Runtime: same machine, same inputs, in turns.

usage: forest_bench.py [--lightnet PATH] [--ort] [--trees N] [--depth N] [--features N] [--targets N] [--double] [--uneven]
                       [--rows N ..] [--threads N ..] [--rounds N] [--seconds S] [--json]

Makes TreeEnsembleRegressor with random splits, and prints the least time of all rounds for each number of rows and threads.
With --ort also that of ONNX Runtime, the ratio (above 1: LightNet is faster), and the largest difference of the results by
the largest number. --uneven: each branch has a leaf as one of its children with probability 0.3. Needs numpy, and for --ort
node and the npm package onnxruntime-node where NODE_PATH or ~/.cache/lightnet-bench/node_modules has it.
"""
import argparse
import json
import os
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path += [os.path.join(ROOT, "bench", "measure"), os.path.join(ROOT, "tests", "onnx")]
from beside import Measuring
from onnx_writer import graph, model, node, value


def tree(depth, rng, uneven):
    """Children of the nodes of a tree, level by level, and which nodes are leaves."""
    first, second, levels = [], [], [0]
    for node_of_level in levels:
        is_leaf = node_of_level >= depth or (uneven and node_of_level and rng.random() < 0.3)
        first.append(0 if is_leaf else len(levels))
        second.append(0 if is_leaf else len(levels) + 1)
        levels += [] if is_leaf else [node_of_level + 1] * 2
    return first, second


def attributes(args, rng):
    columns = {name: [] for name in ("treeids", "nodeids", "truenodeids", "falsenodeids", "modes", "featureids", "values")}
    votes = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}
    for k in range(args.trees):
        first, second = tree(args.depth, rng, args.uneven)
        n, leaves = len(first), [i for i, child in enumerate(first) if not child]
        for name, column in (("treeids", [k] * n), ("nodeids", range(n)), ("truenodeids", first), ("falsenodeids", second),
                             ("modes", ["BRANCH_LEQ" if child else "LEAF" for child in first]),
                             ("featureids", rng.integers(0, args.features, n).tolist()),
                             ("values", rng.normal(0, 0.7, n).astype(np.float32).tolist())):
            columns[name] += column
        for name, column in (("treeids", [k] * len(leaves)), ("nodeids", leaves),
                             ("ids", rng.integers(0, args.targets, len(leaves)).tolist()),
                             ("weights", rng.normal(size=len(leaves)).astype(np.float32).tolist())):
            votes[name] += column
    return {**{"nodes_" + name: column for name, column in columns.items()},
            **{"target_" + name: column for name, column in votes.items()}, "n_targets": args.targets}


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lightnet", default="lightnet")
    parser.add_argument("--ort", action="store_true")
    parser.add_argument("--trees", type=int, default=1000)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--targets", type=int, default=1)
    parser.add_argument("--double", action="store_true")
    parser.add_argument("--uneven", action="store_true")
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 100, 10000])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--json", action="store_true", help="print a list of rows instead of the table")
    return parser.parse_args()


def write_forest(args, rng, path):
    kind = "double" if args.double else "float"
    trees = node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", **attributes(args, rng))
    with open(path, "wb") as file:
        file.write(model(graph([trees], [value("x", kind, ["N", args.features])], [value("y", "float", ["N", args.targets])]),
                         opset={"": 17, "ai.onnx.ml": 3}))


def measure(args, rng, folder, path):
    """Yields a row for each number of rows of the input, and of threads."""
    for rows in args.rows:
        x = rng.normal(size=(rows, args.features)).astype(np.float64 if args.double else np.float32)
        measuring = Measuring(args.lightnet, folder, path, [x])
        error = measuring.error(1) if args.ort else None
        for threads in args.threads:
            ours, theirs = measuring.times(threads, args.rounds, args.seconds, args.ort)
            row = {"rows": rows, "threads": threads, "lightnet_ms": ours}
            yield {**row, "ort_ms": theirs, "ratio_min": theirs / ours, "error": error} if args.ort else row


def print_row(row):
    beside = f'{row["ort_ms"]:9.3f} {row["ratio_min"]:6.2f}  {row["error"]:.1e}' if "ort_ms" in row else ""
    print(f'{row["rows"]:7} {row["threads"]:7} {row["lightnet_ms"]:11.3f} {beside}', flush=True)


def main():
    args = options()
    rng = np.random.default_rng(5)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "forest.onnx")
        write_forest(args, rng, path)
        if args.json:
            print(json.dumps(list(measure(args, rng, folder, path))))
            return
        print(f'{"rows":>7} {"threads":>7} {"LightNet ms":>11} {"ORT ms":>9} {"ratio":>6}  error')
        for row in measure(args, rng, folder, path):
            print_row(row)


if __name__ == "__main__":
    main()
