#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: control.py LIGHTNET. If, Loop and Scan, where what they do is known when compiling and where it is not."""
import os
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import error_of, faults_of, ops_of
from onnx_writer import graph, model, node, tensor, value
from tap import Tap

X = np.array([[-2, -1, 0], [1, 2, 3]], np.float32)
W = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], np.float32)   # moves the columns to the right
WEIGHTS = [tensor("w", "float", [3, 3], list(map(float, W.ravel()))), tensor("yes", "bool", [], [True]),
           tensor("no", "bool", [], [False])]


def relu(x):
    return np.maximum(x, 0)


def number(name, dtype, n):
    return tensor(name, dtype, [], [n])


def whole(nodes, outputs, constants=(), *, inputs=None, opset=17):
    """A model from x, of X's shape, to the outputs, whose shapes it leaves open."""
    inputs = inputs or [value("x", "float", X.shape)]
    return model(graph(nodes, inputs, [value(name, "float") for name in outputs], [*WEIGHTS, *constants]), opset=opset)


def body(nodes, inputs, outputs, constants=(), *, cond="cond"):
    """The graph of a Loop; `cond`: what it gives as the condition."""
    return graph(nodes, [value("i", "int64", []), value("cond", "bool", []), *[value(name, "float") for name in inputs]],
                 [value(cond, "bool", []), *[value(name, "float") for name in outputs]], constants)


def branches(cond):
    return node("If", [cond], ["y"], then_branch=graph([node("Relu", ["x"], ["a"])], [], [value("a", "float")]),
                else_branch=graph([node("MatMul", ["x", "w"], ["b"])], [], [value("b", "float")]))


# Moves the columns once in each iteration and lists what is positive.
MOVE = body([node("MatMul", ["s", "w"], ["moved"]), node("Relu", ["moved"], ["positive"])], ["s"],
            ["moved", "positive"])


def moved(times):
    return np.roll(X, times, axis=1)


def positives(times):
    return np.array([relu(moved(k + 1)) for k in range(times)], np.float32).reshape(times, 2, 3)


def loop(inputs, outputs, graph_of_it):
    return node("Loop", inputs, outputs, body=graph_of_it)


def scan(inputs, outputs, n_rows, states, rows, nodes, parts, **attributes):
    inner = graph(nodes, [value(name, "float") for name in states + rows], [value(name, "float") for name in parts])
    return node("Scan", inputs, outputs, body=inner, num_scan_inputs=n_rows, **attributes)


COUNT = body([node("Identity", ["i"], ["number"])], [], ["number"])
NESTED = body([loop(["two", "yes", "s"], ["t"], body([node("MatMul", ["s2", "w"], ["u"])], ["s2"], ["u"])),
               node("MatMul", ["t", "w"], ["moved"])], ["s"], ["moved"])

