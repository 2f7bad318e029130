#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: functions.py LIGHTNET. Models that bring functions of their own."""
import os
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import error_of, faults_of
from onnx_writer import function, graph, model, node, ref, tensor, value
from tap import Tap

X = np.array([[-2, -1, 0], [1, 2, 3]], np.float32)
OPSETS = {"": 17, "my": 1}


def calling(nodes, functions, outputs=("y",)):
    """A model of these nodes, from x to the outputs, all of X's shape."""
    whole = graph(nodes, [value("x", "float", X.shape)], [value(name, "float", X.shape) for name in outputs])
    return model(whole, opset=OPSETS, functions=functions)


def one(name, op_type, **options):
    """A function that is one operator; `options`: of the function."""
    return function("my", name, ["a"], ["b"], [node(op_type, ["a"], ["b"])], **options)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def sums(name, domain="my", **options):
    """A function a + b + c, which are optional but a, by Concat of those that are there and graphs within its nodes."""
    return function(domain, name, ["a", "b", "c"], ["y"], [
        node("OptionalHasElement", ["b"], ["has"]),
        node("If", ["has"], ["s"], then_branch=graph([node("Add", ["a", "b"], ["p"])], [], [value("p", "float")]),
             else_branch=graph([node("Identity", ["a"], ["q"])], [], [value("q", "float")])),
        node("Clip", ["s", "c"], ["y"])], **options)


ONE, TWO = tensor("one", "float", [], [1]), tensor("two", "float", [], [2])


def leaving_out(inputs, functions=None, **options):
    """A model that calls `my.Sums` with these inputs, beside x constants `one` and `two`."""
    whole = graph([node("Sums", inputs, ["y"], domain="my")], [value("x", "float", X.shape)], [value("y", "float", X.shape)],
                  [ONE, TWO])
    return model(whole, opset={"": 18, "my": 1}, functions=functions or [sums("Sums", opset={"": 18})], **options)


NESTED = [function("my", "Sums", ["p", "q", "r"], ["s"], [node("Inner", ["p", "q", "r"], ["s"], domain="my")],
                   opset={"": 18, "my": 1}), sums("Inner", opset={"": 18})]
UNREAD = function("my", "Norm", ["a"], ["b", "mean"], [
    node("Constant", [], ["g"], value=tensor("g", "float", [3], [1.0, 1.0, 1.0])),
    node("SkipSimplifiedLayerNormalization", ["a", "a", "g"], ["b", "mean"], domain="com.microsoft")], opset={"": 17})
LEAKY = [node("LeakyRelu", ["a"], ["b"], alpha=ref("slope", "FLOAT"))]
FIXED = [node("Constant", [], ["k"], value=ref("given", "TENSOR")), node("Add", ["a", "k"], ["b"])]


def leaky(slope):
    return np.where(X < 0, X * np.float32(slope), X)


# A sentence, the model, its output, and the tolerance (float32 roundings of an exponential).
RIGHT = [
    ("a function is called", calling([node("Rectify", ["x"], ["y"], domain="my")], [one("Rectify", "Relu")]),
     [np.maximum(X, 0)], 0),
    ("its names are its own",
     calling([node("Relu", ["x"], ["b"]), node("Squash", ["x"], ["y"], domain="my"), node("Identity", ["b"], ["z"])],
             [one("Squash", "Sigmoid")], ["y", "z"]), [sigmoid(X), np.maximum(X, 0)], 1e-6),
    ("it is called twice",
     calling([node("Squash", ["x"], ["t"], domain="my"), node("Squash", ["t"], ["y"], domain="my")],
             [one("Squash", "Sigmoid")]), [sigmoid(sigmoid(X))], 1e-6),
    ("functions call functions, in whatever order they stand",
     calling([node("Outer", ["x"], ["y"], domain="my")],
             [function("my", "Outer", ["p"], ["q"], [node("Inner", ["p"], ["t"], domain="my"),
                                                    node("Sigmoid", ["t"], ["q"])], opset=OPSETS),
              one("Inner", "Relu")]), [sigmoid(np.maximum(X, 0))], 1e-6),
    ("the overload that is named is called",
     calling([node("F", ["x"], ["y"], domain="my", overload="second")],
             [one("F", "Relu", overload="first"), one("F", "Sigmoid", overload="second")]), [sigmoid(X)], 1e-6),
    ("a function takes the place of an operator of ONNX",
     calling([node("Relu", ["x"], ["y"])], [function("", "Relu", ["a"], ["b"], [node("Sigmoid", ["a"], ["b"])])]),
     [sigmoid(X)], 1e-6),
    ("an attribute refers to that of the call",
     calling([node("Leaky", ["x"], ["y"], domain="my", slope=0.5)],
             [function("my", "Leaky", ["a"], ["b"], LEAKY, attributes=["slope"])]), [leaky(0.5)], 0),
    ("or to the default of the function",
     calling([node("Leaky", ["x"], ["y"], domain="my")],
             [function("my", "Leaky", ["a"], ["b"], LEAKY, defaults={"slope": 0.25})]), [leaky(0.25)], 0),
    ("the call's comes before the default",
     calling([node("Leaky", ["x"], ["y"], domain="my", slope=0.5)],
             [function("my", "Leaky", ["a"], ["b"], LEAKY, defaults={"slope": 0.25})]), [leaky(0.5)], 0),
    ("without either the operator's own default holds",
     calling([node("Leaky", ["x"], ["y"], domain="my")],
             [function("my", "Leaky", ["a"], ["b"], LEAKY, attributes=["slope"])]), [leaky(0.01)], 0),
    ("attributes go through functions within functions",
     calling([node("Outer", ["x"], ["y"], domain="my", steep=0.5)],
             [function("my", "Outer", ["p"], ["q"], [node("Leaky", ["p"], ["q"], domain="my", slope=ref("steep", "FLOAT"))],
                       attributes=["steep"], opset=OPSETS),
              function("my", "Leaky", ["a"], ["b"], LEAKY, attributes=["slope"])]), [leaky(0.5)], 0),
    ("each call has its own constants",
     calling([node("F", ["x"], ["t"], domain="my", given=tensor("one", "float", [], [1])),
              node("F", ["t"], ["y"], domain="my", given=tensor("ten", "float", [], [10]))],
             [function("my", "F", ["a"], ["b"], FIXED, attributes=["given"])]), [X + 11], 0),
    ("an attribute within a graph of a function refers to that of the call",
     calling([node("F", ["x"], ["y"], domain="my", slope=0.5)],
             [function("my", "F", ["a"], ["y"], [
                 node("Constant", [], ["yes"], value=tensor("yes", "bool", [], [True])),
                 node("If", ["yes"], ["y"], then_branch=graph(LEAKY, [], [value("b", "float")]),
                      else_branch=graph([node("Relu", ["a"], ["r"])], [], [value("r", "float")]))],
                       attributes=["slope"])]), [leaky(0.5)], 0),
    ("an output that the call does not want is left out",
     calling([node("Two", ["x"], ["", "y"], domain="my")],
             [function("my", "Two", ["a"], ["b", "c"], [node("Sigmoid", ["a"], ["b"]), node("Relu", ["a"], ["c"])])]),
     [np.maximum(X, 0)], 0),
    *((f"a call with the inputs {inputs}{where}", leaving_out(inputs, functions), [expected], 0)
      for functions, where in ((None, ""), (NESTED, ", passed on to another function"))
      for inputs, expected in ((["x"], X), (["x", "one"], X + 1), (["x", "", "two"], np.maximum(X, 2)),
                               (["x", "one", "two"], np.maximum(X + 1, 2)), (["x", "", ""], X))),
    ("an output of a function that cannot be computed, and that its call does not want",
     calling([node("Norm", ["x"], ["y"], domain="my")], [UNREAD]), [X / np.sqrt((X * X).mean(1, keepdims=True))], 1e-6),
    ("or that nothing reads", calling([node("Norm", ["x"], ["y", "unread"], domain="my")], [UNREAD]),
     [X / np.sqrt((X * X).mean(1, keepdims=True))], 1e-6),
]

