#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: control.py LIGHTNET. If, Loop and Scan, with control values known or unknown when compiling."""
import os
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import call, compiled_faults_of, error_of, failure, faults_of, ops_of, session_faults_of, write
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
    """The graph of a Loop; `cond`: its condition output."""
    return graph(nodes, [value("i", "int64", []), value("cond", "bool", []), *[value(name, "float") for name in inputs]],
                 [value(cond, "bool", []), *[value(name, "float") for name in outputs]], constants)


def branches(cond):
    return node("If", [cond], ["y"], then_branch=graph([node("Relu", ["x"], ["a"])], [], [value("a", "float")]),
                else_branch=graph([node("MatMul", ["x", "w"], ["b"])], [], [value("b", "float")]))


# Moves the columns once in each iteration and lists the positive elements.
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

# A sentence, the model, and its output for X.
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

# Values known only at run time: models of x, a condition c, and a number m.

def late(nodes, outputs, constants=()):
    """A model whose inputs are x, c and m; the shapes of its outputs are open."""
    inputs = [value("x", "float", X.shape), value("c", "bool", []), value("m", "int64", [])]
    return whole(nodes, outputs, [number("one", "float", 1), number("ten", "float", 10), *constants], inputs=inputs)


def either(cond, then_nodes, then_output, else_nodes, else_output):
    return node("If", [cond], ["y"], then_branch=graph(then_nodes, [], [value(then_output, "float")]),
                else_branch=graph(else_nodes, [], [value(else_output, "float")]))


SUM_BELOW_TEN = [node("Add", ["s", "one"], ["t"]), node("ReduceSum", ["t"], ["sum"], keepdims=0),
                 node("Less", ["sum", "ten"], ["more"])]
GROW = body(SUM_BELOW_TEN, ["s"], ["t"], cond="more")
SWAP = body([], ["a", "b"], ["b", "a"])
INNER = body([node("Add", ["u", "s"], ["v"]), node("ReduceSum", ["v"], ["sum2"], keepdims=0),
              node("Less", ["sum2", "ten"], ["more2"])], ["u"], ["v"], cond="more2")
OUTER = body([loop(["m", "", "s"], ["t"], INNER), either("c", [node("Neg", ["t"], ["minus"])], "minus",
                                                        [node("Add", ["t", "x"], ["plus"])], "plus")], ["s"], ["y"])
LONG = 25000
TALL = np.arange(2 * LONG, dtype=np.float32).reshape(LONG, 2) % 7


def grown(steps):
    s = X
    for _ in range(steps):
        s = s + 1
        if s.sum() >= 10:
            break
    return s


def nested(steps, c):
    s = X
    for _ in range(steps):
        u = s
        for _ in range(steps):
            u = u + s
            if u.sum() >= 10:
                break
        s = -u if c else u + X
    return s


SUMS = [node("Add", ["a", "r"], ["b"]), node("Identity", ["b"], ["p"])]

# A sentence, the model, and a function from c and m to its output for X.
LATE = [
    ("a branch that is known only at run time", late([branches("c")], ["y"]), lambda c, m: [relu(X) if c else moved(1)]),
    ("branches that give what is there already",
     late([either("c", [], "x", [node("Identity", ["w2"], ["z"])], "z")], ["y"],
          [tensor("w2", "float", [2, 3], [1.0] * 6)]), lambda c, m: [X if c else np.ones_like(X)]),
    ("a branch within a branch",
     late([node("Not", ["c"], ["d"]), either("c", [either("d", [], "x", [node("Relu", ["x"], ["r"])], "r")], "y",
                                             [node("Neg", ["x"], ["q"])], "q")], ["y"]),
     lambda c, m: [relu(X) if c else -X]),
    ("a loop whose number of iterations is known only at run time",
     late([loop(["m", "", "x"], ["y"], body([node("MatMul", ["s", "w"], ["t"])], ["s"], ["t"]))], ["y"]),
     lambda c, m: [moved(m)]),
    ("a loop that begins only if a condition holds",
     late([loop(["m", "c", "x"], ["y"], body([node("MatMul", ["s", "w"], ["t"])], ["s"], ["t"]))], ["y"]),
     lambda c, m: [moved(m if c else 0)]),
    ("a loop until its data is large enough", late([loop(["", "", "x"], ["y"], GROW)], ["y"]), lambda c, m: [grown(99)]),
    ("or until enough iterations are done", late([loop(["m", "", "x"], ["y"], GROW)], ["y"]), lambda c, m: [grown(m)]),
    ("states that take each other's place",
     late([node("Neg", ["x"], ["n"]), loop(["m", "", "x", "n"], ["y", "z"], SWAP)], ["y", "z"]),
     lambda c, m: [X, -X] if m % 2 == 0 else [-X, X]),
    ("loops within loops, and a branch in them", late([loop(["m", "", "x"], ["y"], OUTER)], ["y"]),
     lambda c, m: [nested(m, c)]),
]

