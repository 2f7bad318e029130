#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: sequences.py LIGHTNET. Sequences and optional values: their operators, in control flow, as inputs and outputs.

A sequence is a list of arrays here, an absent optional value None, as in the files that are written for `verify`.
"""
import os
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import call, compiled_faults_of, elements, failure, name_of, ops_of
from onnx_writer import (field, function, graph, model, node, optional_file, optional_type, repeated, sequence_file,
                         sequence_type, tensor, tensor_type, typed, value)
from tap import Tap

A = np.arange(6, dtype=np.float32).reshape(2, 3)
B = A * A - 4
C = np.float32(7) - A
LINE = np.arange(7, dtype=np.float32)
EMPTY = np.zeros((0, 3), np.float32)
BELOW = np.iinfo(np.int64).min


# ---- models, and their inputs and outputs as files ----

def kind_of(given, shapes=True):
    """The type of a list or an array; without `shapes`, of any shape."""
    if isinstance(given, list):
        return sequence_type(tensor_type(name_of(given[0]) if given else "float"))
    return tensor_type(name_of(given), given.shape if shapes else None)


class Optional:
    """An optional value as an input or output: an array, a list, or None of the type of `like`."""

    def __init__(self, given, like=None):
        self.given = given
        element = kind_of(given if like is None else like, shapes=False)
        self.kind = optional_type(element)


def typed_as(name, given):
    return typed(name, given.kind if isinstance(given, Optional) else kind_of(given))


def message(name, given):
    """The bytes of a file."""
    if isinstance(given, Optional):
        return optional_file(None if given.given is None else message("", given.given))
    if isinstance(given, list):
        return sequence_file([tensor("", *elements(each)) for each in given])
    return tensor(name, *elements(given))


def flat(values):
    """The arrays of all values."""
    arrays = []
    for each in values:
        inner = each.given if isinstance(each, Optional) else each
        arrays += inner if isinstance(inner, list) else [] if inner is None else [inner]
    return arrays


class Case:
    """Nodes, {input: value}, {output: value}, {constant: array}."""

    def __init__(self, sentence, nodes, inputs, outputs, constants=None, opset=17, **options):
        self.sentence, self.inputs, self.outputs = sentence, inputs, outputs
        initializers = [tensor(name, *elements(array)) for name, array in (constants or {}).items()]
        self.model = model(graph(nodes, [typed_as(name, given) for name, given in inputs.items()],
                                 [typed_as(name, given) if isinstance(given, (list, Optional)) else value(name, name_of(given))
                                  for name, given in outputs.items()], initializers), opset=opset, **options)

    def write(self, folder):
        """The model; a folder of data for `verify`; -i arguments."""
        path, data, arguments = os.path.join(folder, "model.onnx"), os.path.join(folder, "data"), []
        os.mkdir(data)
        with open(path, "wb") as file:
            file.write(self.model)
        for what, values in (("input", self.inputs), ("output", self.outputs)):
            for k, (name, given) in enumerate(values.items()):
                file_name = os.path.join(data, f"{what}_{k}.pb")
                with open(file_name, "wb") as file:
                    file.write(message(name, given))
                arguments += ["-i", f"{name}={file_name}"] if what == "input" else []
        return path, data, arguments

    def faults(self, lightnet):
        with tempfile.TemporaryDirectory() as folder:
            path, data, arguments = self.write(folder)
            out, wanted = os.path.join(folder, "out"), flat(self.outputs.values())
            faults = failure(call([lightnet, "verify", path, data, "--atol", "0", "--rtol", "0"]))
            faults += failure(call([lightnet, "run", path, *arguments, "-O", out]))
            if not faults and wanted:
                faults = failure(call([lightnet, "verify", "--reference", path, *arguments]))
            got = len(os.listdir(out)) if os.path.isdir(out) else 0
            faults += [] if faults or got == len(wanted) else [f"{got} outputs, expected {len(wanted)}"]
            for k, want in enumerate([] if faults else wanted):
                array = np.load(os.path.join(out, f"output_{k}.npy"))
                if array.dtype != want.dtype or array.shape != want.shape or not np.array_equal(array, want):
                    faults.append(f"output {k} is {array.dtype} {array.tolist()}, expected {want.dtype} {want.tolist()}")
            return faults

    def error(self, lightnet):
        """The message; "" without one, None for another end."""
        with tempfile.TemporaryDirectory() as folder:
            path, _, arguments = self.write(folder)
            done = call([lightnet, "run", path, *arguments])
            return {0: "", 1: done.stderr}.get(done.returncode)


def ints(*numbers, dtype=np.int64):
    return np.array(numbers, dtype)


def at(position, dtype=np.int64):
    return np.array(position, dtype)


def three(nodes, outputs, constants=None, opset=17):
    """Nodes that read the sequence `s` of three inputs."""
    return [node("SequenceConstruct", ["a", "b", "c"], ["s"]), *nodes], {"a": A, "b": B, "c": C}, outputs, constants, opset


# ---- operators of sequences ----

def inserted(position):
    expected = [A, B, C]
    expected.insert(position, A + 1)
    nodes = [node("Add", ["a", "one"], ["d"]), node("SequenceInsert", ["s", "d", "p"], ["y"])]
    return three(nodes, {"y": expected}, {"p": at(position), "one": np.float32(1)})


def erased(position):
    expected = [A, B, C]
    del expected[position]
    return three([node("SequenceErase", ["s", "p"], ["y"])], {"y": expected}, {"p": at(position)})


def split(sentence, array, parts, lens=None, opset=17, **attributes):
    nodes = [node("SplitToSequence", ["x", "l"] if lens is not None else ["x"], ["y"], **attributes)]
    return Case(f"SplitToSequence {sentence}", nodes, {"x": array}, {"y": parts}, {} if lens is None else {"l": lens}, opset)


def concat(sentence, parts, expected, **attributes):
    return Case(f"ConcatFromSequence {sentence}", [node("ConcatFromSequence", ["s"], ["y"], **attributes)], {"s": parts},
                {"y": expected})


OPERATORS = [
    Case("a sequence of tensors of several shapes", [node("SequenceConstruct", ["a", "b", "c"], ["y"])],
         {"a": A, "b": LINE, "c": np.float32(3)}, {"y": [A, LINE, np.float32(3)]}, opset=11),
    *[Case(f"SequenceAt {p} ({dtype.__name__})", *three([node("SequenceAt", ["s", "p"], ["y"])], {"y": [A, B, C][p]},
                                                       {"p": at(p, dtype)}))
      for p, dtype in ((0, np.int64), (2, np.int32), (-1, np.int64), (-3, np.int32))],
    *[Case(f"SequenceInsert at {p}", *inserted(p)) for p in (0, 1, 3, -1, -3)],
    Case("SequenceInsert behind the last one", *three([node("SequenceInsert", ["s", "a"], ["y"])], {"y": [A, B, C, A]})),
    *[Case(f"SequenceErase at {p}", *erased(p)) for p in (0, 1, 2, -1, -3)],
    Case("SequenceErase of the last one", *three([node("SequenceErase", ["s"], ["y"])], {"y": [A, B]})),
    Case("SequenceLength", *three([node("SequenceLength", ["s"], ["y"])], {"y": at(3)})),
    Case("SequenceEmpty is of floats", [node("SequenceEmpty", [], ["s"]), node("SequenceInsert", ["s", "x"], ["y"]),
                                        node("SequenceLength", ["s"], ["n"])], {"x": A}, {"y": [A], "n": at(0)}),
    Case("SequenceEmpty of another type", [node("SequenceEmpty", [], ["s"], dtype=7), node("SequenceInsert", ["s", "x"], ["y"])],
         {"x": ints(3, 4)}, {"y": [ints(3, 4)]}),
    Case("what becomes longer twice keeps both", *three(
        [node("SequenceInsert", ["s", "a"], ["t"]), node("SequenceInsert", ["t", "b"], ["y"]),
         node("SequenceInsert", ["t", "c"], ["z"]), node("SequenceErase", ["t", "zero"], ["u"])],
        {"y": [A, B, C, A, B], "z": [A, B, C, A, C], "t": [A, B, C, A], "u": [B, C, A]}, {"zero": at(0)})),
    Case("a tensor may be in a sequence twice", [node("SequenceConstruct", ["a", "a"], ["y"]), node("Identity", ["a"], ["z"])],
         {"a": A}, {"y": [A, A], "z": A}),
    Case("a position that is an input", *three([node("SequenceAt", ["s", "p"], ["y"])], {"y": B})[:1],
         {"a": A, "b": B, "c": C, "p": at(1)}, {"y": B}),
    *[Case(f"a sequence of {array.dtype}", [node("SequenceConstruct", ["x", "x"], ["s"]), node("SequenceAt", ["s", "p"], ["y"])],
           {"x": array}, {"y": array}, {"p": at(1)})
      for array in (np.array([True, False]), ints(1, 2, dtype=np.uint8), ints(-1, dtype=np.int16), np.array([1.5]),
                    np.array([1.5, 2], np.float16), ints(5, dtype=np.uint64))],
    split("in parts of one", LINE[:3], [LINE[k:k + 1] for k in range(3)], opset=11),
    split("without that axis", A, [A[:, k] for k in range(3)], axis=-1, keepdims=0),
    split("to scalars", LINE[:3], [LINE[0], LINE[1], LINE[2]], keepdims=0),
    split("in equal parts", A, [A[:1], A[1:]], at(1)),
    split("with a shorter last one", LINE, [LINE[:3], LINE[3:6], LINE[6:]], at(3, np.int32)),
    split("in one part", LINE, [LINE], at(100)),
    split("in given parts", A, [A[:, :0], A[:, :2], A[:, 2:]], ints(0, 2, 1), axis=1),
    split("in given parts, where keepdims does nothing", A, [A[:, :1], A[:, 1:]], ints(1, 2, dtype=np.int32), axis=1, keepdims=0),
    split("of integers", ints(1, 2, 3), [ints(1, 2), ints(3)], at(2)),
    split("of nothing", EMPTY, []),
    split("of nothing in parts", EMPTY, [], at(2)),
    split("of nothing along another axis", EMPTY, [EMPTY[:, :2], EMPTY[:, 2:]], at(2), axis=1),
    concat("along an axis", [A, A[:1], EMPTY, B], np.concatenate([A, A[:1], EMPTY, B]), axis=0),
    concat("along the last one", [A, B[:, :1]], np.concatenate([A, B[:, :1]], axis=-1), axis=-1),
    concat("along a new one", [A, B, C], np.stack([A, B, C], axis=1), axis=1, new_axis=1),
    concat("along a new last one", [A, B], np.stack([A, B], axis=-1), axis=-1, new_axis=1),
    concat("of one tensor", [A], A, axis=1),
    concat("of one tensor, along a new axis", [A], A[None], axis=-3, new_axis=1),
    concat("of scalars", [np.float32(1), np.float32(2)], np.array([1, 2], np.float32), axis=0, new_axis=1),
]


# ---- SequenceMap ----

def mapped(inputs, outputs, nodes, constants=()):
    """The attribute `body`."""
    return graph(nodes, [value(name, "float") for name in inputs], [value(name, dtype) for name, dtype in outputs], constants)


SCALE = mapped(["e", "w"], [("f", "float"), ("n", "int64")], [node("Mul", ["e", "w"], ["f"]), node("Shape", ["e"], ["n"])])
LATE_IF = node("If", ["cond"], ["r"], then_branch=graph([node("Neg", ["e"], ["t"])], [], [value("t", "float")]),
               else_branch=graph([node("Add", ["e", "k"], ["u"])], [], [value("u", "float")]))
MAPS = [
    Case("SequenceMap with a tensor for all", [node("SequenceMap", ["s", "w"], ["y", "z"], body=SCALE)],
         {"s": [A, LINE], "w": np.float32(3)}, {"y": [A * 3, LINE * 3], "z": [ints(2, 3), ints(7)]}),
    Case("of two sequences",
         [node("SequenceMap", ["s", "t"], ["y"], body=mapped(["e", "f"], [("g", "float")], [node("Sub", ["e", "f"], ["g"])]))],
         {"s": [A, LINE], "t": [B, LINE * 2]}, {"y": [A - B, -LINE]}),
    Case("of none", [node("SequenceMap", ["s", "w"], ["y", "z"], body=SCALE), node("SequenceInsert", ["z", "i"], ["u"])],
         {"s": [], "w": np.float32(3), "i": ints(4)}, {"y": [], "u": [ints(4)]}),
    Case("of which one output is not wanted", [node("SequenceMap", ["s", "w"], ["", "z"], body=SCALE)],
         {"s": [A], "w": np.float32(3)}, {"z": [ints(2, 3)]}),
    Case("with a branch that is known at run time, which reads what is around",
         [node("SequenceMap", ["s"], ["y"], body=mapped(["e"], [("r", "float")], [LATE_IF]))],
         {"s": [A, LINE], "cond": np.array(False), "k": np.float32(2)}, {"y": [A + 2, LINE + 2]}),
    Case("within another one",
         [node("SequenceMap", ["s"], ["y"], body=mapped(["e"], [("g", "float")], [
             node("SequenceMap", ["s", "e"], ["m"], body=mapped(["f", "h"], [("i", "float")], [node("Mul", ["f", "h"], ["i"])])),
             node("ConcatFromSequence", ["m"], ["g"], axis=0)]))],
         {"s": [A, B]}, {"y": [np.concatenate([A * A, B * A]), np.concatenate([A * B, B * B])]}),
    Case("that gives its elements", [node("SequenceMap", ["s"], ["y"], body=mapped(["e"], [("e", "float")], []))],
         {"s": [A, LINE]}, {"y": [A, LINE]}),
]


# ---- control flow ----

def branch(nodes, output, kind=None):
    return graph(nodes, [], [typed(output, kind or sequence_type(tensor_type("float")))])


def choose(then_nodes, then_output, else_nodes, else_output, kind=None):
    return node("If", ["cond"], ["y"], then_branch=branch(then_nodes, then_output, kind),
                else_branch=branch(else_nodes, else_output, kind))


def loop_body(nodes, states, outputs, parts=(), cond="cond_in"):
    """The graph of a Loop; states and outputs: {name: type}."""
    return graph(nodes, [value("i", "int64", []), value("cond_in", "bool", []), *[typed(*pair) for pair in states.items()]],
                 [value(cond, "bool", []), *[typed(*pair) for pair in outputs.items()], *[value(name, "float") for name in parts]])


FLOATS, TENSOR = sequence_type(tensor_type("float")), tensor_type("float")
GROW = loop_body([node("Add", ["t", "k"], ["u"]), node("SequenceInsert", ["s", "u"], ["r"])], {"s": FLOATS, "t": TENSOR},
                 {"r": FLOATS, "u": TENSOR})
CONSTRUCT = [node("SequenceConstruct", ["a", "b"], ["s"])]
PAIR = [node("Neg", ["a"], ["na"]), node("SequenceConstruct", ["na", "b"], ["p"])]
SUM_ALL = [node("SequenceLength", ["s"], ["n"]), node("Loop", ["n", "", "zero"], ["y"], body=loop_body(
    [node("SequenceAt", ["s", "i"], ["e"]), node("ReduceSum", ["e"], ["sum"], keepdims=0), node("Add", ["t", "sum"], ["u"])],
    {"t": TENSOR}, {"u": TENSOR}))]


def choice(condition):
    return [-A, B] if condition else [A, B]


def grown(steps):
    return [A + k + 1 for k in range(steps)]


CONTROL = [
    *[Case(f"a branch with sequences of equal lengths, {cond}", CONSTRUCT + [choose(PAIR, "p", [node("Identity", ["s"], ["q"])], "q")],
           {"a": A, "b": B, "cond": np.array(cond)}, {"y": choice(cond)}) for cond in (True, False)],
    *[Case(f"with tensors of other shapes, {cond}",
           CONSTRUCT + [choose([node("Transpose", ["a"], ["ta"]), node("SequenceConstruct", ["ta", "b"], ["p"])], "p", [], "s")],
           {"a": A, "b": B, "cond": np.array(cond)}, {"y": [A.T if cond else A, B]}) for cond in (True, False)],
    *[Case(f"with sequences of other lengths, {cond}",
           CONSTRUCT + [choose([node("SequenceErase", ["s"], ["p"])], "p", [], "s")],
           {"a": A, "b": B, "cond": np.array(cond)}, {"y": [A] if cond else [A, B]}) for cond in (True, False)],
    *[Case(f"with optional values, {cond}",
           [choose([node("Optional", ["a"], ["p"])], "p", [node("Optional", ["b"], ["q"])], "q", optional_type(TENSOR))],
           {"a": A, "b": B, "cond": np.array(cond)}, {"y": Optional(A if cond else B)}) for cond in (True, False)],
    Case("branches that give nothing", [choose([node("Optional", [], ["p"], type=TENSOR)], "p",
                                               [node("Optional", [], ["q"], type=TENSOR)], "q", optional_type(TENSOR)),
                                        node("OptionalHasElement", ["y"], ["h"])],
         {"cond": np.array(True)}, {"h": np.array(False)}),
    Case("a loop that makes a sequence longer", [node("SequenceEmpty", [], ["e"]), node("Loop", ["m", "", "e", "a"], ["y", "z"], body=GROW)],
         {"a": A}, {"y": grown(3), "z": A + 3}, {"m": at(3), "k": np.float32(1)}),
    Case("as often as an input says", [node("SequenceEmpty", [], ["e"]), node("Loop", ["m", "", "e", "a"], ["y", "z"], body=GROW)],
         {"a": A, "m": at(2)}, {"y": grown(2), "z": A + 2}, {"k": np.float32(1)}),
    Case("or not at all", [node("Loop", ["m", "", "e", "a"], ["y", "z"], body=GROW)],
         {"a": A, "e": [B], "m": at(0)}, {"y": [B], "z": A}, {"k": np.float32(1)}),
    Case("a loop over a sequence", SUM_ALL, {"s": [A, LINE, B]}, {"y": A.sum() + LINE.sum() + B.sum()}, {"zero": np.float32(0)}),
    Case("loops in loops that make sequences", [
        node("SequenceEmpty", [], ["e"]),
        node("Loop", ["two", "", "e"], ["y"], body=loop_body(
            [node("Loop", ["two", "", "e", "a"], ["inner", "last"], body=loop_body(
                [node("Mul", ["t", "k"], ["u"]), node("SequenceInsert", ["v", "u"], ["w"])], {"v": FLOATS, "t": TENSOR},
                {"w": FLOATS, "u": TENSOR})),
             node("ConcatFromSequence", ["inner"], ["all"], axis=0), node("SequenceInsert", ["s", "all", "zero"], ["r"])],
            {"s": FLOATS}, {"r": FLOATS}))],
         {"a": A}, {"y": [np.concatenate([A * 2, A * 4])] * 2}, {"two": at(2), "k": np.float32(2), "zero": at(0)}),
    Case("a scan that reads a sequence around it", [
        node("SequenceConstruct", ["a", "b"], ["s"]),
        node("Scan", ["a"], ["y"], num_scan_inputs=1, body=graph(
            [node("SequenceAt", ["s", "one"], ["e"]), node("Add", ["row", "e"], ["p"])], [value("row", "float")], [value("p", "float")]))],
         {"a": A, "b": B}, {"y": np.stack([A[0] + B, A[1] + B])}, {"one": at(1)}),
    Case("a function of a sequence and an optional value", [node("Take", ["s", "o"], ["y", "z"], domain="my")],
         {"s": [A, B], "o": Optional(LINE)}, {"y": B, "z": LINE}, {"one": at(1)}, opset={"": 17, "my": 1}, functions=[
             function("my", "Take", ["s", "o"], ["e", "f"], [
                 node("SequenceLength", ["s"], ["n"]), node("Constant", [], ["one"], value_int=1), node("Sub", ["n", "one"], ["p"]),
                 node("SequenceAt", ["s", "p"], ["e"]), node("OptionalGetElement", ["o"], ["f"])])]),
]

# Loops that run as an operator: states of a fixed number of tensors. Models of x and m, and their output.
TURN = loop_body([node("SequenceAt", ["s", "zero"], ["e"]), node("SequenceErase", ["s", "zero"], ["r"]),
                  node("Neg", ["e"], ["f"]), node("SequenceInsert", ["r", "f"], ["t"])], {"s": FLOATS}, {"t": FLOATS})


def turned(steps):
    items = [A, -A, A * A]
    for _ in range(steps):
        items = items[1:] + [-items[0]]
    return items


AT = model(graph([node("SequenceConstruct", ["x", "n"], ["s"]), node("SequenceAt", ["s", "p"], ["y"])],
                 [value("x", "float", A.shape), value("n", "float", A.shape), value("p", "int32", [1])], [value("y", "float")]), opset=17)
# A loop over a sequence, as often as an input says.
OVER = model(graph([node("SequenceConstruct", ["x", "n", "x"], ["s"]), node("Loop", ["m", "", "x"], ["y"], body=loop_body(
    [node("SequenceAt", ["s", "i"], ["e"]), node("Sub", ["e", "t"], ["u"])], {"t": TENSOR}, {"u": TENSOR}))],
                   [value("x", "float", A.shape), value("n", "float", A.shape), value("m", "int64", [])], [value("y", "float")]), opset=17)


def over(steps):
    t = A
    for each in [A, B, A][:steps]:
        t = each - t
    return t


ROLLED = model(graph(
    [node("Neg", ["x"], ["n"]), node("Mul", ["x", "x"], ["q"]), node("SequenceConstruct", ["x", "n", "q"], ["s"]),
     node("Loop", ["m", "", "s"], ["y"], body=TURN)],
    [value("x", "float", A.shape), value("m", "int64", [])], [typed("y", FLOATS)],
    [tensor("zero", "int64", [], [0])]), opset=17)


# ---- optional values ----

OPTIONALS = [
    Case("an optional tensor", [node("Optional", ["x"], ["o"]), node("OptionalGetElement", ["o"], ["y"]),
                                node("OptionalHasElement", ["o"], ["h"])], {"x": A}, {"y": A, "h": np.array(True)}, opset=15),
    Case("an absent one", [node("Optional", [], ["o"], type=tensor_type("float", [2])), node("OptionalHasElement", ["o"], ["h"]),
                           node("Identity", ["o"], ["y"])], {}, {"h": np.array(False), "y": Optional(None, A)}, opset=16),
    Case("an optional sequence", [node("Optional", ["s"], ["o"]), node("OptionalGetElement", ["o"], ["y"])], {"s": [A, LINE]},
         {"y": [A, LINE], "o": Optional([A, LINE])}),
    Case("since operator set 18, tensors and sequences have themselves as elements",
         [node("OptionalHasElement", ["x"], ["h"]), node("OptionalHasElement", ["s"], ["g"]), node("OptionalHasElement", [], ["f"]),
          node("OptionalGetElement", ["x"], ["y"]), node("OptionalGetElement", ["s"], ["z"])],
         {"x": A, "s": [LINE]}, {"h": np.array(True), "g": np.array(True), "f": np.array(False), "y": A, "z": [LINE]}, opset=18),
    *[Case(f"an input that is an optional {what}, {'there' if given is not None else 'absent'}",
           [node("OptionalHasElement", ["x"], ["h"]), node("Identity", ["x"], ["y"]),
            node("If", ["h"], ["z"], then_branch=graph([node("OptionalGetElement", ["x"], ["e"])], [], [typed("e", kind)]),
                 else_branch=graph([node("Identity", ["deflt"], ["d"])], [], [typed("d", kind)]))],
           {"x": Optional(given, deflt), "deflt": deflt},
           {"h": np.array(given is not None), "y": Optional(given, deflt), "z": deflt if given is None else given}, opset=18)
      for what, kind, deflt, given in (("tensor", TENSOR, B, A), ("tensor", TENSOR, B, None), ("sequence", FLOATS, [B], [A, LINE]),
                                       ("sequence", FLOATS, [B], None), ("sequence", FLOATS, [B], []))],
]


# ---- inputs and outputs ----

PORTS = [
    Case("sequences as inputs and outputs, between tensors",
         [node("Identity", ["s"], ["t"]), node("Add", ["a", "b"], ["c"]), node("SequenceInsert", ["e", "a"], ["f"])],
         {"a": A, "s": [A, LINE, np.float32(2)], "e": [], "b": B}, {"t": [A, LINE, np.float32(2)], "c": A + B, "f": [A]}),
    Case("an empty sequence through a model", [node("Identity", ["s"], ["t"]), node("Neg", ["a"], ["b"])], {"s": [], "a": A},
         {"t": [], "b": -A}),
    Case("outputs that are one input", [node("SequenceConstruct", ["a", "a"], ["s"]), node("Identity", ["s"], ["t"])],
         {"a": A}, {"s": [A, A], "t": [A, A]}),
    Case("a sequence of integers", [node("SequenceAt", ["s", "p"], ["y"])], {"s": [ints(1), ints(2, 3)]}, {"y": ints(2, 3)},
         {"p": at(-1)}),
    Case("values of a sequence that decide shapes", [node("SequenceAt", ["s", "p"], ["e"]), node("Reshape", ["a", "e"], ["y"])],
         {"a": A, "s": [ints(6), ints(3, 2)]}, {"y": A.reshape(3, 2)}, {"p": at(1)}),
]


# ---- what is rejected ----

def wrong(sentence, nodes, inputs, outputs, words, constants=None, opset=17):
    return Case(sentence, nodes, inputs, outputs, constants, opset), words


def position_wrong(op_type, position, words, length=3):
    sequence = [A] * length
    names = ["s", "a", "p"] if op_type == "SequenceInsert" else ["s", "p"]
    return wrong(f"{op_type} at {position} of {length}", [node(op_type, names, ["y"])], {"s": sequence, "a": A},
                 {"y": A if op_type == "SequenceAt" else [A]}, words, {"p": at(position)})


NESTED = sequence_type(FLOATS)
WRONG = [
    position_wrong("SequenceAt", 3, "the position is 3 in a sequence of 3 tensors, expected -3 to 2"),
    position_wrong("SequenceAt", -4, "the position is -4"),
    position_wrong("SequenceAt", BELOW, "the position is -9223372036854775808"),
    position_wrong("SequenceAt", 0, "the sequence is empty", 0),
    position_wrong("SequenceErase", 3, "expected -3 to 2"),
    position_wrong("SequenceErase", 0, "the sequence is empty", 0),
    position_wrong("SequenceInsert", 4, "expected -3 to 3"),
    position_wrong("SequenceInsert", -4, "expected -3 to 3"),
    wrong("a position of two elements", [node("SequenceAt", ["s", "p"], ["y"])], {"s": [A]}, {"y": A}, "2 elements, expected 1",
          {"p": ints(0, 0)}),
    wrong("a position that is no integer", [node("SequenceAt", ["s", "p"], ["y"])], {"s": [A]}, {"y": A}, "expected TL_INT64",
          {"p": np.float32(0)}),
    wrong("a tensor for a sequence", [node("SequenceLength", ["a"], ["y"])], {"a": A}, {"y": at(1)},
          "input 0, 'a', is a tensor, expected a sequence"),
    wrong("a sequence for a tensor", [node("Neg", ["s"], ["y"])], {"s": [A, B]}, {"y": A},
          "input 0, 's', is a sequence of 2 tensors, expected a tensor"),
    wrong("an optional value for a tensor", [node("Neg", ["o"], ["y"])], {"o": Optional(A)}, {"y": A},
          "input 0, 'o', is an optional value, expected a tensor"),
    wrong("an optional value for a sequence", [node("SequenceLength", ["o"], ["y"])], {"o": Optional([A])}, {"y": at(1)},
          "is an optional value, expected a sequence"),
    wrong("a sequence as an element of a sequence", [node("SequenceConstruct", ["s", "s"], ["y"])], {"s": [A]}, {"y": [A]},
          "is a sequence of 1 tensor, expected a tensor"),
    wrong("tensors of several types", [node("SequenceConstruct", ["a", "b"], ["y"])], {"a": A, "b": ints(1)}, {"y": [A]},
          "a tensor of type TL_INT64 in a sequence of TL_FLOAT"),
    wrong("a tensor of another type", [node("SequenceInsert", ["s", "b"], ["y"])], {"s": [A], "b": ints(1)}, {"y": [A]},
          "a tensor of type TL_INT64 in a sequence of TL_FLOAT"),
    wrong("a sequence of nothing", [node("SequenceConstruct", [], ["y"])], {"a": A}, {"y": [A]}, "input 0 is missing"),
    wrong("an absent element", [node("OptionalGetElement", ["o"], ["y"])], {"o": Optional(None, A)}, {"y": A},
          "is an absent optional value, expected one with an element"),
    wrong("an optional optional value", [node("Optional", ["o"], ["y"])], {"o": Optional(A)}, {"y": Optional(A)},
          "an optional value of an optional value"),
    wrong("an optional value without a type", [node("Optional", [], ["y"])], {"a": A}, {"y": Optional(None, A)}, "attribute 'type'"),
    wrong("an optional value of sequences of sequences", [node("Optional", [], ["y"], type=NESTED)], {"a": A},
          {"y": Optional(None, A)}, "attribute 'type'"),
    wrong("a type that is none", [node("Optional", [], ["y"], type=1)], {"a": A}, {"y": Optional(None, A)},
          "attribute 'type' is of type INT, expected TYPE_PROTO"),
    wrong("a sequence of strings", [node("SequenceEmpty", [], ["y"], dtype=99)], {"a": A}, {"y": [A]}, "attribute 'dtype'"),
    wrong("parts that are too short", [node("SplitToSequence", ["a", "l"], ["y"], axis=1)], {"a": A}, {"y": [A]},
          "2 parts in input 1 do not add up to 3", {"l": ints(1, 1)}),
    wrong("parts of negative lengths", [node("SplitToSequence", ["a", "l"], ["y"], axis=1)], {"a": A}, {"y": [A]},
          "do not add up to 3", {"l": ints(4, -1)}),
    wrong("parts whose lengths overflow", [node("SplitToSequence", ["a", "l"], ["y"], axis=1)], {"a": A}, {"y": [A]},
          "do not add up to 3", {"l": ints(2**63 - 1, 2**63 - 1, 5)}),
    wrong("parts of length 0", [node("SplitToSequence", ["a", "l"], ["y"])], {"a": A}, {"y": [A]}, "parts of length 0", {"l": at(0)}),
    wrong("an axis that is not there", [node("SplitToSequence", ["a"], ["y"], axis=2)], {"a": A}, {"y": [A]}, "axis 2"),
    wrong("more parts than operators", [node("SplitToSequence", ["x"], ["y"])], {"x": np.zeros(300000, np.float32)}, {"y": [A]},
          "300000 parts exceed the limit of 250000 operators"),
    wrong("nothing to concatenate", [node("ConcatFromSequence", ["s"], ["y"], axis=0)], {"s": []}, {"y": A}, "the sequence is empty"),
    wrong("no axis to concatenate along", [node("ConcatFromSequence", ["s"], ["y"])], {"s": [A]}, {"y": A}, "'axis'"),
    wrong("a new axis out of range", [node("ConcatFromSequence", ["s"], ["y"], axis=3, new_axis=1)], {"s": [A]}, {"y": A}, "axis 3"),
    wrong("shapes that do not fit", [node("ConcatFromSequence", ["s"], ["y"], axis=0, new_axis=1)], {"s": [A, LINE]}, {"y": A}, "shape"),
    wrong("a map of sequences of several lengths", [node("SequenceMap", ["s", "t"], ["y"], body=SCALE)],
          {"s": [A, A], "t": [A]}, {"y": [A]}, "input 1 is a sequence of 1 tensor, expected a tensor, or a sequence of 2"),
    wrong("a map without a graph", [node("SequenceMap", ["s"], ["y"])], {"s": [A]}, {"y": [A]}, "attribute 'body' is missing"),
    wrong("a map with too many inputs", [node("SequenceMap", ["s"], ["y"], body=SCALE)], {"s": [A]}, {"y": [A]}, "expected 1"),
    wrong("a map to sequences", [node("SequenceMap", ["s"], ["y"], body=graph([node("SequenceConstruct", ["e"], ["f"])],
                                                                              [value("e", "float")], [typed("f", FLOATS)]))],
          {"s": [A]}, {"y": [A]}, "an output of its graph is a sequence of 1 tensor, expected a tensor"),
    wrong("a sequence to be stacked", [node("Loop", ["m", ""], ["y"], body=loop_body(
        [node("SequenceEmpty", [], ["p"])], {}, {}, ["p"]))], {"a": A}, {"y": A},
          "an output of its graph is a sequence of 0 tensors, expected a tensor", {"m": at(2)}),
    wrong("a condition that is a sequence", [node("Loop", ["m", "", "a"], ["y"], body=loop_body(
        [node("SequenceConstruct", ["t"], ["p"])], {"t": TENSOR}, {"t": TENSOR}, cond="p"))], {"a": A}, {"y": A},
          "the condition is a sequence", {"m": at(2)}),
    wrong("a sequence where the interface has a tensor", [node("SequenceConstruct", ["a"], ["y"])], {"a": A}, {"y": A},
          "output 'y' is a sequence of 1 tensor, but a tensor in the model's interface"),
    wrong("a tensor where it has a sequence", [node("Neg", ["a"], ["y"])], {"a": A}, {"y": [A]},
          "output 'y' is a tensor, but a sequence in the model's interface"),
    wrong("an optional tensor where it has an optional sequence", [node("Optional", ["a"], ["y"])], {"a": A}, {"y": Optional([A])},
          "output 'y' is an optional value, but an optional sequence in the model's interface"),
]


def raw(nodes, inputs, outputs, constants=()):
    """A model, from what typed() returns."""
    return model(graph(nodes, inputs, outputs, constants), opset=17)


# A sentence, a model, arguments, and words of the message.
REJECTED = [
    ("a sequence of unknown length", raw([node("SequenceLength", ["s"], ["y"])], [typed("s", FLOATS)], [value("y", "int64")]), [],
     "input 's' is a sequence of unknown length; give its tensors (-i s=FILE.pb, or -i 's[0]=FILE' and so on), or its length "
     "(--shape 's=2', option 'shape')"),
    ("a sequence without end", raw([node("SequenceLength", ["s"], ["y"])], [typed("s", FLOATS)], [value("y", "int64")]),
     ["--shape", "s=2000000000"], "input 's' has 2000000000 tensors, more than the limit of 250000 operators"),
    ("a sequence of two dimensions", raw([node("SequenceLength", ["s"], ["y"])], [typed("s", FLOATS)], [value("y", "int64")]),
     ["--shape", "s=2x3"], "option 'shape' may give its length"),
    ("tensors of unknown shape", raw([node("SequenceLength", ["s"], ["y"])], [typed("s", FLOATS)], [value("y", "int64")]),
     ["--shape", "s=1"], "input 's[0]' has no shape"),
    ("sequences of sequences", raw([node("Identity", ["s"], ["y"])], [typed("s", NESTED)], [typed("y", NESTED)]), ["--shape", "s=1"],
     "input 's' has elements that are no tensors"),
    ("branches with sequences of other lengths", raw(
        [node("SequenceConstruct", ["a"], ["s"]), node("Greater", ["a", "a"], ["more"]), node("Cast", ["more"], ["cast"], to=1),
         node("ReduceMax", ["cast"], ["most"], keepdims=0), node("Cast", ["most"], ["cond"], to=9),
         choose([node("SequenceErase", ["s"], ["p"])], "p", [], "s")], [value("a", "float", [2, 3])], [typed("y", FLOATS)]), [],
     "lengths of sequences, and the condition is known only at run time"),
    ("a loop that makes a sequence longer, as often as data says", raw(
        [node("SequenceEmpty", [], ["e"]), node("Cast", ["a"], ["m"], to=7), node("Loop", ["m", "", "e", "a"], ["y", "z"], body=GROW)],
        [value("a", "float", [])], [typed("y", FLOATS), value("z", "float")], [tensor("k", "float", [], [1.0])]), [],
     "changes its length from one iteration to the next, and the number of iterations is known only at run time"),
    ("a position that is computed", raw(
        [node("SequenceConstruct", ["a", "b"], ["s"]), node("Cast", ["b"], ["p"], to=7), node("SequenceAt", ["s", "p"], ["y"])],
        [value("a", "float", [2]), value("b", "float", [])], [value("y", "float")]), [],
     "input 1, 'p', determines shapes and depends on input 'b' (TL_FLOAT), which must be bound before compilation"),
    ("a map of too many elements", raw(
        [node("SplitToSequence", ["x"], ["s"]), node("SequenceMap", ["s"], ["y"], body=mapped(["e"], [("f", "float")], [
            node("Neg", ["e"], ["f"])]))], [value("x", "float", [30000])], [typed("y", FLOATS)]), [],
     "more than 20000 operators"),
    ("sequences of too many elements in all", raw(
        [node("SplitToSequence", ["x"], ["s0"]), *[node("SequenceInsert", [f"s{k}", "x", "zero"], [f"s{k + 1}"]) for k in range(60)],
         node("SequenceAt", ["s60", "zero"], ["y"])], [value("x", "float", [100000])], [value("y", "float")],
        [tensor("zero", "int64", [], [0])]), [], "the sequences of the model have more than 4194304 elements"),
]


def check_rejected(tap, lightnet):
    for case, words in WRONG:
        text = case.error(lightnet)
        tap.check(f"{case.sentence} is rejected", [] if text and words in text else [f"expected {words!r} in: {text!r}"])
    for sentence, bytes_of, arguments, words in REJECTED:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            with open(path, "wb") as file:
                file.write(bytes_of)
            done = call([lightnet, "compile", path, *arguments, "-o", os.path.join(folder, "out.json")])
            is_there = done.returncode == 1 and words in done.stderr
            tap.check(f"{sentence} is rejected", [] if is_there else [f"{done.returncode}: expected {words!r} in: {done.stderr!r}"])


# ---- files and arguments ----

IDENTITY = raw([node("Identity", ["s"], ["y"])], [typed("s", sequence_type(tensor_type("float", ["n"])))], [typed("y", FLOATS)])


def files_of_elements(folder):
    paths = [os.path.join(folder, f"{k}.npy") for k in range(2)]
    for k, path in enumerate(paths):
        np.save(path, LINE[:k + 2])
    return [word for k, path in enumerate(paths) for word in ("-i", f"s[{k}]={path}")]


def check_elements_by_name(tap, lightnet):
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "model.onnx"), os.path.join(folder, "out.npz")
        with open(path, "wb") as file:
            file.write(IDENTITY)
        faults = failure(call([lightnet, "run", path, *files_of_elements(folder), "-O", out]))
        if not faults:
            arrays = np.load(out)
            faults = [] if sorted(arrays) == ["y[0]", "y[1]"] and all(np.array_equal(arrays[f"y[{k}]"], LINE[:k + 2]) for k in (0, 1)) \
                else [f"{name}: {arrays[name].tolist()}" for name in arrays]
        tap.check("elements have files of their own, and are outputs of their own", faults)
        compiled = os.path.join(folder, "compiled.json")
        shapes = ["--shape", "s=2", "--shape", "s[0]=2", "--shape", "s[1]=3"]
        faults = failure(call([lightnet, "compile", path, *shapes, "-o", compiled])) or \
            failure(call([lightnet, "run", compiled, *files_of_elements(folder), "-O", out]))
        tap.check("a compiled model has an input for each element", faults)


def check_broken_files(tap, lightnet):
    """Cut short, nested, of wrong elements: an error, and no crash."""
    with tempfile.TemporaryDirectory() as folder:
        path, data = os.path.join(folder, "model.onnx"), os.path.join(folder, "s.pb")
        with open(path, "wb") as file:
            file.write(IDENTITY)
        item = tensor("", *elements(LINE))
        good = sequence_file([item] * 2)
        valid = [sequence_file([item] * k) for k in range(2)]  # where it may be cut
        nested = field(2, 3) + repeated(5, [good, good])
        cut = [good[:size] for size in range(1, len(good))]
        faults = []
        for content in [*cut, nested, field(2, 1) + field(3, b"\xff" * 9), field(2, 1) + field(3, b""), field(2, 1) * 2 + b"\x28"]:
            with open(data, "wb") as file:
                file.write(content)
            done = call([lightnet, "run", path, "-i", f"s={data}"])
            if done.returncode != (0 if content in valid else 1):
                faults.append(f"{content!r}: {done.returncode} {done.stderr}")
        tap.check("broken files of sequences are rejected", faults)


def check_differences(tap, lightnet):
    """verify names the tensor, or the length, that is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path, data, _ = Case("", [node("Identity", ["s"], ["y"])], {"s": [A, B]}, {"y": [A, C]}).write(folder)
        done = call([lightnet, "verify", path, data])
        tap.check("verify names the element that differs", [] if done.returncode == 1 and "DIFFERS: output 'y[1]'[0]" in done.stdout
                  else [done.stdout + done.stderr])
    with tempfile.TemporaryDirectory() as folder:
        path, data, _ = Case("", [node("Identity", ["s"], ["y"])], {"s": [A, B]}, {"y": [A]}).write(folder)
        done = call([lightnet, "verify", path, data])
        words = "DIFFERS: output 'y' has 2 tensors, expected 1"
        tap.check("verify names another length", [] if done.returncode == 1 and words in done.stdout else [done.stdout + done.stderr])
        done = call([lightnet, "verify", path, data, "--json"])
        tap.check("in JSON, too", [] if done.returncode == 1 and '"expected_length": 1' in done.stdout else [done.stdout + done.stderr])


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    for case in OPERATORS + MAPS + CONTROL + OPTIONALS + PORTS:
        tap.check(case.sentence, case.faults(lightnet))
    cases = [({"x": A, "m": at(steps)}, turned(steps)) for steps in (0, 1, 2, 7)]
    tap.check("a loop of a sequence of fixed length runs as an operator", compiled_faults_of(lightnet, ROLLED, cases) +
              ([] if "loop_cpu" in ops_of(lightnet, ROLLED) else [str(ops_of(lightnet, ROLLED))]))
    tap.check("SequenceAt accepts a position that is known only in runs", compiled_faults_of(lightnet, AT, [
        ({"x": A, "n": B, "p": ints(p, dtype=np.int32)}, [[A, B][p]]) for p in (0, 1, -1, -2)]))
    tap.check("a loop over a sequence runs as an operator", compiled_faults_of(lightnet, OVER, [
        ({"x": A, "n": B, "m": at(steps)}, [over(steps)]) for steps in range(4)]) +
              ([] if "loop_cpu" in ops_of(lightnet, OVER) else [str(ops_of(lightnet, OVER))]))
    for p in (2, -3):
        faults = compiled_faults_of(lightnet, AT, [({"x": A, "n": B, "p": ints(p, dtype=np.int32)}, [A])])
        tap.check(f"and rejects {p} of 2", [] if "exit status 1" in str(faults) and f"{p}" in str(faults) else [str(faults)])
    check_elements_by_name(tap, lightnet)
    check_differences(tap, lightnet)
    check_broken_files(tap, lightnet)
    check_rejected(tap, lightnet)
    tap.end()


if __name__ == "__main__":
    main()