# A sentence, the model, and its message.
WRONG = [
    ("an output of a function that cannot be computed, and that is read, is rejected",
     calling([node("Norm", ["x"], ["y", "z"], domain="my")], [UNREAD], ["y", "z"]), "output 1, 'mean', is not supported"),
    ("a required input of a node that the call leaves out is named",
     leaving_out(["x"], [function("my", "Sums", ["a", "b"], ["c"], [node("Add", ["a", "b"], ["c"], name="add")], opset={"": 18})]),
     "node 'add' (Add, opset 18): input 1 is missing"),
    ("a function that calls itself is rejected",
     calling([node("F", ["x"], ["y"], domain="my")],
             [function("my", "F", ["a"], ["b"], [node("F", ["a"], ["b"], domain="my")], opset=OPSETS)]), "deep"),
    ("two that call each other are rejected",
     calling([node("F", ["x"], ["y"], domain="my")],
             [function("my", "F", ["a"], ["b"], [node("G", ["a"], ["b"], domain="my")], opset=OPSETS),
              function("my", "G", ["a"], ["b"], [node("F", ["a"], ["b"], domain="my")], opset=OPSETS)]), "deep"),
    ("an overload that is not there is rejected",
     calling([node("F", ["x"], ["y"], domain="my", overload="third")], [one("F", "Relu", overload="first")]), "my.F"),
    ("a function that is not there is rejected", calling([node("F", ["x"], ["y"], domain="my")], []), "my.F"),
    ("operators within functions are looked at",
     calling([node("F", ["x"], ["y"], domain="my")], [one("F", "NoSuchThing")]), "NoSuchThing"),
    ("a function sees none of the names around it",
     calling([node("Relu", ["x"], ["t"]), node("F", ["x"], ["y"], domain="my")],
             [function("my", "F", ["a"], ["b"], [node("Relu", ["t"], ["b"])])]), "'t'"),
    ("an output that the function does not make is rejected",
     calling([node("F", ["x"], ["y"], domain="my")],
             [function("my", "F", ["a"], ["c"], [node("Relu", ["a"], ["b"])])]), "'y'"),
    ("more inputs than the function has are rejected",
     calling([node("F", ["x", "x"], ["y"], domain="my")], [one("F", "Relu")]), "has 2 inputs, expected at most 1"),
    ("more outputs than the function has are rejected",
     calling([node("F", ["x"], ["y", "z"], domain="my")], [one("F", "Relu")]), "has 2 outputs, expected at most 1"),
    ("functions that unfold without measure are rejected",
     calling([node("F0", ["x"], ["y"], domain="my")],
             [function("my", f"F{i}", ["a"], ["c"], [node(f"F{i + 1}", ["a"], ["b"], domain="my"),
                                                    node(f"F{i + 1}", ["b"], ["c"], domain="my")], opset=OPSETS)
              for i in range(40)] + [one("F40", "Identity")]), "nodes"),
]


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    for sentence, whole, expected, atol in RIGHT:
        tap.check(sentence, faults_of(lightnet, whole, {"x": X}, expected, atol=atol))
    for sentence, whole, words in WRONG:
        message = error_of(lightnet, whole, {"x": X})
        tap.check(sentence, [] if message and words in message else [f"expected {words!r} in: {message!r}"])
    tap.end()


if __name__ == "__main__":
    main()
