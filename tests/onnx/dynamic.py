#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: dynamic.py LIGHTNET. Sizes that depend on data, and the readers of such tensors."""
import os
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import error_of, faults_of
from onnx_writer import graph, model, node, tensor, value
from tap import Tap

# All elements count, some, none.
DATA = [np.arange(1, 13, dtype=np.float32).reshape(3, 4),
        np.array([[0, 2, 0, 4], [5, 0, 0, 0], [0, -1, 3, 0]], np.float32),
        np.zeros((3, 4), np.float32)]


def ints(name, *values):
    return tensor(name, "int64", [len(values)], list(values))


# Each begins with z, the coordinates of nonzero elements of x, and p [N], these elements.
PICKED = [node("NonZero", ["x"], ["z"]), node("Transpose", ["z"], ["t"], perm=[1, 0]), node("GatherND", ["x", "t"], ["p"])]


def picked(x):
    return x[np.nonzero(x)]


CASES = [
    ("picks elements", [], lambda x, p: p, []),
    ("tells a shape", [node("Shape", ["z"], ["y"])], lambda x, p: np.array([2, p.size]), []),
    ("tells a part of a shape", [node("Shape", ["z"], ["y"], start=-1)], lambda x, p: np.array([p.size]), []),
    ("tells a size", [node("Size", ["z"], ["y"])], lambda x, p: np.array(2 * p.size), []),
    ("reshapes with -1", [node("Reshape", ["z", "s"], ["y"])], lambda x, p: np.stack(np.nonzero(x)).reshape(1, -1),
     [ints("s", 1, -1)]),
    ("reshapes with 0", [node("Reshape", ["t", "s"], ["y"])],
     lambda x, p: np.stack(np.nonzero(x)).T.reshape(p.size, 1, 2), [ints("s", 0, 1, 2)]),
    ("adds and removes axes", [node("Unsqueeze", ["p", "a"], ["u"]), node("Squeeze", ["u", "b"], ["y"])],
     lambda x, p: p[:, None], [ints("a", 0, 2), ints("b", 0)]),
    ("flattens", [node("Unsqueeze", ["t", "a"], ["u"]), node("Flatten", ["u"], ["y"], axis=2)],
     lambda x, p: np.stack(np.nonzero(x)).T.reshape(p.size, 2), [ints("a", 0, 3)]),
    ("slices", [node("Slice", ["p", "b", "e"], ["y"])], lambda x, p: p[1:-1], [ints("b", 1), ints("e", -1)]),
    ("slices backwards", [node("Slice", ["p", "b", "e", "a", "s"], ["y"])], lambda x, p: p[::-2],
     [ints("b", -1), ints("e", -100), ints("a", 0), ints("s", -2)]),
    ("slices the whole", [node("Slice", ["p", "b", "e"], ["y"])], lambda x, p: p[0:12], [ints("b", 0), ints("e", 12)]),
    ("computes and concatenates",
     [node("Mul", ["p", "p"], ["q"]), node("Add", ["q", "p"], ["r"]), node("Neg", ["r"], ["v"]),
      node("Concat", ["v", "c", "p"], ["y"], axis=0)],
     lambda x, p: np.concatenate([-(p * p + p), np.array([7, 8], np.float32), p]), [tensor("c", "float", [2], [7, 8])]),
    ("broadcasts", [node("Unsqueeze", ["p", "a"], ["u"]), node("Add", ["u", "p"], ["y"])],
     lambda x, p: p[:, None] + p, [ints("a", 1)]),
    ("reduces", [node("ReduceSum", ["p"], ["y"], keepdims=0)], lambda x, p: p.sum(dtype=np.float32), []),
    ("multiplies matrices", [node("Cast", ["t"], ["f"], to=1), node("MatMul", ["f", "w"], ["y"])],
     lambda x, p: np.stack(np.nonzero(x)).T.astype(np.float32) @ np.array([[1, 2, 3], [4, 5, 6]], np.float32),
     [tensor("w", "float", [2, 3], [1, 2, 3, 4, 5, 6])]),
    ("gathers by what it found", [node("Gather", ["z", "i"], ["c"], axis=0), node("Gather", ["x", "c"], ["y"], axis=0)],
     lambda x, p: x[np.nonzero(x)[0]], [tensor("i", "int64", [], [0])]),
    ("chooses the largest", [node("Shape", ["p"], ["k"]), node("TopK", ["c", "k"], ["y", "i"], axis=0)],
     lambda x, p: np.arange(12, 12 - p.size, -1).astype(np.float32),
     [tensor("c", "float", [12], list(range(1, 13)))]),
    ("finds twice", [node("NonZero", ["v"], ["y"]), node("Relu", ["p"], ["v"])][::-1],
     lambda x, p: np.stack(np.nonzero(np.maximum(p, 0))), []),
]


# A sentence, nodes that make the shape t from an input s, the value of s, and the end of the message.
X34, ASKED = DATA[0], "input 1, 't', determines shapes and depends on "
NOT_GIVEN = ASKED + ("input 's' (TL_INT64), which must be bound before compilation; "
                     "bind it with -i s=FILE.npy or ln_context_bind_input")
