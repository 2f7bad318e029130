#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: schemas.py LIGHTNET ONNX_SCHEMAS. Attributes, inputs and outputs that an operator does not have at its operator set, and
attributes of other types, are rejected. The tables of the reader, which the second program prints, are the schemas of the ONNX package."""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)
try:
    from onnx import defs
except ImportError:
    defs = None

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import CONTRIB, ML, call, error_of, write
from onnx_writer import attribute, field, function, graph, model, node, ref, repeated, tensor, value
from tap import Tap

ANY = 2 ** 31 - 1  # the package's number of variadic inputs
# Not of ONNX's set 1, but of ONNX Runtime's.
EARLY = {"LayerNormalization", "ThresholdedRelu"}
X = np.arange(6, dtype=np.float32).reshape(2, 3)


# ---- the tables ----

def printed(program):
    """(domain, operator, operator set) -> inputs, outputs, attributes"""
    lines = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
    return {(words[0], words[1], int(words[2])): (*(ANY if word == "*" else int(word) for word in words[3:5]), set(words[5:]))
            for words in map(str.split, lines)}


def newest_sets():
    """The newest set that the package has, of each domain."""
    newest = {"ai.onnx.ml": max(s.since_version for s in defs.get_all_schemas_with_history() if s.domain == "ai.onnx.ml")}
    return {"ai.onnx": defs.onnx_opset_version(), **newest}


def faults_of_tables(ours):
    compared, faults = 0, []
    newest = newest_sets()
    for (domain, operator, opset), (inputs, outputs, attributes) in ours.items():
        if opset > newest.get(domain, 0):
            continue
        domain = "" if domain == "ai.onnx" else domain
        try:
            schema = defs.get_schema(operator, opset, domain)
        except defs.SchemaError:
            if defs.has(operator, domain) and operator not in EARLY:
                faults.append(f"{domain}.{operator}, set {opset}: supported, expected unknown")
            continue
        compared += 1
        wanted = schema.max_input, schema.max_output, {f"{name}:{each.type.value}" for name, each in schema.attributes.items()}
        if (inputs, outputs, attributes) != wanted:
            faults.append(f"{domain}.{operator}, set {opset}: {inputs, outputs, sorted(attributes)}, expected {wanted}")
    return faults + ([] if compared > 2000 else [f"only {compared} schemas were compared"])


# ---- nodes ----

def simple(*nodes, opset=17, functions=(), more=()):
    """y of x [2, 3]"""
    return model(graph(list(nodes), [value("x", "float", [2, 3])], [value("y", "float")],
                       [tensor("one", "float", [3], [1, 1, 1]), *more]),
                 opset={"": opset, CONTRIB: 1, ML: 3, "acme": 1}, functions=functions)


def in_branch(given):
    taken = graph([node("Relu", ["x"], ["a"])], [], [value("a", "float")])
    other = graph([given], [], [value("b", "float")])
    return simple(node("If", ["yes"], ["y"], then_branch=taken, else_branch=other), more=[tensor("yes", "bool", [], [True])])


def in_function(given, **attributes):
    return simple(node("Act", ["x"], ["y"], domain="acme", **attributes),
                  functions=[function("acme", "Act", ["a"], ["b"], [given], attributes=["slope"], defaults={"size": 3})])


def in_loop(given):
    body = graph([node("Identity", ["c"], ["d"]), given], [value("i", "int64", []), value("c", "bool", []), value("s", "float")],
                 [value("d", "bool"), value("t", "float")])
    return simple(node("Loop", ["n", "", "x"], ["y"], body=body), more=[tensor("n", "int64", [], [2])])


LEAKY = node("LeakyRelu", ["a"], ["b"], alpha=ref("slope", "FLOAT"))
REJECTED = [
    ("one that no operator set has", simple(node("Relu", ["x"], ["y"], max_value=6.0, name="act"), opset=24),
     "node 'act' (Relu, opset 24): unrecognized attribute 'max_value' for operator Relu; it has none"),
    ("a misspelled one", simple(node("Softmax", ["x"], ["y"], axs=1)),
     "unrecognized attribute 'axs' for operator Softmax; did you mean 'axis'?"),
    ("one unlike all others", simple(node("Gemm", ["x", "x"], ["y"], transB=1, precision=1)),
     "unrecognized attribute 'precision' for operator Gemm; expected one of alpha, beta, transA, transB"),
    ("one of newer operator sets", simple(node("ReduceSum", ["x"], ["y"], noop_with_empty_axes=1), opset=12),
     "unrecognized attribute 'noop_with_empty_axes' for operator ReduceSum; operator set 13 is the first with it"),
    ("one of older operator sets", simple(node("Clip", ["x"], ["y"], max=6.0), opset=13),
     "unrecognized attribute 'max' for operator Clip; operator set 10 is the last with it"),
    ("the padding of PyTorch", simple(node("Conv", ["x", "x"], ["y"], padding_mode="reflect")), "unrecognized attribute 'padding_mode'"),
    ("one of com.microsoft", simple(node("FastGelu", ["x"], ["y"], domain=CONTRIB, bias=1)),
     "unrecognized attribute 'bias' for operator FastGelu"),
    ("one of ai.onnx.ml", simple(node("Normalizer", ["x"], ["y"], domain=ML, norms="L1")),
     "unrecognized attribute 'norms' for operator Normalizer; did you mean 'norm'?"),
    ("one in a branch that is not taken", in_branch(node("Relu", ["x"], ["b"], max_value=6.0)), "unrecognized attribute 'max_value'"),
    ("one in a body of a loop", in_loop(node("Relu", ["s"], ["t"], max_value=6.0)), "unrecognized attribute 'max_value'"),
    ("one in a function", in_function(node("Relu", ["a"], ["b"], max_value=6.0)), "unrecognized attribute 'max_value'"),
    ("one in a function, which refers to its call", in_function(node("Relu", ["a"], ["b"], max_value=ref("slope", "FLOAT")), slope=6.0),
     "unrecognized attribute 'max_value'"),
    ("one that the function does not declare", in_function(LEAKY, slope=0.5, max_value=6.0),
     "unrecognized attribute 'max_value' for operator Act; expected one that the function declares"),
    ("a duplicate", simple(node("Elu", ["x"], ["y"], alpha=1.0) + repeated(5, [attribute("alpha", 2.0)])),
     "duplicate attribute 'alpha', expected each once"),
    ("a duplicate of a function's", simple(node("Act", ["x"], ["y"], domain="acme", slope=0.5) + repeated(5, [attribute("slope", 2.0)]),
                                           functions=[function("acme", "Act", ["a"], ["b"], [LEAKY], attributes=["slope"])]),
     "duplicate attribute 'slope', expected each once"),
    ("one of another type", simple(node("LeakyRelu", ["x"], ["y"], alpha=1)),
     "LeakyRelu, opset 17): attribute 'alpha' is of type INT, expected FLOAT"),
    ("one of another type, which nothing reads", simple(node("Multinomial", ["x"], ["y"], sample_size=2, seed=1)),
     "attribute 'seed' is of type INT, expected FLOAT"),
    ("one of the type of older operator sets", simple(node("Cast", ["x"], ["y"], to="FLOAT"), opset=6),
     "attribute 'to' is of type STRING, expected INT"),
    ("one of another type in a branch", in_branch(node("Softmax", ["x"], ["b"], axis=[1])), "attribute 'axis' is of type INTS, expected INT"),
    ("one of another type in a function", in_function(node("LeakyRelu", ["a"], ["b"], alpha=ref("slope", "INT"))),
     "attribute 'alpha' is of type INT, expected FLOAT"),
    ("one of another type of com.microsoft", simple(node("FusedMatMul", ["x", "x"], ["y"], domain=CONTRIB, transB=1.0)),
     "attribute 'transB' is of type FLOAT, expected INT"),
    ("one of another type of ai.onnx.ml", simple(node("Normalizer", ["x"], ["y"], domain=ML, norm=["L1"])),
     "attribute 'norm' is of type STRINGS, expected STRING"),
    ("one with a value of another type", simple(node("LeakyRelu", ["x"], ["y"]) + repeated(5, [field(1, "alpha") + field(3, 1) + field(20, 1)])),
     "attribute 'alpha' is of type INT, expected FLOAT"),
    ("an input too many", simple(node("Relu", ["x", "one"], ["y"])), "2 inputs, expected at most 1"),
    ("an input of newer operator sets", simple(node("Clip", ["x", "one"], ["y"]), opset=6), "2 inputs, expected at most 1"),
    ("an operator of newer operator sets", simple(node("Gelu", ["x"], ["y"]), opset=19), "Gelu (1 node; not in operator set 19; export with"),
    ("an output too many", simple(node("Relu", ["x"], ["y", "z"])), "2 outputs, expected at most 1"),
    ("spatial 0, where it is no longer", simple(node("BatchNormalization", ["x", *["one"] * 4], ["y"], spatial=0), opset=9),
     "unrecognized attribute 'spatial' for operator BatchNormalization; operator set 8 is the last with it"),
    ("is_test 0, where it is no longer", simple(node("Dropout", ["x"], ["y"], is_test=0), opset=7), "unrecognized attribute 'is_test'"),
    ("the axis of a broadcast, where it is no longer", simple(node("Add", ["x", "one"], ["y"], broadcast=1, axis=1), opset=7),
     "unrecognized attribute 'axis' for operator Add; operator set 6 is the last with it"),
]
NORM = dict(is_test=1, spatial=1, consumed_inputs=[0, 0, 0, 1, 1], epsilon=0.0)
# A sentence, the model, its result, and parts of the warnings.
ACCEPTED = [
    ("leftovers of old exporters", simple(node("BatchNormalization", ["x", *["one"] * 4], ["a"], name="first", **NORM),
                                          node("BatchNormalization", ["a", *["one"] * 4], ["y"], **NORM), opset=9), X,
     [f"node 'first' (BatchNormalization, opset 9): ignoring attribute '{name}' (in 2 nodes)"
      for name in ("consumed_inputs", "is_test", "spatial")]),
    ("broadcast, which all operators do by now", simple(node("Add", ["x", "one"], ["y"], broadcast=1), opset=7), X + 1,
     ["ignoring attribute 'broadcast'"]),
    ("names that exporters keep for themselves", simple(node("Relu", ["x"], ["y"], __origin="a.py")), X, ["ignoring attribute '__*'"]),
    ("is_test and spatial, where they are known",
     simple(node("BatchNormalization", ["x", *["one"] * 4], ["y"], is_test=1, spatial=1, epsilon=0.0), opset=6), X, []),
    ("attributes of functions, given and by default", in_function(LEAKY, slope=0.5, size=2), X, []),
    ("an input that is left out at the end", simple(node("Relu", ["x", "", ""], ["y"])), X, []),
]


def faults_of_accepted(lightnet, whole, expected, warnings):
    with tempfile.TemporaryDirectory() as folder:
        arguments = write(folder, whole, {"x": X})
        done = call([lightnet, "run", *arguments, "-O", folder])
        if done.returncode:
            return [done.stderr]
        faults = [] if np.array_equal(np.load(os.path.join(folder, "output_0.npy")), expected) else ["another result"]
    lines = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    return faults + [f"no {words!r} in {lines}" for words in warnings if not any(words in line for line in lines)] + \
        ([] if len(lines) == len(warnings) else [f"expected {len(warnings)} warnings: {lines}"])


def main():
    lightnet, program = map(os.path.abspath, sys.argv[1:])
    tap = Tap()
    if defs:
        tap.check("the tables are the schemas of the ONNX package", faults_of_tables(printed(program)))
    else:
        tap.skip("the tables are the schemas of the ONNX package", "python3-onnx is missing")
    for sentence, whole, words in REJECTED:
        for command in ("run", "show"):
            message = error_of(lightnet, whole, {"x": X} if command == "run" else {}, (command,))
            tap.check(f"{command} rejects {sentence}", [] if message and words in message else [f"expected {words!r} in: {message!r}"])
    for sentence, whole, expected, warnings in ACCEPTED:
        tap.check(f"{sentence}: a result{', and warnings' if warnings else ''}",
                  faults_of_accepted(lightnet, whole, expected, warnings))
    tap.end()


if __name__ == "__main__":
    main()