# A sentence, the model, and what comes out of X.
KNOWN = [
    ("the branch of a condition that holds stands alone", whole([branches("yes")], ["y"]), [relu(X)]),
    ("the branch of one that does not", whole([branches("no")], ["y"]), [moved(1)]),
    ("a loop whose number of iterations is known is unrolled",
     whole([loop(["m", "", "x"], ["y", "z"], MOVE)], ["y", "z"], [number("m", "int64", 4)]), [moved(4), positives(4)]),
    ("a condition that stays true changes nothing",
     whole([loop(["m", "yes", "x"], ["y", "z"], MOVE)], ["y", "z"], [number("m", "int64", 2)]), [moved(2), positives(2)]),
    ("no iteration gives the states, and a stack of nothing",
     whole([loop(["m", "", "x"], ["y", "z"], MOVE)], ["y", "z"], [number("m", "int64", 0)]), [X, positives(0)]),
    ("fewer than none are none",
     whole([loop(["m", "", "x"], ["y", "z"], MOVE)], ["y", "z"], [number("m", "int64", -5)]), [X, positives(0)]),
    ("a condition that is false from the start is no iteration",
     whole([loop(["m", "no", "x"], ["y", "z"], MOVE)], ["y", "z"], [number("m", "int64", 7)]), [X, positives(0)]),
    ("a loop ends where its condition becomes false",
     whole([loop(["", "yes", "x"], ["y"], body([node("MatMul", ["s", "w"], ["t"])], ["s"], ["t"], cond="no"))], ["y"]),
     [moved(1)]),
    ("the number of the iteration is a constant", whole([loop(["m"], ["y"], COUNT)], ["y"], [number("m", "int64", 3)]),
     [np.arange(3)]),
    ("the number of iterations may be a line of one element",
     whole([loop(["m"], ["y"], COUNT)], ["y"], [tensor("m", "int64", [1], [2])]), [np.arange(2)]),
    ("loops stand within loops",
     whole([loop(["two", "", "x"], ["y"], NESTED)], ["y"], [number("two", "int64", 2)]), [moved(6)]),
    ("a branch within a loop sees the names of both",
     whole([loop(["two", "", "x"], ["y"], body([
         node("Relu", ["s"], ["t"]),
         node("If", ["yes"], ["u"], then_branch=graph([node("MatMul", ["t", "w"], ["a"])], [], [value("a", "float")]),
              else_branch=graph([node("Relu", ["x"], ["b"])], [], [value("b", "float")]))], ["s"], ["u"]))], ["y"],
           [number("two", "int64", 2)]), [np.roll(relu(X), 2, axis=1)]),
    ("a scan runs over the first axis",
     whole([scan(["x"], ["y"], 1, [], ["r"], [node("Relu", ["r"], ["p"])], ["p"])], ["y"]), [relu(X)]),
    ("along other axes, in other directions",
     whole([scan(["x"], ["y"], 1, [], ["r"], [node("Relu", ["r"], ["p"])], ["p"], scan_input_axes=[1],
                 scan_output_axes=[-1], scan_input_directions=[1])], ["y"]), [relu(X[:, ::-1])]),
    ("and with the results in the opposite order",
     whole([scan(["x"], ["y"], 1, [], ["r"], [node("Relu", ["r"], ["p"])], ["p"], scan_output_directions=[1])], ["y"]),
     [relu(X[::-1])]),
    ("a scan carries states",
     whole([scan(["w", "x"], ["s", "y"], 1, ["a"], ["r"], [node("MatMul", ["a", "w"], ["b"]),
                                                          node("MatMul", ["r", "a"], ["p"])], ["b", "p"])],
           ["s", "y"]), [W @ W @ W, np.array([X[0] @ W, X[1] @ W @ W])]),
    ("a scan over numbers",
     whole([node("Det", ["w3"], ["d"]), scan(["d"], ["y"], 1, [], ["r"], [node("Relu", ["r"], ["p"])], ["p"])], ["y"],
           [tensor("w3", "float", [2, 1, 1], [-1.0, 4.0])]), [np.array([0, 4], np.float32)]),
    ("a scan of operator set 8 goes over a batch of sequences, of several lengths",
     whole([scan(["lens", "w2", "xs"], ["s", "y"], 1, ["a"], ["r"],
                 [node("MatMul", ["a", "w"], ["b"]), node("MatMul", ["r", "a"], ["p"])], ["b", "p"])], ["s", "y"],
           [tensor("lens", "int64", [2], [2, 1]), tensor("w2", "float", [2, 3, 3], [float(v) for v in [*W.ravel()] * 2]),
            tensor("xs", "float", [2, 2, 3], [float(v) for v in [*X.ravel()] * 2])], opset=8),
     [np.array([W @ W @ W, W @ W]), np.array([[X[0] @ W, X[1] @ W @ W], [X[0] @ W, [0, 0, 0]]], np.float32)]),
]

M3 = [number("m", "int64", 3)]

