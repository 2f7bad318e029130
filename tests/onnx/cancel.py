#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: cancel.py LIBLIGHTNET. A loop without end is cancelled by another thread, or by a deadline, and runs right afterwards."""
import ctypes
import json
import os
import struct
import sys
import tempfile
import threading
import time

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

from onnx_writer import graph, model, node, tensor, value
from sizes import open_library, open_model
from tap import Tap

LIMIT_TIME = 1  # LN_LIMIT_TIME


def counting():
    """y counts the x[0] iterations of a loop; each runs a loop of one iteration."""
    inner = graph([node("Identity", ["go2"], ["on2"]), node("Add", ["s2", "one"], ["t2"])],
                  [value("i2", "int64", []), value("go2", "bool", []), value("s2", "float", [1])],
                  [value("on2", "bool", []), value("t2", "float", [1])])
    outer = graph([node("Identity", ["go"], ["on"]), node("ReduceSum", ["o"], ["count"], keepdims=0),
                   node("Loop", ["count", "go", "s"], ["t"], body=inner)],
                  [value("i", "int64", []), value("go", "bool", []), value("s", "float", [1])],
                  [value("on", "bool", []), value("t", "float", [1])])
    nodes = [node("ReduceMax", ["x"], ["n"], keepdims=0), node("Sub", ["x", "x"], ["z"]), node("Add", ["z", "unit"], ["o"]),
             node("Loop", ["n", "", "zero"], ["y"], body=outer)]
    constants = [tensor("zero", "float", [1], [0]), tensor("one", "float", [1], [1]), tensor("unit", "int64", [1], [1])]
    return model(graph(nodes, [value("x", "int64", [1])], [value("y", "float", [1])], constants), opset=17)


def iterations(context, n):
    return context.run(np.array([n], np.int64), np.dtype(np.float32))


def ended(context, n, words):
    """Errors of a run of `n` iterations, which must end with these words."""
    begin = time.monotonic()
    got = iterations(context, n)
    lasted = time.monotonic() - begin
    if got is not None or words not in context.error():
        yield f"{got}, '{context.error()}', expected '{words}'"
    if lasted > 10:
        yield f"it took {lasted} s to end"


def counted(context, n):
    got = iterations(context, n)
    return [] if got is not None and got.tolist() == [n] else [f"{got}, '{context.error()}', expected {n}"]


N = 2**21  # elements of each weight: a file of 16 MB, which takes some milliseconds to read


def weighted():
    """Two numbers, the least and the greatest of x + w + relu(v): w lasts, relu(v) is computed when the weights are loaded."""
    nodes = [node("Relu", ["v"], ["r"]), node("Add", ["x", "w"], ["s"]), node("Add", ["s", "r"], ["sum"]),
             node("ReduceMin", ["sum"], ["low"], keepdims=1), node("ReduceMax", ["sum"], ["high"], keepdims=1),
             node("Concat", ["low", "high"], ["y"], axis=0)]
    weights = [tensor(name, "float", [N], [1] * N) for name in "wv"]
    return model(graph(nodes, [value("x", "float", [1])], [value("y", "float", [2])], weights), opset=17)


def write_weights(path, number):
    header = json.dumps({name: {"dtype": "F32", "shape": [N], "data_offsets": [4 * N * i, 4 * N * (i + 1)]}
                         for i, name in enumerate("wv")}).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + np.full(2 * N, number, np.float32).tobytes())


def seconds_to_load(library, context, path):
    start = time.monotonic()
    library.ln_data_load(context.this, path.encode())
    return time.monotonic() - start


def mixed(library, context, folder):
    """Errors of runs after ln_data_load was cancelled at some time: all weights must be those of one file."""
    library.ln_data_load.restype = ctypes.c_int
    cancelled, before, duration = 0, 1, 0
    for k in range(40):
        path = os.path.join(folder, f"weights{k % 2}")
        write_weights(path, k + 2)
        if k == 0:
            duration = seconds_to_load(library, context, path)
            before = 2
        canceller = threading.Timer(duration * (k % 20) / 20, library.ln_context_cancel, [context.this])
        canceller.start()
        cancelled += library.ln_data_load(context.this, path.encode()) != 0
        canceller.join()
        library.ln_context_resume(context.this)
        got = context.run(np.zeros(1, np.float32), np.dtype(np.float32))
        if got is None or got.tolist() not in ([2 * before] * 2, [2 * (k + 2)] * 2):
            yield f"file {k}: {got}, '{context.error()}', expected {2 * (k + 2)}, or {2 * before} as before"
            return
        before = got[0] / 2
    if not cancelled:
        yield "no call was cancelled"


def main():
    library = open_library(os.path.abspath(sys.argv[1]))
    tap = Tap()
    for name in ("ln_context_cancel", "ln_context_resume"):
        getattr(library, name).restype = None
    with tempfile.TemporaryDirectory(prefix="lightnet-") as folder:
        context = open_model(library, folder, counting())
    tap.check("a loop counts its iterations", [context.error()] if context.failed else counted(context, 5))
    canceller = threading.Timer(0.2, library.ln_context_cancel, [context.this])
    canceller.start()
    tap.check("another thread cancels 2^62 iterations", ended(context, 2**62, "(loop_cpu): cancelled"))
    canceller.join()
    tap.check("until it is resumed nothing runs", ended(context, 3, "cancelled"))
    library.ln_context_resume(context.this)
    tap.check("then the count is right", counted(context, 7))
    library.ln_context_set_limit(context.this, LIMIT_TIME, ctypes.c_uint64(200))
    tap.check("a deadline ends 2^62 iterations", ended(context, 2**62, "(loop_cpu): stopped at the time limit of 200 ms"))
    library.ln_context_set_limit(context.this, LIMIT_TIME, ctypes.c_uint64(0))
    tap.check("without one the count is right", counted(context, 6))
    library.ln_context_free(context.this)
    with tempfile.TemporaryDirectory(prefix="lightnet-") as folder:
        context = open_model(library, folder, weighted())
        tap.check("weights that were being read when they were cancelled are read whole, or not at all",
                  [context.error()] if context.failed else mixed(library, context, folder))
        library.ln_context_free(context.this)
    tap.end()


if __name__ == "__main__":
    main()