GREW = [value("x", "float", X.shape), value("c", "bool", []), value("most", "float", [])]
DOUBLE = body([node("Add", ["s", "s"], ["t"]), node("ReduceSum", ["t"], ["sum"], keepdims=0),
               node("Less", ["sum", "most"], ["more"])], ["s"], ["t", "t"], cond="more")


def doubled(c, most):
    parts, s = [], X
    while c and len(parts) < 5:
        s = s + s
        parts.append(s)
        if s.sum() >= most:
            break
    return [s, relu(np.array(parts, np.float32).reshape(-1, 2, 3))]


# A sentence, the model, whose inputs are x, c and most, and a function from c and most to its output for X: sizes, too.
SIZES = [
    ("branches of several shapes",
     whole([either("c", [node("Transpose", ["x"], ["t"])], "t", [node("Neg", ["x"], ["n"])], "n"),
            node("Relu", ["y"], ["z"])], ["z"], inputs=GREW), lambda c, most: [relu(X.T if c else -X)]),
    ("as many parts as a loop has iterations",
     whole([loop(["m", "c", "x"], ["y", "p"], DOUBLE), node("Relu", ["p"], ["z"])], ["y", "z"],
           [number("m", "int64", 5)], inputs=GREW), doubled),
]

def long_scan(attributes):
    return whole([scan(["zero", "rows"], ["s", "y"], 1, ["a"], ["r"], SUMS, ["b", "p"], **attributes)], ["s", "y"],
                 [tensor("zero", "float", [2], [0.0, 0.0])], inputs=[value("rows", "float", TALL.shape)])


# Cases that are too long to be unrolled: a sentence, the model, its input, the expected outputs.
TOO_LONG = [
    ("a long loop, with its parts",
     whole([loop(["many", "yes", "x"], ["y", "z"], body(
         [node("MatMul", ["s", "w"], ["t"]), node("Identity", ["i"], ["number"])], ["s"], ["t", "number"]))], ["y", "z"],
           [number("many", "int64", LONG)]), {"x": X}, [moved(LONG), np.arange(LONG)]),
    *((sentence, long_scan(attributes), {"rows": TALL}, [TALL.sum(axis=0), expected]) for sentence, attributes, expected in [
        ("a long scan", {}, np.cumsum(TALL, axis=0, dtype=np.float32)),
        ("from the last to the first", {"scan_input_directions": [1]}, np.cumsum(TALL[::-1], axis=0, dtype=np.float32)),
        ("stacked from the last to the first, along another axis", {"scan_output_directions": [1], "scan_output_axes": [1]},
         np.cumsum(TALL, axis=0, dtype=np.float32)[::-1].T),
    ]),
]


def no_scan(dims, states="zero", **attributes):
    """Sums of the rows of x, of which there may be none, and the names of the sums' rows."""
    inner = [node("Add", ["a", "r"], ["b"]), node("Identity", ["b"], ["p"])]
    return whole([scan([states, "x"], ["s", "y"], 1, ["a"], ["r"], inner, ["b", "p"], **attributes)], ["s", "y"],
                 [tensor("zero", "float", [3], [1.0, 2.0, 3.0])], inputs=[value("x", "float", dims)])


BASE = np.array([1, 2, 3], np.float32)
LINES = np.arange(12, dtype=np.float32).reshape(4, 3)
TEXT_SCAN = model(graph([node("Scan", ["x"], ["y"], num_scan_inputs=1, body=graph(
    [node("StringConcat", ["r", "r"], ["p"])], [value("r", "string")], [value("p", "string")]))],
    [value("x", "string", ["n", 2])], [value("y", "string")]), opset=20)


def eight(rows, lens, batch=2):
    """Operator set 8: a batch of sequences of these lengths."""
    return whole([scan(["lens", "z2", "x"], ["s", "y"], 1, ["a"], ["r"], SUMS, ["b", "p"])], ["s", "y"],
                 [tensor("lens", "int64", [len(lens)], lens), tensor("z2", "float", [len(lens), 3], [1.0, 2.0, 3.0] * len(lens))], opset=8,
                 inputs=[value("x", "float", [batch, rows, 3])])


