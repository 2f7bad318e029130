# SPDX-License-Identifier: Apache-2.0
"""The axes along which models grow: for each, how to write a model of n such parts and what to do with it.

A step of an axis is a command line of lightnet: MODEL is the file that `make` wrote, the names of STEPS are
the outputs of earlier steps.
"""
import collections
import functools
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/onnx"))
from onnx_writer import field, function, graph, model, node, ref, repeated, sparse_tensor, tensor, value  # pylint: disable=wrong-import-position

# A step's name, and its command; the steps of an axis run in this order.
STEPS = {
    "show": ["show", "{model}"],
    "compile": ["compile", "{model}", "-o", "{compiled}"],
    "run": ["bench", "{compiled}", "--seconds", "0"],
    "random": ["bench", "{model}", "--seconds", "0"],
    "given": ["run", "{model}"],
    "convert": ["convert", "{model}", "-o", "{ir}", "--force"],
    "again": ["compile", "{ir}", "-o", "{again}"],
    "graph": ["convert", "{ir}", "-o", "{graph}", "--to", "nnvm", "--force"],
    "back": ["show", "{graph}"],
}
ALL = ("show", "compile", "run", "convert", "again")

# `make(n)` returns the model's bytes, or the files' bytes by name, the model's being the first; `per`: how many of the
# model's parts make one of n, where n of them would be too large for a limit, and `why` names it; `options`: arguments
# of each command, of n; `fails`: the error that is expected.
Axis = collections.namedtuple("Axis", "name make steps suffix per why options fails")
AXES = []


def axis(name, *steps, suffix="onnx", per=1, why="", options=None, fails=""):
    """Enters the function as the `make` of an axis."""
    def enter(make):
        AXES.append(Axis(name, make, steps or ALL, suffix, per, why, options, fails))
        return make
    return enter


def onnx(nodes, outputs, *, inputs=(("x", [4]),), weights=(), opset=17, functions=(), extra=b"", in_graph=b""):
    """A model whose inputs (name, dims) and outputs (names of tensors of shape [4], or values) are floats."""
    ins = [value(name, "float", dims) for name, dims in inputs]
    outs = [value(each, "float", [4]) if isinstance(each, str) else each for each in outputs]
    return model(type(graph([], [], []))(graph(nodes, ins, outs, weights) + in_graph), opset=opset, functions=functions) + extra


def names(stem, n):
    return [f"{stem}{i}" for i in range(n)]


def relus(n, source="x", stem="y"):
    """n nodes that read one tensor."""
    return [node("Relu", [source], [name]) for name in names(stem, n)]


def chain(n, make, stem="t"):
    """The nodes of n links of a chain, and its last tensor: make(i, last, name) makes the nodes, or the node, of link i."""
    nodes, last = [], "x"
    for i in range(n):
        made = make(i, last, f"{stem}{i}")
        nodes += made if isinstance(made, list) else [made]
        last = f"{stem}{i}"
    return nodes, last


def named_chain(n, stem):
    nodes, last = chain(n, lambda i, x, y: node("Relu" if i % 2 else "Neg", [x], [y], name=f"{stem}_{i}"), stem=stem)
    return onnx(nodes, [last])


def constants(n, dims=()):
    return [tensor(f"c{i}", "float", dims, [i]) for i in range(n)]


def sub_constant(i, last, name):
    return node("Sub", [last, f"c{i}"], [name])


# ---- nodes ----

@axis("nodes: chain", *ALL, "graph", "back")
def nodes_chain(n):
    kinds = ("Relu", "Identity", "Add")
    nodes, last = chain(n, lambda i, x, y: node(kinds[i % 3], [x, "one"] if i % 3 == 2 else [x], [y]))
    return onnx(nodes, [last], weights=[tensor("one", "float", [], [1])])


