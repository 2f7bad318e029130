# SPDX-License-Identifier: Apache-2.0
"""Makes graphs of NNVM and MXNet, runs them, and compares their outputs; and the lists of operators in docs/nnvm-operators.md, each kept by
the test that tries these operators."""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import textwrap

import numpy as np

from tap import ROOT

PAGE = os.path.join(ROOT, "docs", "nnvm-operators.md")

# Graphs and parameters are synced when they are written: that costs nothing in memory.
if os.access("/dev/shm", os.W_OK):
    tempfile.tempdir = "/dev/shm"


def call(command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          check=False, timeout=60)


def graph(op, inputs, attrs, mxnet, outputs=1):
    """A graph of one operator on variables of these names."""
    nodes = [{"op": "null", "name": name, "inputs": []} for name in inputs]
    nodes.append({"op": op, "name": "y", "attrs": {key: str(value) for key, value in attrs.items()},
                  "inputs": [[i, 0, 0] for i in range(len(inputs))]})
    whole = {"nodes": nodes, "arg_nodes": list(range(len(inputs))), "heads": [[len(inputs), k, 0] for k in range(outputs)]}
    if mxnet:
        whole["attrs"] = {"mxnet_version": ["int", 10500]}
    return whole


def params(arrays):
    """The bytes of a list as NNVM writes it."""
    kinds = {"i": 0, "u": 1, "f": 2}
    data = struct.pack("<QQQ", 0xF7E58D4F05049CB7, 0, len(arrays))
    for name in arrays:
        data += struct.pack("<Q", len(name)) + name.encode()
    data += struct.pack("<Q", len(arrays))
    for array in arrays.values():
        data += struct.pack("<QQiiiBBH", 0xDD5E40F096B4A13F, 0, 1, 0, array.ndim, kinds[array.dtype.kind], array.itemsize * 8, 1)
        data += struct.pack(f"<{array.ndim}q", *array.shape) + struct.pack("<q", array.nbytes) + array.tobytes()
    return data


def write(folder, whole, inputs, weights):
    path = os.path.join(folder, "graph.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(whole if isinstance(whole, str) else json.dumps(whole))
    arguments = [path]
    for name, array in inputs.items():
        data = os.path.join(folder, f"{name}.npy")
        np.save(data, array)
        arguments += ["-i", f"{name}={data}"]
    if weights:
        data = os.path.join(folder, "graph.params")
        with open(data, "wb") as file:
            file.write(params(weights))
        arguments += ["-f", data]
    return arguments


def outputs_of(lightnet, whole, inputs, weights, count):
    """The arrays of a run, or None and the reasons, as lines."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        done = call([lightnet, "run", *write(folder, whole, inputs, weights), "-O", out])
        if done.returncode:
            return None, [f"exit status {done.returncode}", *(done.stdout + done.stderr).splitlines()[-3:]]
        return [np.load(os.path.join(out, f"output_{k}.npy")) for k in range(count)], []


def faults_of(lightnet, whole, inputs, weights, expected, tolerance=1e-5):
    """Errors in the outputs, arrays in order, as lines."""
    got, faults = outputs_of(lightnet, whole, inputs, weights, len(expected))
    return faults or [fault for k, want in enumerate(expected) for fault in differences(got[k], np.asarray(want), k, tolerance)]


def join(cases, typed=False):
    """One graph of all the cases' operators (op, dialect, inputs, weights, attributes, outputs), and the arrays of its inputs and of its
    weights. `typed`: inputs have the types of their arrays."""
    nodes, heads, arrays = [], [], ({}, {})
    for i, (op, mxnet, inputs, weights, attrs, expected) in enumerate(cases):
        names = [f"v{i}_{k}" for k in range(len(inputs) + len(weights))]
        part = graph(op, names, attrs, mxnet, len(expected))
        first = len(nodes)
        for node in part["nodes"]:
            node["inputs"] = [[first + at, k, 0] for at, k, _ in node["inputs"]]
            node["name"] = f"y{i}" if node["name"] == "y" else node["name"]
        for node, array in zip(part["nodes"], inputs if typed else []):
            node["attrs"] = {"dtype": str(array.dtype)}
        nodes += part["nodes"]
        heads += [[first + at, k, 0] for at, k, _ in part["heads"]]
        for to, own in zip(arrays, (zip(names, inputs), zip(names[len(inputs):], weights))):
            to.update(own)
    whole = {"nodes": nodes, "arg_nodes": [i for i, node in enumerate(nodes) if node["op"] == "null"], "heads": heads}
    if cases[0][1]:
        whole["attrs"] = {"mxnet_version": ["int", 10500]}
    return whole, *arrays


def faults_of_each(lightnet, cases, tolerance):
    """Of each case the lines of faults_of. All are run as one graph, and one by one if that fails."""
    got, faults = outputs_of(lightnet, *join(cases, True), sum(len(case[5]) for case in cases))
    if faults:
        return [faults] if len(cases) == 1 else [each for case in cases for each in faults_of_each(lightnet, [case], tolerance)]
    rest = iter(got)
    return [[fault for k, want in enumerate(case[5]) for fault in differences(next(rest), np.ascontiguousarray(want), k, tolerance)]
            for case in cases]


def differences(got, want, k, tolerance):
    if got.shape != want.shape or got.dtype != want.dtype:
        return [f"output {k} is {got.dtype} {list(got.shape)}, expected {want.dtype} {list(want.shape)}"]
    if np.allclose(got.astype(float), want.astype(float), rtol=tolerance, atol=tolerance, equal_nan=True):
        return []
    return [f"output {k} is {got.tolist()}, expected {want.tolist()}"]


def error_of(lightnet, whole, *arguments):
    """The message with which the graph is rejected; "" when it is read. None: it ended in another way."""
    with tempfile.TemporaryDirectory() as folder:
        done = call([lightnet, "show", *write(folder, whole, {}, {}), *arguments])
        return {0: "", 1: done.stderr}.get(done.returncode)

def list_section(title, ops):
    return f"## {title}\n\n" + textwrap.fill(", ".join(f"`{op}`" for op in sorted(ops)), 100) + "\n"


def check_list(tap, title, ops):
    """The section `title` lists these operators; with --update it is written."""
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    wanted = re.sub(rf"^## {title}\n\n[^#]*\n(?=\n|\Z)", lambda _: list_section(title, ops), page, flags=re.M)
    if "--update" in sys.argv:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(wanted)
    listed = list_section(title, ops) in (wanted if "--update" in sys.argv else page)
    tap.check(f"the_page_lists: {title}", [] if listed else [f"{PAGE}: {os.path.basename(sys.argv[0])} LIGHTNET --update writes it"])
