#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: weights.py LIBLIGHTNET. Weights of a model's own file can be set after loading, also those that only loading reads.

A convolution packs its weights when it is loaded, and gives the memory of the others to the runs. What a rule has used stays.
"""
import ctypes
import json
import os
import struct
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

from onnx_writer import graph, model, node, tensor, value
from sizes import open_library, open_model
from tap import Tap

CHANNELS = 20
RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((1, CHANNELS, 6, 7)).astype(np.float32)
WEIGHT = RANDOM.standard_normal((CHANNELS, CHANNELS, 1, 1)).astype(np.float32)
OTHER = RANDOM.standard_normal(WEIGHT.shape).astype(np.float32)
SCALE = RANDOM.uniform(0.5, 2, CHANNELS).astype(np.float32)
ZERO, ONE = np.zeros(CHANNELS, np.float32), np.ones(CHANNELS, np.float32)


def model_bytes():
    nodes = [node("Conv", ["x", "w"], ["c"]), node("BatchNormalization", ["c", "s", "zero", "zero", "one"], ["n"], epsilon=0.0),
             node("Relu", ["n"], ["y"])]
    weights = [tensor(name, "float", list(array.shape), array.ravel().tolist())
               for name, array in (("w", WEIGHT), ("s", SCALE), ("zero", ZERO), ("one", ONE))]
    return model(graph(nodes, [value("x", "float", X.shape)], [value("y", "float", X.shape)], weights), opset=13)


def expected(weight):
    return np.maximum(np.tensordot(weight[:, :, 0, 0], X[0], 1)[None] * SCALE[None, :, None, None], 0)


def faults_of_run(context, weight):
    got = context.run(X, np.dtype(np.float32))
    if got is None:
        return [context.error()]
    difference = np.abs(got.reshape(X.shape) - expected(weight)).max()
    return [] if difference < 1e-4 else [f"the largest difference is {difference}"]


def set_weight(context, weight):
    return context.library.ln_context_set_data(context.this, b"w", weight.ctypes.data_as(ctypes.c_void_p))


def weight_of(context):
    got = np.zeros_like(WEIGHT)
    context.library.ln_context_get_data(context.this, b"w", got.ctypes.data_as(ctypes.c_void_p))
    return got


def square_bytes():
    """y = x^k - k of k = 2: a rule makes x x of the power."""
    nodes = [node("Pow", ["x", "k"], ["p"]), node("Sub", ["p", "k"], ["y"])]
    return model(graph(nodes, [value("x", "float", [4])], [value("y", "float", [4])], [tensor("k", "float", [1], [2.0])]), opset=13)


def write_k(path, k):
    """A safetensors file with a number."""
    header = json.dumps({"k": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + struct.pack("<f", k))


def faults_of_k(context, path):
    """The file's 2 is taken, its 3 is not, for any source of `context`."""
    context.library.ln_context_unload(context.this)
    write_k(path, 3)
    rejected = context.library.ln_context_load(context.this, path.encode())
    faults = [] if rejected and "rule 'square_as_product'" in context.error() else [f"3: {context.error()}"]
    write_k(path, 2)
    if context.library.ln_context_load(context.this, path.encode()):
        return faults + [f"2: {context.error()}"]
    got = context.run(np.arange(4, dtype=np.float32), np.dtype(np.float32))
    return faults + ([] if got is not None and got.tolist() == [-2, -1, 2, 7] else [f"y is {got}"])


def check_fixed(tap, library, folder):
    context = open_model(library, folder, square_bytes())
    path, compiled = os.path.join(folder, "k.safetensors"), os.path.join(folder, "compiled.json")
    tap.check("a value that a rule has used is the only one that a file may bring", faults_of_k(context, path))
    if library.ln_context_print(context.this, compiled.encode()):
        tap.check("nor may it bring another to the compiled model", [context.error()])
        return
    library.ln_context_cleanup(context.this)
    library.ln_context_init(context.this, compiled.encode())
    tap.check("nor may it bring another to the compiled model", faults_of_k(context, path))


def main():
    tap = Tap()
    library = open_library(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="lightnet-weights-") as folder:
        context = open_model(library, folder, model_bytes())
        tap.check("the model's weights are used", [context.error()] if context.failed else faults_of_run(context, WEIGHT))
        tap.check("a second run gives the same", faults_of_run(context, WEIGHT))
        faults = [context.error()] if set_weight(context, OTHER) else faults_of_run(context, OTHER)
        tap.check("others can be set", faults)
        tap.check("they can be read", [] if np.array_equal(weight_of(context), OTHER) else ["other weights"])
        # Setting a tensor must not affect an input that was set before.
        library.ln_context_set_data(context.this, b"x", X.ctypes.data_as(ctypes.c_void_p))
        faults = [context.error()] if set_weight(context, WEIGHT) or library.ln_context_run(context.this) else []
        tap.check("and be taken back", faults + faults_of_run(context, WEIGHT))
        check_fixed(tap, library, folder)
    tap.end()


if __name__ == "__main__":
    main()