UNKNOWN_SHAPES = [
    ("is asked for", [node("Identity", ["s"], ["t"])], {}, NOT_GIVEN),
    ("is asked for where others follow from it", [node("Cast", ["s"], ["f"], to=1), node("Abs", ["f"], ["a"]),
                                                  node("Cast", ["a"], ["t"], to=7)], {}, NOT_GIVEN),
    ("of another type is none", [node("Identity", ["s"], ["t"])], {"s": np.int32([4, 3])}, NOT_GIVEN),
    ("by chance comes from no input", [node("RandomUniform", [], ["r"], shape=[2], seed=3.0), node("Cast", ["r"], ["t"], to=7)], {},
     ASKED + "values computed at run time"),
]


def reshaped(nodes):
    """A model that reshapes x to t."""
    return model(graph([*nodes, node("Reshape", ["x", "t"], ["y"])], [value("x", "float", [3, 4]), value("s", "int64", [2])],
                       [value("y", "float")]), opset=17)


def faults_of_message(lightnet, nodes, given, end):
    """Of a model that is compiled before its inputs are set."""
    message = error_of(lightnet, reshaped(nodes), {"x": X34, **given}, ["bench", "--seconds", "0.001"])
    return [] if message and message.rstrip().endswith(end) else [f"expected at the end {end!r}: {message!r}"]


def program(nodes, initializers=()):
    dtype = "float"  # of the output: not looked at
    nodes = PICKED + (nodes or [node("Identity", ["p"], ["y"])])
    return model(graph(nodes, [value("x", "float", [3, 4])], [value("y", dtype)], list(initializers)), opset=17)


def product_faults(lightnet):
    """A product over as many terms as a mask leaves: with fewer, it may want more scratch memory than with all."""
    whole = model(graph([node("Compress", ["x", "c"], ["a"], axis=1), node("Compress", ["w", "c"], ["b"], axis=0),
                         node("MatMul", ["a", "b"], ["y"])],
                        [value("x", "float", [70, 520]), value("w", "float", [520, 600]), value("c", "bool", [520])],
                        [value("y", "float")]), opset=17)
    x = np.arange(70 * 520).reshape(70, 520).astype(np.float32) % 7 - 3
    w = np.arange(520 * 600).reshape(520, 600).astype(np.float32) % 5 - 2
    faults = []
    for n in (520, 513, 512, 511, 1, 0):
        mask = np.arange(520) < n
        faults += faults_of(lightnet, whole, {"x": x, "w": w, "c": mask}, [x[:, :n] @ w[:n]], rtol=0)
    return faults


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    for sentence, nodes, formula, initializers in CASES:
        whole = program(nodes, initializers)
        tap.check(f"a tensor of unknown size: {sentence}",
                  [fault for x in DATA for fault in faults_of(lightnet, whole, {"x": x}, [formula(x, picked(x))], rtol=1e-6)])
    for sentence, nodes, given, end in UNKNOWN_SHAPES:
        tap.check(f"an input that decides a shape {sentence}", faults_of_message(lightnet, nodes, given, end))
    tap.check("an input that decides a shape is converted when a session runs",
              [fault for fault in [error_of(lightnet, reshaped([node("Identity", ["s"], ["t"])]), {"x": X34, "s": np.int32([4, 3])})] if fault != ""])
    of_scalar = model(graph([node("NonZero", ["x"], ["y"])], [value("x", "float", [])], [value("y", "int64")]), opset=17)
    tap.check("a scalar has one coordinate, or none",
              faults_of(lightnet, of_scalar, {"x": np.float32(3)}, [np.zeros((1, 1), np.int64)]) +
              faults_of(lightnet, of_scalar, {"x": np.float32(0)}, [np.zeros((1, 0), np.int64)]))
    of_constant = model(graph([node("NonZero", ["c"], ["z"]), node("Shape", ["z"], ["s"]),
                               node("Expand", ["x", "s"], ["y"])], [value("x", "float", [1, 1])], [value("y", "float")],
                              [tensor("c", "bool", [4], [1, 0, 0, 1])]), opset=17)
    tap.check("what a constant has is known when compiling",
              faults_of(lightnet, of_constant, {"x": np.float32([[5]])}, [np.full((1, 2), 5, np.float32)]))
    fives = program([node("Reshape", ["p", "s"], ["y"])], [ints("s", 5, -1)])
    tap.check("the true size need not divide as the largest one does",
              faults_of(lightnet, fives, {"x": DATA[1]}, [picked(DATA[1]).reshape(5, 1)]))
    tap.check("a product has any number of terms", product_faults(lightnet))
    branch = graph([node("NonZero", ["x"], ["z"])], [], [value("z", "int64")])
    choice = model(graph([node("If", ["b"], ["y"], then_branch=branch, else_branch=branch)],
                         [value("b", "bool", []), value("x", "float", [3, 4])], [value("y", "int64")]), opset=17)
    tap.check("a branch gives a tensor of unknown size",
              [fault for x in DATA for fault in faults_of(lightnet, choice, {"x": x, "b": np.array(True)},
                                                          [np.stack(np.nonzero(x))])])
    fixed = program([node("Reshape", ["p", "s"], ["y"])], [ints("s", 2, 3)])
    message = error_of(lightnet, fixed, {"x": DATA[1]}) or ""
    tap.check("a size that turns out wrong is an error of the run",
              [] if "(view" in message and "expected 5 elements" in message else [f"the message is '{message}'"])
    tap.end()


if __name__ == "__main__":
    main()
