#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares LightNet with ONNX Runtime on random ONNX models. README.md of this folder explains it.

usage: fuzz_onnx.py PACKAGE [--count N] [--seed N] [--only OPERATOR] [--model N] [--table FILE] ...

PACKAGE is the folder of LightNet's Python package, build/python. The exit status is 1 if a difference is not explained.
"""
import argparse
import collections
import os
import re
import sys
import time
import warnings

import numpy as np

warnings.filterwarnings("ignore")
import fuzz_cases
import fuzz_changes
import fuzz_compare
import fuzz_table
from engines import LightNet, Runtime

MODULES = os.path.expanduser("~/.cache/lightnet-bench/node_modules")
SHARES = {"": 0.6, "com.microsoft": 0.25, "ai.onnx.ml": 0.15}  # of the models, by domain


def model_of(found, pools, seed, number):
    """Model `number` of a run, which depends on nothing but the arguments."""
    rng = np.random.default_rng([seed, number])
    domains = [domain for domain in SHARES if found[domain]]
    weights = np.array([SHARES[domain] for domain in domains])
    operators = found[domains[rng.choice(len(domains), p=weights / weights.sum())]]
    cases = operators[fuzz_changes.pick(rng, operators)]
    return fuzz_changes.changed(rng, fuzz_changes.pick(rng, cases), pools)


def reason_of(text):
    """An error without the names and numbers of one model."""
    text = re.sub(r"/onnxruntime_src/\S+ |onnxruntime::|std::\S+", "", text)
    text = re.sub(r"'[^']*'|\"[^\"]*\"|\([^)]*\)|\[[^]]*\]|\{[^}]*\}", "..", text)
    return re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "N", text)[:160]


class Report:
    """Counts, and examples of what is not explained."""

    def __init__(self):
        self.outcomes, self.rows = collections.Counter(), collections.Counter()
        self.groups = collections.defaultdict(list)
        self.reasons = collections.Counter()

    def add(self, number, case, found, row):
        domain = fuzz_cases.DOMAINS[case.domain]
        self.outcomes[domain, found.kind] += 1
        if found.kind in (fuzz_compare.AGREE, fuzz_compare.REFUSED):
            return
        if row is not None:
            self.rows[row["who"], found.kind, row["reason"]] += 1
            return
        key = found.kind, case.main.op_type, reason_of(found.text) if found.got is None else ""
        self.groups[key].append((number, case, found.text))

    def print(self, limit):
        for (kind, operator, reason), models in sorted(self.groups.items(), key=lambda item: (item[0][0], item[0][1])):
            print(f"not explained: {operator}: {kind}: {len(models)}: {reason}")
            for number, case, text in models[:limit]:
                print(f"    model {number}: {case.seed}: {'; '.join(case.changes)}\n        {text[:300]}")
        kinds = sorted({kind for _, kind in self.outcomes})
        print(f"{'':16}" + "".join(f"{kind:>27}" for kind in kinds) + f"{'models':>10}")
        for domain in [*fuzz_cases.DOMAINS.values(), "all"]:
            counts = [sum(n for (d, k), n in self.outcomes.items() if k == kind and domain in (d, "all")) for kind in kinds]
            print(f"{domain:16}" + "".join(f"{n:27}" for n in counts) + f"{sum(counts):10}")
        for (who, kind, reason), n in self.rows.most_common():
            print(f"explained: {n:5} {who:13} {kind}: {reason}")
        print(f"{sum(map(len, self.groups.values()))} differences are not explained")


def write_out(case, folder):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "model.onnx")
    with open(path, "wb") as file:
        file.write(case.model())
    arguments = [path]
    for name, array in case.inputs().items():
        np.save(os.path.join(folder, f"{name}.npy"), array.astype("U") if array.dtype == object else array)
        arguments += ["-i", f"{name}={os.path.join(folder, name)}.npy"]
    print("lightnet run", *arguments)


def show(case, ours, theirs):
    print(f"{case.seed}: {'; '.join(case.changes)}; {case.opsets}")
    for node in case.nodes:
        print(node)
    for name, array in case.arrays.items():
        print(f"{name}{' (constant)' if name in case.constants else ''}: {array.dtype} {array.shape} {array.tolist()}"[:2000])
    for who, result in (("LightNet", ours), ("ONNX Runtime", theirs)):
        for text in [result] if isinstance(result, str) else [f"{each.dtype} {each.shape} {each.tolist()}" for each in result]:
            print(f"{who}: {text[:2000]}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first model")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--unchanged", action="store_true", help="the models to start from, each once")
    parser.add_argument("--only", default="", help="operators, with commas between them")
    parser.add_argument("--model", type=int, help="write this model and its inputs to --out, and print its results")
    parser.add_argument("--out", default="model")
    parser.add_argument("--table", help="write the table of operators and element types to this file")
    parser.add_argument("--level", default="disabled", help="ONNX Runtime's graph optimization: disabled, basic, extended, all")
    parser.add_argument("--modules", default=MODULES, help="the folder with onnxruntime-node")
    parser.add_argument("--examples", type=int, default=2)
    return parser.parse_args()


def models_of(args, found):
    """(number, case) of each model of the run."""
    pools = fuzz_changes.pools_of(found)
    if args.unchanged:
        yield from enumerate(pools["cases"])
        return
    for number in [args.model] if args.model is not None else range(args.first, args.first + args.count):
        yield number, model_of(found, pools, args.seed, number)


def run(args, found, lightnet, runtime):
    table, report = fuzz_compare.read_table(), Report()
    start = time.monotonic()
    for number, case in models_of(args, found):
        model, inputs = case.model(), case.inputs()
        ours, theirs = lightnet.run(model, inputs), runtime.run(model, inputs)
        if args.model is not None:
            write_out(case, args.out)
            show(case, ours, theirs)
        what = fuzz_compare.difference(case, ours, theirs)
        is_known = what.kind in (fuzz_compare.AGREE, fuzz_compare.REFUSED, fuzz_compare.CRASH)
        report.add(number, case, what, None if is_known else fuzz_compare.explanation(table, case, what))
    report.print(args.examples)
    print(f"seed {args.seed}, {time.monotonic() - start:.0f} s")
    return 1 if report.groups else 0


def main():
    args = parse()
    found = fuzz_cases.by_operator()
    if args.only:
        wanted = set(args.only.split(","))
        found = {domain: {name: cases for name, cases in rows.items() if name in wanted} for domain, rows in found.items()}
    lightnet, runtime = LightNet(args.package), Runtime(args.modules, args.level)
    try:
        if args.table:
            return fuzz_table.write(args.table, found, lightnet, runtime)
        return run(args, found, lightnet, runtime)
    finally:
        lightnet.close()
        runtime.close()


if __name__ == "__main__":
    sys.exit(main())