# A sentence, the model, and what its message says.
WRONG = [
    ("an If without a branch", whole([node("If", ["yes"], ["y"])], ["y"]), "attribute 'then_branch' is missing"),
    ("a branch with too few outputs",
     whole([node("If", ["yes"], ["y", "z"], then_branch=graph([node("Relu", ["x"], ["a"])], [], [value("a", "float")]),
                 else_branch=graph([], [], []))], ["y", "z"]), "'then_branch' has 1 outputs, expected 2"),
    ("a branch with an input",
     whole([node("If", ["yes"], ["y"], then_branch=graph([node("Relu", ["x"], ["a"])], [value("q", "float")],
                                                         [value("a", "float")]),
                 else_branch=graph([], [], []))], ["y"]), "its graph has 1 inputs and 1 outputs, expected 0 and 1"),
    ("a branch whose output nothing makes",
     whole([node("If", ["yes"], ["y"], then_branch=graph([], [], [value("a", "float")]),
                 else_branch=graph([], [], []))], ["y"]), "'a'"),
    ("a condition of several elements",
     whole([branches("many")], ["y"], [tensor("many", "bool", [2], [True, True])]), "2 elements, expected 1"),
    ("a loop without a body", whole([node("Loop", ["m", "", "x"], ["y"])], ["y"], M3), "attribute 'body' is missing"),
    ("a body with too few inputs",
     whole([loop(["m", "", "x", "x"], ["y", "z"], MOVE)], ["y", "z"], M3), "3 inputs and 3 outputs, expected 4"),
    ("more outputs than the body's",
     whole([loop(["m", "", "x"], ["y", "z", "u"], MOVE)], ["y", "z"], M3), "3 outputs, expected at most the 2"),
    ("a scan without its number of inputs", whole([node("Scan", ["x"], ["y"], body=MOVE)], ["y"]), "'num_scan_inputs'"),
    ("a scan of more inputs than there are",
     whole([node("Scan", ["x"], ["y"], body=MOVE, num_scan_inputs=2)], ["y"]), "'num_scan_inputs' is 2"),
    ("a scan along an axis that is not there",
     whole([scan(["x"], ["y"], 1, [], ["r"], [node("Relu", ["r"], ["p"])], ["p"], scan_input_axes=[2])], ["y"]),
     "axis 2 of a tensor with 2 dimensions"),
    ("a scan of inputs of different lengths",
     whole([scan(["x", "w"], ["y"], 2, [], ["r", "q"], [node("Relu", ["r"], ["p"])], ["p"])], ["y"]),
     "has 3 parts, expected 2"),
    ("a scan of a number",
     whole([scan(["one"], ["y"], 1, [], ["r"], [node("Relu", ["r"], ["p"])], ["p"])], ["y"], [number("one", "float", 1)]),
     "axis 0 of a tensor with 0 dimensions"),
    ("parts of several shapes cannot be stacked",
     whole([loop(["m", "", "x"], ["y", "z"],
                 body([loop(["i", ""], ["count"], COUNT)], ["s"], ["s", "count"]))], ["y", "z"], M3), "shape"),
]


def costs_nothing(lightnet):
    """What is known when compiling leaves the operators that a model without it has."""
    straight = ops_of(lightnet, whole([node("MatMul", ["x", "w"], ["t"]), node("MatMul", ["t", "w"], ["y"])], ["y"]))
    looped = ops_of(lightnet, whole([loop(["m", "yes", "x"], ["y"], body([node("If", ["cond"], ["moved"], then_branch=graph(
        [node("MatMul", ["s", "w"], ["a"])], [], [value("a", "float")]), else_branch=graph(
            [node("Relu", ["s"], ["b"])], [], [value("b", "float")]))], ["s"], ["moved"]))], ["y"], [number("m", "int64", 2)]))
    looped = [optype for optype in looped if optype != "forward_cpu"]   # a view of the output by another name
    return [] if straight and straight == looped else [f"{looped}, expected {straight}"]


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    for sentence, it, expected in KNOWN:
        tap.check(sentence, faults_of(lightnet, it, {"x": X}, expected))
    tap.check("what is known when compiling costs nothing", costs_nothing(lightnet))
    for sentence, it, words in WRONG:
        message = error_of(lightnet, it, {"x": X})
        tap.check(sentence + " is refused",
                  [] if message and words in message else [f"expected {words!r} in: {message!r}"])
    tap.end()


if __name__ == "__main__":
    main()
