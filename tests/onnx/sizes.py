#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: sizes.py LIBLIGHTNET. Programs whose sizes follow from data, compiled once and run with several sizes.

The command line sets all inputs before it compiles, so their values are known. Therefore these tests use the C API.
"""
import ctypes
import os
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_writer import node
from shapes import BEHIND, X, behind
from tap import Tap

SIZES = [X, X * (X > 6), X * 0, X * (X > 2), X]

# A sentence, nodes that make y of NonZero's n, and the message when the model is read.
REFUSED = [
    ("a size that only data says is rejected", [node("Slice", ["n", "zero", "one"], ["s"]), node("Flatten", ["s"], ["f"]),
                                              node("Reshape", ["zero", "f"], ["y"])], "'f', determines shapes"),
    ("so is a diagonal", [node("EyeLike", ["n"], ["y"])], "a size that is known only at run time"),
]

# The same for errors that only a run detects, where NonZero finds 11 elements.
FAILING = [
    ("lengths that do not add up fail the run",
     [node("Shape", ["n"], ["e"], start=1), node("Concat", ["e", "one"], ["l"], axis=0), node("Split", ["n", "l"], ["y", "z"], axis=1)],
     "has the sum 12, expected 11, the length of axis 1 of 'src'"),
    ("a negative length fails the run",
     [node("Shape", ["n"], ["e"], start=1), node("Sub", ["e", "twelve"], ["l"]), node("Expand", ["one", "l"], ["y"])],
     "parameter 'dims' is [-1], expected every element >= 0"),
]


class Context:
    """A model that is read, compiled and loaded without knowing its input x."""

    def __init__(self, library, path):
        self.library = library
        self.this = ctypes.c_void_p(library.ln_context_create())
        self.failed = (library.ln_context_init(self.this, path.encode()) or library.ln_context_compile(self.this, b"cpu") or
                       library.ln_context_load(self.this, None))

    def error(self):
        return self.library.ln_context_error(self.this).decode()

    def run(self, x, dtype):
        """The elements of y, or None."""
        x = np.ascontiguousarray(x)
        if self.library.ln_context_set_data(self.this, b"x", x.ctypes.data_as(ctypes.c_void_p)) or \
                self.library.ln_context_run(self.this):
            return None
        y = np.zeros(self.library.ln_context_data_size(self.this, b"y") // dtype.itemsize + 1, dtype)
        self.library.ln_context_get_data(self.this, b"y", y.ctypes.data_as(ctypes.c_void_p))
        return y[:-1]


def open_library(path):
    library = ctypes.CDLL(path)
    library.ln_context_create.restype = ctypes.c_void_p
    library.ln_context_get_data.restype = ctypes.c_void_p
    library.ln_context_error.restype = ctypes.c_char_p
    library.ln_context_data_size.restype = ctypes.c_size_t
    return library


def open_model(library, folder, bytes_of_model):
    path = os.path.join(folder, "model.onnx")
    with open(path, "wb") as file:
        file.write(bytes_of_model)
    return Context(library, path)


def faults_of(context, expected):
    if context.failed:
        return [context.error()]
    faults = []
    for x in SIZES:
        want = np.asarray(expected(np.array(np.nonzero(x))))
        got = context.run(x, want.dtype)
        if got is None:
            faults.append(context.error())
        elif not np.array_equal(got, want.ravel()):
            faults.append(f"y is {got.tolist()}, expected {want.ravel().tolist()}")
    return faults


def main():
    library = open_library(os.path.abspath(sys.argv[1]))
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        for sentence, nodes, expected in BEHIND:
            context = open_model(library, folder, behind(nodes))
            tap.check(f"{sentence} behind NonZero has one size after the other", faults_of(context, expected))
            library.ln_context_free(context.this)
        for sentence, nodes, words in REFUSED:
            context = open_model(library, folder, behind(nodes, opset=18))
            tap.check(sentence, [] if context.failed and words in context.error() else [f"expected {words!r}: {context.error()}"])
            library.ln_context_free(context.this)
        for sentence, nodes, words in FAILING:
            context = open_model(library, folder, behind(nodes))
            failed = not context.failed and context.run(X, np.dtype(np.int64)) is None
            tap.check(sentence, [] if failed and words in context.error() else [f"expected {words!r}: {context.error()}"])
            library.ln_context_free(context.this)
    tap.end()


if __name__ == "__main__":
    main()
