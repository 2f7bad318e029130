#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: axes.py LIGHTNET [sanitized]. Reading, converting and compiling stays far from the square along the axes that models grow.

Each command handles a model and one of 16 times its size. Linear work takes 16 to 25 times as long, quadratic work 256 times: more
than 64 times fails, if three tries in a row agree, each the min time so far. `bench/growth` measures exactly.
"""
import os
import sys
import tempfile

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", *folder)
                for folder in (("structure",), ("..", "bench", "growth"))]
from growth import command_of, seconds, write
from growth_axes import AXES
from tap import Tap

FACTOR, MOST = 16, 64
TRIES = 3
LEAST = 0.01  # seconds: shorter times are inaccurate

# Of each axis a command that takes little time; most have been quadratic.
WATCHED = {
    "nodes: chain": "convert",
    "inputs: unused": "compile",
    "inputs: shapes set by --shape": "convert",
    "outputs: constants": "convert",
    "initializers": "convert",
    "operator sets imported: each with a function": "show",
    "functions: each called once": "show",
    "functions: attributes of one function": "show",
    "one node: outputs of a Split": "convert",
    "one node: a Concat of constants": "show",
    "one node: one tensor concatenated n times": "convert",
    "one node: Split and Concat": "show",
    "subgraphs: chain of If": "convert",
    "subgraphs: independent If nodes": "show",
    "subgraphs: tree of nested If": "convert",
    "subgraphs: outputs of an If": "convert",
    "subgraphs: tensors captured by an If": "convert",
    "subgraphs: states of a Loop": "convert",
    "IL: calls of a macro": "show",
    "graph: variables and heads": "show",
    "graph: outputs of a SliceChannel": "show",
}


def least(lightnet, axis, step, n, limit):
    """The processor time of the command for size n, and its error; of fast commands the best of three runs."""
    with tempfile.TemporaryDirectory() as folder:
        command = command_of(lightnet, folder, axis, step, n, write(folder, axis, n))
        runs = [seconds(command, limit)]
        while not runs[0][1] and runs[0][0] < 0.1 and len(runs) < 3:
            runs.append(seconds(command, limit))
    return min(runs)


def faults_of(lightnet, axis, step, small, start):
    """The reasons why the axis fails, as lines."""
    few = many = float("inf")
    for _ in range(TRIES):
        spent, error = least(lightnet, axis, step, small, None)
        few = min(few, max(spent - start, LEAST))
        if not error:
            # More CPU time than this is quadratic on any load of the machine.
            spent, error = least(lightnet, axis, step, small * FACTOR, int(4 * MOST * few) + 2)
            many = min(many, spent - start)
        if not error and many <= MOST * few:
            return []
    return [f"{small} parts take {few:.3f} s, {small * FACTOR} take {many:.3f} s" + (f": {error}" if error else "")]


def main(lightnet, *words):
    """`words`: "sanitized", and the formats that the build lacks, as axes name them: "graph", "IL"."""
    small = 250 if "sanitized" in words else 1000
    start = min(seconds([lightnet, "--version"])[0] for _ in range(5))
    tap = Tap()
    for axis in AXES:
        if axis.name in WATCHED and axis.name.split(":")[0] not in words:
            tap.check(axis.name, faults_of(lightnet, axis, WATCHED[axis.name], small, start))
    tap.check("every axis that is watched exists", sorted(set(WATCHED) - {axis.name for axis in AXES}))
    tap.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
