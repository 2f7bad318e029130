#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`lightnet ops NAME` lists the operators that ONNX's operator NAME is translated to.

usage: names.py LIGHTNET [--data DIR]

The lists are those of the schemas of ONNX's reader, and the operators whose descriptions have a form in ONNX. Models of ONNX's own
test data with one node show the expected operator, unless reading them needs the value of an input. Each operator of
docs/onnx-domains.md is listed, in its domains.
"""
import argparse
import collections
import concurrent.futures
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "structure"))
import onnx_reader
from suite import DATA, SETS
from tap import ROOT, Tap, text_of

# A node of a graph for Graphviz, whose label is the type; edges have other labels.
NODE = re.compile(r'^    "(?:[^"\\\\]|\\\\.)*" \[label="(\w+)"\];$', re.M)
# Operators that create weights and inputs.
SOURCE = "source"


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace")


def translate(lightnet, model):
    """The operator of a model with one node, and its LightNet operator; or None."""
    _, nodes = onnx_reader.survey(model)
    if len(nodes) != 1:
        return None
    shown = run(lightnet, "show", "--dot", model)
    return None if shown.returncode else (nodes[0][0], set(NODE.findall(shown.stdout)) - {SOURCE})


def observe(lightnet, data):
    """The compiled operators of each operator, in all models that contain it."""
    models = [path for kind in SETS for path in sorted(glob.glob(f"{data}/{kind}/test_*/model.onnx"))]
    seen = collections.defaultdict(set)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda model: translate(lightnet, model), models):
            if found:
                seen[found[0]] |= found[1]
    return seen


def listed(lightnet, name):
    """The operators that `lightnet ops` lists, each with its documentation, or None."""
    shown = run(lightnet, "ops", name)
    lines = shown.stdout.splitlines()
    if shown.returncode or lines[:1] != [f"{name} (ONNX)"]:
        return None
    return dict((line.split(None, 1) + [""])[:2] for line in lines[2:])


def domains_of_page():
    """{operator: [its domains]} of docs/onnx-domains.md."""
    domains, domain = collections.defaultdict(list), None
    for line in text_of("docs/onnx-domains.md").splitlines():
        if line.startswith("## "):
            domain = line[3:].strip("`")
        elif re.match(r"\| \w+ \| \d", line):
            domains[line.split()[1]].append(domain)
    return domains


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lightnet", type=os.path.abspath)
    parser.add_argument("--data", default=DATA)
    args = parser.parse_args()
    tap = Tap()
    seen = observe(args.lightnet, args.data)
    if not seen:
        tap.skip("operators become what is listed", f"there is no {args.data}")
    page = domains_of_page()
    for name in sorted(page):
        ops = listed(args.lightnet, name)
        problems = ["is not listed"] if ops is None else []
        problems += [f"is not listed in {domain}" for domain in page[name] if run(args.lightnet, "ops", f"{domain}.{name}").returncode]
        problems += [f"'{op}' is no operator with documentation" for op, doc in (ops or {}).items() if not doc]
        if ops is not None and name in seen and set(ops) != seen[name]:
            problems.append(f"listed: {' '.join(ops)}; in ONNX's test data: {' '.join(sorted(seen[name]))}")
        tap.check(f"{name} is listed with what it becomes", problems)
    tap.end()


if __name__ == "__main__":
    main()