# Scans without iterations: a sentence, the model, its input x, the expected outputs.
EMPTY = [
    *((f"of shape {dims}", no_scan(dims), LINES[:n], [BASE + LINES[:n].sum(0), BASE + np.cumsum(LINES[:n], 0)])
      for dims, n in (((0, 3), 0), (("n", 3), 0), (("n", 3), 4), (("n", "m"), 0))),
    ("along axis 1, from the last on, stacked along the last axis", no_scan(("m", "n"), scan_input_axes=[1], scan_output_axes=[-1],
     scan_input_directions=[1], scan_output_directions=[1]), LINES[:0].T, [BASE, np.zeros((3, 0), np.float32)]),
    ("of strings", TEXT_SCAN, np.zeros((0, 2), str), [np.zeros((0, 2), str)]),
    ("of operator set 8", eight(0, [0, 0]), np.zeros((2, 0, 3), np.float32), [np.array([BASE] * 2), np.zeros((2, 0, 3), np.float32)]),
    ("of operator set 8, of sequences whose length is 0", eight(1, [0, 1]), np.ones((2, 1, 3), np.float32),
     [np.array([BASE, BASE + 1]), np.array([[[0, 0, 0]], [BASE + 1]], np.float32)]),
    *((f"of operator set 8, of a batch without elements, {rows} rows", eight(rows, [], 0), np.zeros((0, rows, 3), np.float32),
       [np.zeros((0, 3), np.float32), np.zeros((0, rows, 3), np.float32)]) for rows in (2, 0)),
]

M3 = [number("m", "int64", 3)]

# A sentence, the model, and its message.
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
    *((f"a scan of {len(rows)} rows with an omitted output along an axis that is not there",
       whole([scan(["zero", "x"], ["s"], 1, ["a"], ["r"], SUMS, ["b", "p"], scan_output_axes=[5])], ["s"],
             [tensor("zero", "float", [rows.shape[1]], [0.0] * rows.shape[1])], inputs=[value("x", "float", rows.shape)]),
       "axis 5 of a tensor with 2 dimensions") for rows in (X, TALL)),
    ("a scan of inputs of different lengths",
     whole([scan(["x", "w"], ["y"], 2, [], ["r", "q"], [node("Relu", ["r"], ["p"])], ["p"])], ["y"]),
     "scan input 1 has length 3, expected 2"),
    ("a scan of a number",
     whole([scan(["one"], ["y"], 1, [], ["r"], [node("Relu", ["r"], ["p"])], ["p"])], ["y"], [number("one", "float", 1)]),
     "axis 0 of a tensor with 0 dimensions"),
    ("parts of several shapes cannot be stacked",
     whole([loop(["m", "", "x"], ["y", "z"],
                 body([loop(["i", ""], ["count"], COUNT)], ["s"], ["s", "count"]))], ["y", "z"], M3), "shape"),
]


# Weights within bodies: a sentence, the model of x, c and m, and a function from c and m to its output for an image.

IMAGE = (np.arange(20 * 5 * 6, dtype=np.float32).reshape(1, 20, 5, 6) * 7 % 11) - 5
KERNEL = (np.arange(20 * 20 * 9, dtype=np.float32).reshape(20, 20, 3, 3) * 5 % 7) - 3


