#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: onnx_growth.py LIGHTNET [NODES ...]

How the processor time to read and compile an ONNX model grows with its nodes, by default 1,000, 10,000 and 50,000.
`chain`: Relu, Identity and Add by turns. `exported`: the same with the arithmetic on shapes in between that exporters
write for a reshape, whose values are computed while reading. The program's own start is not taken off.
"""
import os
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/onnx"))
from onnx_writer import graph, model, node, tensor, value  # pylint: disable=wrong-import-position

USUAL = (1000, 10000, 50000)


def element(i, name):
    """The ith of a chain's nodes, behind the tensor `name`, and the tensor it makes."""
    out = f"t{i}"
    kind = ("Relu", "Identity", "Add")[i % 3]
    return node(kind, [name, "one"] if kind == "Add" else [name], [out]), out


def reshape(i, name):
    """What exporters write for x.view(x.size(0), -1): five nodes on the shape, and the reshape."""
    out = f"t{i}"
    return [node("Shape", [name], [f"{out}_shape"]),
            node("Gather", [f"{out}_shape", "zero"], [f"{out}_first"], axis=0),
            node("Unsqueeze", [f"{out}_first", "axes"], [f"{out}_list"]),
            node("Concat", [f"{out}_list", "rest"], [f"{out}_dims"], axis=0),
            node("Reshape", [name, f"{out}_dims"], [out])], out


def chain(n):
    nodes, name = [], "x"
    for i in range(n):
        added, name = element(i, name)
        nodes.append(added)
    return nodes, name


def exported(n):
    nodes, name = [], "x"
    while len(nodes) < n:
        added, name = reshape(len(nodes), name)
        nodes += added
        for _ in range(5):
            added, name = element(len(nodes), name)
            nodes.append(added)
    return nodes, name


def write(path, nodes, last):
    weights = [tensor("one", "float", [], [1]), tensor("zero", "int64", [], [0]),
               tensor("axes", "int64", [1], [0]), tensor("rest", "int64", [1], [-1])]
    whole = graph(nodes, [value("x", "float", [2, 8])], [value(last, "float", [2, 8])], weights)
    with open(path, "wb") as file:
        file.write(model(whole, opset=17))


def seconds(command):
    """Processor time of a command that must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main(lightnet, *sizes):
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "model.onnx"), os.path.join(folder, "compiled.json")
        for make in (chain, exported):
            for n in map(int, sizes or USUAL):
                nodes, last = make(n)
                write(path, nodes, last)
                spent = seconds([lightnet, "compile", path, "-o", out])
                print(f"{make.__name__:10} {len(nodes):8} nodes: read and compile {spent:7.3f} s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