@axis("nodes: exported reshapes")
def exported(n):
    nodes, last = [], "x"
    for i in range(n // 10):
        t = f"t{i}"
        nodes += [node("Shape", [last], [f"{t}s"]), node("Gather", [f"{t}s", "zero"], [f"{t}f"], axis=0),
                  node("Unsqueeze", [f"{t}f", "axes"], [f"{t}l"]), node("Concat", [f"{t}l", "rest"], [f"{t}d"], axis=0),
                  node("Reshape", [last, f"{t}d"], [t])]
        last = t
        for k in range(5):
            nodes.append(node("Relu" if k % 2 else "Neg", [last], [f"{t}_{k}"]))
            last = f"{t}_{k}"
    return onnx(nodes, [value(last, "float", [2, 8])], inputs=[("x", [2, 8])],
                weights=[tensor("zero", "int64", [], [0]), tensor("axes", "int64", [1], [0]), tensor("rest", "int64", [1], [-1])])


@axis("nodes: dead")
def dead(n):
    return onnx(relus(n, stem="d") + [node("Neg", ["x"], ["y"])], ["y"])


@axis("nodes: equal")
def equal(n):
    return onnx(relus(n) + [node("Sum", names("y", n), ["z"])], ["z"])


@axis("nodes: folded by the reader")
def folded(n):
    nodes, last = [node("Shape", ["x"], ["s0"])], "s0"
    for i in range(1, n):
        nodes.append(node("Add", [last, "one"], [f"s{i}"]))
        last = f"s{i}"
    return onnx(nodes + [node("Reshape", ["x", "shape"], ["y"])], ["y", value(last, "int64", [1])],
                weights=[tensor("one", "int64", [1], [1]), tensor("shape", "int64", [1], [4])])


@axis("nodes: Constant")
def constant_nodes(n):
    nodes, last = chain(n // 2, lambda i, x, y: [node("Constant", [], [f"c{i}"], value_float=float(i)), node("Add", [x, f"c{i}"], [y])])
    return onnx(nodes, [last])


@axis("nodes: tree")
def tree(n):
    nodes = [node("Mul", ["x", "x"], ["t1"])]
    for i in range(2, n):
        nodes.append(node("Add" if i % 2 else "Sub", [f"t{i // 2}", "x"], [f"t{i}"]))
    return onnx(nodes + [node("Sum", [f"t{i}" for i in range(n // 2, n)], ["y"])], ["y"])


@axis("nodes: names of 2,000 characters", per=16, why="64,000 would be 400 MB")
def long_names(n):
    return named_chain(n // 16, "n" * 2000)


@axis("nodes: a name of n characters, 20 times")
def huge_names(n):
    return named_chain(20, "n" * n)


@axis("nodes: all with the same name")
def one_name(n):
    nodes, last = chain(n, lambda i, x, y: node("Relu" if i % 2 else "Neg", [x], [y], name="same"))
    return onnx(nodes, [last])


@axis("views: chain")
def views(n):
    nodes, last = chain(n, lambda i, x, y: node("Reshape", [x, "ab"[i % 2]], [y]))
    return onnx(nodes + [node("Neg", [last], ["z"])], [value("z", "float", None)],
                weights=[tensor("a", "int64", [2], [2, 2]), tensor("b", "int64", [1], [4])])


@axis("views: of one tensor")
def views_of_one(n):
    nodes = [node("Neg", ["x"], ["t"])]
    for i in range(n // 2):
        nodes += [node("Reshape", ["t", "ab"[i % 2]], [f"v{i}"]), node("Relu" if i % 3 else "Abs", [f"v{i}"], [f"y{i}"])]
    return onnx(nodes, [value(f"y{i}", "float", None) for i in range(n // 2)],
                weights=[tensor("a", "int64", [2], [2, 2]), tensor("b", "int64", [1], [4])])


# ---- lists in a model ----

@axis("inputs", *ALL, "random", "graph", "back")
def inputs_used(n):
    return onnx([node("Sum", names("x", n), ["y"])], ["y"], inputs=[(name, [4]) for name in names("x", n)])


@axis("inputs: unused")
def inputs_unused(n):
    return onnx([node("Relu", ["x0"], ["y"])], ["y"], inputs=[(name, [4]) for name in names("x", n)])


@axis("inputs: with defaults")
def inputs_defaults(n):
    return onnx([node("Sum", names("x", n) + ["x"], ["y"])], ["y"], inputs=[("x", [4])] + [(name, [4]) for name in names("x", n)],
                weights=[tensor(name, "float", [4], [1, 2, 3, 4]) for name in names("x", n)])


@axis("inputs: open sizes set by --shape", "show", "convert", per=4, why="one command line holds 2 MB",
      options=lambda n: [f"--shape=n{i}=2" for i in range(n // 4)])
def open_sizes(n):
    count = n // 4
    return onnx([node("Neg", [f"x{i}"], [f"y{i}"]) for i in range(count)], [value(f"y{i}", "float", None) for i in range(count)],
                inputs=[(f"x{i}", [f"n{i}"]) for i in range(count)])


@axis("inputs: shapes set by --shape", "show", "convert", per=4, why="one command line holds 2 MB",
      options=lambda n: [f"--shape=x{i}=2" for i in range(n // 4)])
def given_shapes(n):
    return open_sizes(n)


@axis("inputs: files of -i", "given", per=8, why="one command line holds 2 MB",
      options=lambda n: ["-ix%d={folder}/x.npy" % i for i in range(n // 8)])
def given_files(n):
    count = n // 8
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"
    header += b" " * (117 - len(header)) + b"\n"
    npy = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack("<4f", 1, 2, 3, 4)
    return {"model.onnx": inputs_used(count), "x.npy": npy}


@axis("outputs", *ALL, "graph", "back")
def outputs(n):
    return onnx([node("Add", ["x", f"c{i % 7}"], [name]) for i, name in enumerate(names("y", n))], names("y", n), weights=constants(7))


@axis("outputs: of equal nodes")
def outputs_equal(n):
    return onnx(relus(n), names("y", n))


@axis("outputs: constants")
def outputs_constant(n):
    return onnx([], names("c", n), weights=[tensor(name, "float", [4], [1, 2, 3, 4]) for name in names("c", n)])


@axis("initializers", *ALL, "graph", "back")
def initializers(n):
    nodes, last = chain(n, sub_constant)
    return onnx(nodes, [last], weights=[tensor(f"c{i}", "float", [4], [i, 1, 2, 3]) for i in range(n)])


@axis("initializers: unused")
def initializers_unused(n):
    return onnx([node("Relu", ["x"], ["y"])], ["y"], weights=constants(n, [1]))


@axis("initializers: sparse")
def initializers_sparse(n):
    count = n // 4
    sparse = [sparse_tensor([4], tensor(f"c{i}", "float", [1], [i]), tensor("", "int64", [1], [2])) for i in range(count)]
    nodes, last = chain(count, sub_constant)
    return onnx(nodes, [last], in_graph=repeated(15, sparse))


@axis("initializers: in one external file")
def initializers_external(n):
    entry = lambda key, text: field(1, key) + field(2, text)  # StringStringEntryProto
    weights = [field(1, 4) + field(2, 1) + field(8, f"c{i}") + field(13, entry("location", "w.bin")) +
               field(13, entry("offset", str(16 * i))) + field(13, entry("length", "16")) + field(14, 1) for i in range(n)]
    nodes, last = chain(n, sub_constant)
    return {"model.onnx": onnx(nodes, [last], weights=weights), "w.bin": struct.pack("<4f", 1, 2, 3, 4) * n}


@axis("initializers: each in an external file", per=8, why="64,000 files")
def initializers_files(n):
    weights = [field(1, 4) + field(2, 1) + field(8, f"c{i}") +
               field(13, field(1, "location") + field(2, f"w{i}.bin")) + field(14, 1) for i in range(n // 8)]
    nodes, last = chain(n // 8, sub_constant)
    files = {f"w{i}.bin": struct.pack("<4f", 1, 2, 3, 4) for i in range(n // 8)}
    return {"model.onnx": onnx(nodes, [last], weights=weights), **files}


@axis("operator sets imported", "show", "compile")
def opset_imports(n):
    return onnx(relus(1), ["y0"], opset={**{f"d{i}": 1 for i in range(n)}, "": 17})


@axis("operator sets imported: each with a function", "show", "compile")
def opset_functions(n):
    count = n // 2
    functions = [function(f"d{i}", "F", ["a"], ["b"], [node("Relu" if i % 2 else "Neg", ["a"], ["b"])]) for i in range(count)]
    nodes, last = chain(count, lambda i, x, y: node("F", [x], [y], domain=f"d{i}"))
    return onnx(nodes, [last], opset={**{f"d{i}": 1 for i in range(count)}, "": 17}, functions=functions)


@axis("metadata, value_info and documentation", "show", "compile")
def metadata(n):
    infos = repeated(13, [value(f"v{i}", "float", [4]) for i in range(n)])
    return onnx(relus(1), ["y0"], in_graph=infos + field(10, "d" * n), extra=repeated(14, [field(1, f"k{i}") + field(2, "v") for i in range(n)]))


# ---- functions ----

MINE = {"mine": 1, "": 17}

@axis("functions: each called once")
def functions_called(n):
    count = n // 2
    functions = [function("mine", f"F{i}", ["a"], ["b"], [node("Relu" if i % 2 else "Neg", ["a"], ["b"])]) for i in range(count)]
    nodes, last = chain(count, lambda i, x, y: node(f"F{i}", [x], [y], domain="mine"))
    return onnx(nodes, [last], opset=MINE, functions=functions)


@axis("functions: never called", "show", "compile")
def functions_unused(n):
    functions = [function("mine", f"F{i}", ["a"], ["b"], [node("Relu", ["a"], ["b"])]) for i in range(n)]
    return onnx(relus(1), ["y0"], opset=MINE, functions=functions)


@axis("functions: one called n times")
def function_often(n):
    functions = [function("mine", "F", ["a"], ["b"], [node("Relu", ["a"], ["c"]), node("Neg", ["c"], ["b"])])]
    nodes, last = chain(n // 2, lambda i, x, y: node("F", [x], [y], domain="mine"))
    return onnx(nodes, [last], opset=MINE, functions=functions)


@axis("functions: calls nested 30 deep")
def functions_deep(n):
    functions = [function("mine", "F0", ["a"], ["b"], [node("Neg", ["a"], ["b"])])]
    functions += [function("mine", f"F{i}", ["a"], ["b"], [node(f"F{i - 1}", ["a"], ["b"], domain="mine")], opset=MINE) for i in range(1, 30)]
    nodes, last = chain(n // 8, lambda i, x, y: node("F29", [x], [y], domain="mine"))
    return onnx(nodes, [last], opset=MINE, functions=functions)


@axis("functions: inputs and outputs of one function")
def function_wide(n):
    count = n // 2
    body = [node("Neg", [f"a{i}"], [f"b{i}"]) for i in range(count)]
    functions = [function("mine", "F", names("a", count), names("b", count), body)]
    first = [node("Add", ["x", "x"], [name]) for name in names("t", count)]
    return onnx(first + [node("F", names("t", count), names("y", count), domain="mine")], names("y", count), opset=MINE, functions=functions)


@axis("functions: attributes of one function", "show", "compile")
def function_attributes(n):
    count = n // 2
    functions = [function("mine", "F", ["a"], names("b", count),
                          [node("LeakyRelu", ["a"], [f"b{i}"], alpha=ref(f"k{i}", "FLOAT")) for i in range(count)], attributes=names("k", count))]
    return onnx([node("F", ["x"], names("y", count), domain="mine", **{f"k{i}": 0.5 + i for i in range(count)})], names("y", count),
                opset=MINE, functions=functions)


@axis("functions: default attributes of one function", "show", "compile")
def function_defaults(n):
    count = n // 2
    functions = [function("mine", "F", ["a"], names("b", count),
                          [node("LeakyRelu", ["a"], [f"b{i}"], alpha=ref(f"k{i}", "FLOAT")) for i in range(count)],
                          defaults={f"k{i}": 0.5 + i for i in range(count)})]
    return onnx([node("F", ["x"], names("y", count), domain="mine")], names("y", count), opset=MINE, functions=functions)


# ---- one node ----

@axis("one node: outputs of a Split", *ALL, "graph", "back")
def split(n):
    return onnx([node("Split", ["x"], names("y", n), axis=0)], [value(name, "float", [1]) for name in names("y", n)], inputs=[("x", [n])], opset=17)


@axis("one node: inputs of a Concat", *ALL, "graph", "back")
def concat(n):
    first = [node("Add", ["x", f"c{i % 7}"], [name]) for i, name in enumerate(names("t", n))]
    return onnx(first + [node("Concat", names("t", n), ["y"], axis=0)], [value("y", "float", [4 * n])], weights=constants(7))


@axis("one node: a Concat of different tensors")
def concat_different(n):
    # Of 64 bytes, so that their producers can write them where the Concat wants them.
    first = [node("Add", ["x", f"c{i}"], [name]) for i, name in enumerate(names("t", n))]
    return onnx(first + [node("Concat", names("t", n), ["y"], axis=0)], [value("y", "float", [16 * n])], inputs=[("x", [16])], weights=constants(n))


@axis("one node: a Concat of constants")
def concat_constants(n):
    return onnx([node("Concat", names("c", n), ["w"], axis=0), node("Add", ["w", "x"], ["y"])], [value("y", "float", [n])],
                inputs=[("x", [1])], weights=constants(n, [1]))


@axis("one node: one tensor concatenated n times", *ALL, "graph", "back")
def concat_same(n):
    return onnx([node("Concat", ["x"] * n, ["y"], axis=0)], [value("y", "float", [4 * n])])


@axis("one node: inputs of a Sum, all rewritten")
def sum_rewritten(n):
    nodes = [node("Add", ["x", f"c{i % 7}"], [f"s{i}"]) for i in range(n)] + [node("Identity", [f"s{i}"], [f"t{i}"]) for i in range(n)]
    return onnx(nodes + [node("Sum", names("t", n), ["y"])], ["y"], weights=constants(7))


@axis("one node: inputs of a Max")
def maximum(n):
    nodes = [node("Add", ["x", f"c{i}"], [f"t{i}"]) for i in range(n)]
    return onnx(nodes + [node("Max", names("t", n), ["y"])], ["y"], weights=constants(n))


@axis("one node: Split and Concat")
def split_concat(n):
    nodes = [node("Split", ["x"], names("t", n), axis=0), node("Concat", list(reversed(names("t", n))), ["y"], axis=0)]
    return onnx(nodes, [value("y", "float", [n])], inputs=[("x", [n])])


@axis("one node: readers of a tensor", *ALL, "graph", "back")
def readers(n):
    return onnx([node("Neg", ["x"], ["t"])] + [node("Add", ["t", f"c{i}"], [f"y{i}"]) for i in range(n)], names("y", n), weights=constants(n))


@axis("one node: attributes")
def attributes(n):
    return onnx([node("Relu", ["x"], ["y"], **{f"k{i}": i for i in range(n)})], ["y"])


@axis("one node: elements of attributes")
def attribute_elements(n):
    ints = list(range(n))
    return onnx([node("Constant", [], ["c"], value_ints=ints), node("Split", ["big"], ["a", "b"], axis=0),
                 node("Gather", ["a", "c"], ["g"])], [value("g", "float", [n])], inputs=[("big", [2 * n])])


@axis("one node: omitted inputs")
def left_out(n):
    return onnx([node("Clip", ["x"] + [""] * n, ["y"])], ["y"])


# ---- bodies ----

def branch(i, reads="x"):
    """A graph for a branch: one node."""
    return graph([node("Neg" if i % 2 else "Abs", [reads], [f"b{i}"])], [], [value(f"b{i}", "float", [4])], name=f"g{i}")


def conditional(nodes, outputs, weights=()):
    return model(graph(nodes, [value("x", "float", [4]), value("c", "bool", [])], outputs, weights))


def if_of_branches(i, last, name):
    return node("If", ["c"], [name], then_branch=branch(2 * i, last), else_branch=branch(2 * i + 1, last))


@axis("subgraphs: chain of If")
def ifs(n):
    nodes, last = chain(n // 4, if_of_branches)
    return conditional(nodes, [value(last, "float", [4])])


@axis("subgraphs: independent If nodes")
def ifs_beside(n):
    nodes = [node("If", ["c"], [f"t{i}"], then_branch=branch(2 * i), else_branch=branch(2 * i + 1)) for i in range(n // 4)]
    return conditional(nodes, [value(f"t{i}", "float", [4]) for i in range(n // 4)])


@axis("subgraphs: If with a constant condition")
def ifs_known(n):
    nodes, last = chain(n // 4, if_of_branches)
    return onnx(nodes, [last], weights=[tensor("c", "bool", [], [True])])


def binary(depth, path="r"):
    """A graph of If nodes within If nodes, two to the power of depth leaves."""
    out = f"o{path}"
    if not depth:
        made = [node("Neg" if path[-1] == "0" else "Abs", ["x"], [out])]
    else:
        made = [node("If", ["c"], [out], then_branch=binary(depth - 1, path + "0"), else_branch=binary(depth - 1, path + "1"))]
    return graph(made, [], [value(out, "float", [4])], name=path)


@axis("subgraphs: tree of nested If")
def ifs_nested(n):
    inner = binary((n // 8).bit_length() - 1)
    nodes = [node("If", ["c"], ["y"], then_branch=inner, else_branch=branch(1))]
    return conditional(nodes, [value("y", "float", [4])])


@axis("subgraphs: chain of If nested 25 deep", per=1)
def ifs_deep(n):
    def link(_, last, name):
        inner = branch(0, last)
        for k in range(25):
            inner = graph([node("If", ["c"], [f"u{k}"], then_branch=inner, else_branch=branch(1, last))], [], [value(f"u{k}", "float", [4])], name="g")
        return node("If", ["c"], [name], then_branch=inner, else_branch=branch(1, last))
    nodes, last = chain(max(1, n // 200), link)
    return conditional(nodes, [value(last, "float", [4])])


@axis("subgraphs: outputs of an If")
def if_outputs(n):
    count = n // 2
    made = lambda kind: graph([node(kind, ["x"], [f"{kind}{i}"]) for i in range(count)], [], [value(f"{kind}{i}", "float", [4]) for i in range(count)], name=kind)
    nodes = [node("If", ["c"], names("y", count), then_branch=made("Neg"), else_branch=made("Abs"))]
    return conditional(nodes, [value(f"y{i}", "float", [4]) for i in range(count)])


@axis("subgraphs: tensors captured by an If")
def if_captures(n):
    count = n // 2
    first = [node("Add", ["x", f"c{i}"], [f"t{i}"]) for i in range(count)]
    made = lambda kind: graph([node(kind, names("t", count), [kind])], [], [value(kind, "float", [4])], name=kind)
    nodes = first + [node("If", ["c"], ["y"], then_branch=made("Sum"), else_branch=made("Max"))]
    return conditional(nodes, [value("y", "float", [4])], constants(count))


@axis("subgraphs: nodes of a branch")
def if_nodes(n):
    nodes, last = chain(n, lambda i, x, y: node("Neg" if i % 2 else "Relu", [x], [y]))
    long = graph(nodes, [], [value(last, "float", [4])], name="g")
    return conditional([node("If", ["c"], ["y"], then_branch=long, else_branch=branch(1))], [value("y", "float", [4])])


def loop_body(i, states=1):
    ins = [value("it", "int64", []), value("go", "bool", [])] + [value(f"s{k}", "float", [4]) for k in range(states)]
    nodes = [node("Identity", ["go"], ["on"])] + [node("Neg" if i % 2 else "Abs", [f"s{k}"], [f"r{k}"]) for k in range(states)]
    return graph(nodes, ins, [value("on", "bool", [])] + [value(f"r{k}", "float", [4]) for k in range(states)], name=f"g{i}")


@axis("subgraphs: chain of Loop")
def loops(n):
    nodes, last = chain(n // 8, lambda i, x, y: node("Loop", ["m", "", x], [y], body=loop_body(i)))
    return model(graph(nodes, [value("x", "float", [4]), value("m", "int64", [])], [value(last, "float", [4])]))


@axis("subgraphs: states of a Loop")
def loop_states(n):
    count = n // 4
    nodes = [node("Loop", ["m", ""] + ["x"] * count, names("y", count), body=loop_body(0, count))]
    return model(graph(nodes, [value("x", "float", [4]), value("m", "int64", [])], [value(f"y{i}", "float", [4]) for i in range(count)]))


@axis("subgraphs: iterations of an unrolled Loop", per=8, why="no more than 20,000 nodes are unrolled")
def loop_unrolled(n):
    nodes = [node("Loop", ["m", "", "x"], ["y"], body=loop_body(0))]
    return onnx(nodes, ["y"], weights=[tensor("m", "int64", [], [n // 8])])


@axis("subgraphs: scanned tensors of a Scan")
def scan(n):
    count = n // 8  # 64 iterations: more nodes than are unrolled, for any n
    ins = [value(f"a{k}", "float", [4]) for k in range(count)]
    body = graph([node("Neg", [f"a{k}"], [f"b{k}"]) for k in range(count)], ins, [value(f"b{k}", "float", [4]) for k in range(count)], name="g")
    nodes = [node("Scan", ["x"] * count, names("y", count), body=body, num_scan_inputs=count)]
    return onnx(nodes, [value(name, "float", [64, 4]) for name in names("y", count)], inputs=[("x", [64, 4])])


# ---- LightNet's IR ----

IR = ("show", "compile", "run", "convert")


def ir(ops, **more):
    return json.dumps({**more, "ops": ops}).encode()


def op(kind, name, ins, outs, params=None):
    """Tensors are pairs of an argument and a name; parameters are given by their names."""
    return {"name": name, "optype": kind,
            "tensors_in": [{"arg_name": arg, "name": tensor_name} for arg, tensor_name in ins],
            "tensors_out": [{"arg_name": arg, "name": tensor_name} for arg, tensor_name in outs],
            "params": [{"arg_name": key, "value": given} for key, given in (params or {}).items()]}


def create(name, dims, data=(0,)):
    """A `create` operator for an input or a constant."""
    return op("create", name, [], [("dst", name)],
              {"dtype": "TL_FLOAT", "dims": dims, "data": list(data), "ran": [0, 0], "from_file": False})


@axis("IR: elements of a constant", *IR, suffix="json")
def ir_data(n):
    return ir([create("c", [n], range(n)), op("forward", "f", [("src", "c")], [("dst", "y")])])


@axis("IR: parameters of an operator", "show", suffix="json", fails="unknown parameter")
def ir_params(n):
    return ir([create("x", [4]), op("forward", "f", [("src", "x")], [("dst", "y")], {f"k{i}": i for i in range(n)})])


@axis("IR: ignored members", "show", suffix="json")
def ir_members(n):
    return ir([create("x", [4]), op("forward", "f", [("src", "x")], [("dst", "y")])], **{f"k{i}": i for i in range(n)})


@axis("IR: unused bodies", *IR, suffix="json")
def ir_bodies(n):
    bodies = {f"b{i}": {"inputs": [f"x{i}"], "outputs": [f"y{i}"],
                        "ops": [create(f"x{i}", [4]), op("forward", f"f{i}", [("src", f"x{i}")], [("dst", f"y{i}")])]} for i in range(n // 4)}
    return ir([create("x", [4]), op("forward", "f", [("src", "x")], [("dst", "y")])], bodies=bodies)


# ---- the intermediate language ----

IL = ("show", "compile", "convert")
IL_INPUT = "create(| dst=x | dtype=TL_FLOAT, dims=[4], data=[0], ran=[0, 0], from_file=false);\n"


@axis("IL: operators", *IL, suffix="net")
def il_operators(n):
    return (IL_INPUT + "".join(f"relu(src=x | dst=y{i});\n" for i in range(n))).encode()


@axis("IL: calls of a macro", *IL, suffix="net")
def il_calls(n):
    return (IL_INPUT + "#define R(i) relu(src=x | dst=y##i);\n" + "".join(f"R({i})\n" for i in range(n))).encode()


@axis("IL: macros", *IL, suffix="net")
def il_macros(n):
    return (IL_INPUT + "".join(f"#define R{i} relu(src=x | dst=y{i});\nR{i}\n" for i in range(n))).encode()


@axis("IL: included files", *IL, suffix="net", per=8, why="no more than 10,000 are read")
def il_includes(n):
    parts = {f"part{i}": f"relu(src=x | dst=y{i});\n".encode() for i in range(n // 8)}
    return {"model.net": (IL_INPUT + "".join(f'#include "{name}"\n' for name in parts)).encode(), **parts}


# ---- graphs of NNVM and MXNet ----

GRAPH = ("show", "compile", "convert", "again")


def nnvm(nodes, heads, **attrs):
    """nodes: (op, name, inputs, attributes), inputs being (node, output)."""
    listed = [{"op": kind, "name": name, "inputs": [[at, k, 0] for at, k in ins], "attrs": given} for kind, name, ins, given in nodes]
    return json.dumps({"nodes": listed, "arg_nodes": [i for i, each in enumerate(nodes) if each[0] == "null"],
                       "heads": [[at, k, 0] for at, k in heads], "attrs": {"mxnet_version": ["int", 10500], **attrs}}).encode()


def variable(name, shape="(4,)"):
    return ("null", name, [], {"__shape__": shape})


@axis("graph: nodes", *GRAPH, suffix="json")
def graph_nodes(n):
    return nnvm([variable("x")] + [("relu" if i % 2 else "negative", f"t{i}", [(i, 0)], {}) for i in range(n)], [(n, 0)])


@axis("graph: variables and heads", *GRAPH, suffix="json")
def graph_variables(n):
    return nnvm([variable(f"x{i}") for i in range(n)] + [("relu", f"t{i}", [(i, 0)], {}) for i in range(n)], [(n + i, 0) for i in range(n)])


@axis("graph: inputs of a Concat", *GRAPH, suffix="json")
def graph_concat(n):
    return nnvm([variable("x")] + [("_plus_scalar", f"t{i}", [(0, 0)], {"scalar": str(i)}) for i in range(n)] +
                [("Concat", "y", [(i + 1, 0) for i in range(n)], {"dim": "0", "num_args": str(n)})], [(n + 1, 0)])


@axis("graph: outputs of a SliceChannel", *GRAPH, suffix="json")
def graph_split(n):
    return nnvm([variable("x", f"({n},)"), ("SliceChannel", "s", [(0, 0)], {"axis": "0", "num_outputs": str(n)})] +
                [("relu", f"t{i}", [(1, i)], {}) for i in range(n)], [(i + 2, 0) for i in range(n)])


@axis("graph: attributes of a node", "show", suffix="json", fails="unknown attribute")
def graph_attributes(n):
    return nnvm([variable("x"), ("relu", "y", [(0, 0)], {f"k{i}": "1" for i in reversed(range(n))})], [(1, 0)])


@axis("graph: attributes of the graph", "show", suffix="json")
def graph_members(n):
    return nnvm([variable("x"), ("relu", "y", [(0, 0)], {})], [(1, 0)], **{f"k{i}": ["int", i] for i in range(n)})


@axis("graph: names of 2,000 characters", *GRAPH, suffix="json", per=16, why="64,000 would be 400 MB")
def graph_long_names(n):
    stem = "n" * 2000
    return nnvm([variable("x")] + [("relu" if i % 2 else "negative", f"{stem}{i}", [(i, 0)], {}) for i in range(n // 16)], [(n // 16, 0)])


def weighted_graph(n):
    """A chain that adds n weights."""
    nodes = [variable("x")]
    for i in range(n):
        nodes += [variable(f"w{i}"), ("elemwise_add", f"t{i}", [(2 * i, 0), (2 * i + 1, 0)], {})]
    return nnvm(nodes, [(2 * n, 0)])


DATA = ("-f", "{folder}/weights")


@axis("weights: arrays of a params file", *GRAPH, suffix="json", options=lambda n: DATA)
def params_file(n):
    listed = [f"arg:w{i}".encode() for i in range(n)]
    data = struct.pack("<QQQ", 0x112, 0, n)
    array = struct.pack("<IiIqiii4f", 0xF993fac9, 0, 1, 4, 1, 0, 0, 1, 2, 3, 4)
    data += array * n + struct.pack("<Q", n) + b"".join(struct.pack("<Q", len(name)) + name for name in listed)
    return {"model.json": weighted_graph(n), "weights": data}


@axis("weights: tensors of a safetensors file", *GRAPH, suffix="json", options=lambda n: DATA)
def safetensors_file(n):
    header = json.dumps({f"w{i}": {"dtype": "F32", "shape": [4], "data_offsets": [16 * i, 16 * i + 16]} for i in range(n)}).encode()
    return {"model.json": weighted_graph(n), "weights": struct.pack("<Q", len(header)) + header + struct.pack("<4f", 1, 2, 3, 4) * n}


@axis("weights: blobs of a wts file", *GRAPH, suffix="json", options=lambda n: DATA)
def wts_file(n):
    lines = [f"w{i} 0 4 3f800000 40000000 3f800000 40000000" for i in range(n)]
    return {"model.json": weighted_graph(n), "weights": "\n".join([str(n)] + lines).encode() + b"\n"}