def convolved(x, w):
    """3x3, with padding of 1; small integers, so that sums are exact."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, w, dtype=np.float64).astype(np.float32)


def conv(src, weight, dst):
    return node("Conv", [src, weight], [dst], pads=[1, 1, 1, 1])


def image(nodes, outputs):
    inputs = [value("x", "float", IMAGE.shape), value("c", "bool", []), value("m", "int64", [])]
    kernels = [tensor(name, "float", list(array.shape), list(map(float, array.ravel())))
               for name, array in (("k", KERNEL), ("l", KERNEL[::-1].copy()), ("less", np.array(1 / 1024, np.float32)))]
    return model(graph(nodes, inputs, [value(name, "float") for name in outputs], kernels))


def repeated(steps, kernel):
    y = IMAGE
    for _ in range(steps):
        y = convolved(y, kernel) / 1024
    return y


SMALLER = [node("Mul", ["k", "less"], ["k2"]), conv("s", "k2", "t")]
CHOICE = either("c", [conv("s", "k", "p")], "p", [node("Add", ["k", "l"], ["sum"]), conv("s", "sum", "q")], "q")

INSIDE = [
    ("convolutions in both branches", image([either("c", [conv("x", "k", "a"), node("Relu", ["a"], ["p"])], "p",
                                                    [conv("x", "l", "q")], "q")], ["y"]),
     lambda c, m: [relu(convolved(IMAGE, KERNEL)) if c else convolved(IMAGE, KERNEL[::-1])]),
    ("weights that are computed in a loop", image([loop(["m", "", "x"], ["y"], body(SMALLER, ["s"], ["t"]))], ["y"]),
     lambda c, m: [repeated(m, KERNEL)]),
    ("a convolution in a branch in a loop",
     image([loop(["m", "", "x"], ["z"], body([CHOICE, node("Mul", ["y", "less"], ["t"])], ["s"], ["t"])),
            conv("z", "k", "o")], ["o"]),
     lambda c, m: [convolved(repeated(m, KERNEL if c else KERNEL + KERNEL[::-1]), KERNEL)]),
    ("a branch that gives what it computes of constants",
     image([either("c", [node("Add", ["k", "l"], ["p"])], "p", [node("Mul", ["k", "less"], ["q"])], "q")], ["y"]),
     lambda c, m: [KERNEL + KERNEL[::-1] if c else KERNEL / 1024]),
]


def draws_again(lightnet):
    """A branch that draws numbers draws others in each iteration of a loop, on which it does not depend."""
    drawn = graph([node("RandomNormalLike", ["x"], ["r"])], [], [value("r", "float")])
    other = graph([node("Neg", ["x"], ["n"])], [], [value("n", "float")])
    turn = body([node("If", ["c"], ["new"], then_branch=drawn, else_branch=other)], ["a", "b"], ["b", "new"])
    it = late([loop(["m", "", "x", "x"], ["y", "z"], turn)], ["y", "z"])
    with tempfile.TemporaryDirectory() as folder:
        arguments = write(folder, it, {"x": X, "c": np.array(True), "m": np.array(2, np.int64)})
        done = call([lightnet, "run", *arguments, "-O", folder])
        if done.returncode:
            return failure(done)
        y, z = (np.load(os.path.join(folder, f"output_{k}.npy")) for k in range(2))
        return [] if (y != z).all() and (y != X).all() else [f"{y.tolist()}, {z.tolist()}"]


def costs_nothing(lightnet):
    """Control flow that is known at compile time leaves the same operators as a model without it."""
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
    tap.check("a branch in a loop draws new numbers in each iteration", draws_again(lightnet))
    for sentence, it, expected in LATE:
        faults = []
        for c, m in ((True, 3), (False, 2), (True, 0)):
            inputs = {"x": X, "c": np.array(c), "m": np.array(m, np.int64)}
            faults += [f"c {c}, m {m}: {fault}" for fault in faults_of(lightnet, it, inputs, expected(c, m))]
        tap.check(sentence, faults)
    for sentence, it, expected in INSIDE:
        faults = []
        for c, m in ((True, 2), (False, 1)):
            inputs = {"x": IMAGE, "c": np.array(c), "m": np.array(m, np.int64)}
            faults += [f"c {c}, m {m}: {fault}" for fault in faults_of(lightnet, it, inputs, expected(c, m), 1e-5, 1e-4)]
        tap.check(sentence, faults)
    for sentence, it, expected in SIZES:
        cases = [({"x": X, "c": np.array(c), "most": np.array(most, np.float32)}, expected(c, most))
                 for c, most in ((True, 20), (False, 20), (True, 1000), (True, 0))]
        tap.check(sentence, compiled_faults_of(lightnet, it, cases))
    for sentence, it, inputs, expected in TOO_LONG:
        tap.check(sentence, faults_of(lightnet, it, inputs, expected))
    for sentence, it, x, expected in EMPTY:
        tap.check(f"a scan without iterations, or with some, {sentence}", faults_of(lightnet, it, {"x": x}, expected))
    tap.check("a session scans any numbers of rows, none among them", session_faults_of(
        lightnet, no_scan(("n", 3)), ["s", "y"], [(LINES[:n], [BASE + LINES[:n].sum(0), BASE + np.cumsum(LINES[:n], 0)])
                                                  for n in (2, 0, 3, 1, 4, 0, 2, 3)]))
    message = error_of(lightnet, no_scan(("n", 3)), {}, ("compile", "--shape", "n=0..4", "-o", os.devnull))
    tap.check("a scan of an open length needs a fixed one to be compiled",
              [] if message and "the length of scan input 0 is known only at run time" in message else [f"says {message!r}"])
    for sentence, shape, part in (("length", "x=2x1..4x3", "the length of scan input 0"), ("batch", "x=1..2x4x3", "the batch of input 2")):
        message = error_of(lightnet, eight("n", [0, 0], "b"), {}, ("compile", "--shape", shape, "-o", os.devnull))
        tap.check(f"so does one of operator set 8, of an open {sentence}",
                  [] if message and part + " is known only at run time" in message else [f"says {message!r}"])
    for sentence, it, words in WRONG:
        message = error_of(lightnet, it, {"x": X})
        tap.check(sentence + " is rejected",
                  [] if message and words in message else [f"expected {words!r} in: {message!r}"])
    tap.end()


if __name__ == "__main__":
    main()
