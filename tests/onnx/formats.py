#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: formats.py LIGHTNET. What readers accept, writers keep: each model is written in each format, read back, and gives the same
bits and has the same names; floats of models that NNVM has as several operators are within 1e-5. What NNVM cannot express is rejected by
name, and counted. Names, numbers and constants are unusual ones. tests/onnx/suite.py does the same with ONNX's own models, by --round-trip
and --as."""
import io
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from nnvm_rejections import Rejections
from onnx_writer import graph, model, node, tensor, value
from suite import FORMATS, weights_of
from tap import Tap

LIGHTNET = sys.argv[1]
FORMATS["onnx"] = (["convert"], "written.onnx", None)
FORMATS["nnvm"] = (["convert", "--to", "nnvm"], "written.nnvm.json", "written.nnvm.params")
REJECTIONS = Rejections()

# Models that NNVM cannot express, by the reason.
REJECTED = {"open sizes": 6, "an input without dimensions or elements": 2, "operators that core lacks": 36,
           "a tensor without elements": 38, "a data type": 13}

# A graph of NNVM has a name for each node, so outputs that are one node have different names.
RENAMED = {("nnvm", "an output that is listed twice"): [["x"], ["y", "y_0"]]}
# Models whose functions NNVM has as several operators, which round, and give zeros of the other sign.
ROUNDED = {("nnvm", sentence) for sentence in ("the number 0.0", "the number -0.0", "Gelu of opset 20 {'approximate': 'tanh'}",
                                               "Softplus of opset 14 {}")}


def call(*words):
    return subprocess.run([LIGHTNET, *words], capture_output=True, text=True, errors="surrogateescape")


def names_of(path, *options):
    """The names of inputs and outputs; or the error."""
    done = call("show", path, "--json", *options)
    if done.returncode:
        return done.stderr
    shown = json.loads(done.stdout)
    return [[entry["name"] for entry in shown[key]] for key in ("inputs", "outputs")]


def results(folder, path, *options):
    """The bytes of all outputs, or the error."""
    out = os.path.join(folder, "out_" + os.path.basename(path))
    done = call("run", path, "-O", out, *options)
    if done.returncode:
        return done.stderr
    files = sorted(os.listdir(out), key=lambda f: int("".join(filter(str.isdigit, f))))
    return [open(os.path.join(out, f), "rb").read() for f in files]


def same(sentence, form, a, b):
    """Whether results are equal, those of ROUNDED within 1e-5."""
    if (form, sentence) not in ROUNDED or isinstance(b, str):
        return a == b
    a, b = ([np.load(io.BytesIO(data)) for data in results] for results in (a, b))
    return len(a) == len(b) and all(x.dtype == y.dtype and x.shape == y.shape and
                                    (np.allclose(x, y, 1e-5, 1e-30, True) if x.dtype.kind == "f" else np.array_equal(x, y))
                                    for x, y in zip(a, b))


def faults_of(sentence, folder, path, form, given, before, options):
    """`before`: the names and results of the model itself."""
    command, name, _ = FORMATS[form]
    own = os.path.join(folder, form)
    written = os.path.join(own, name)
    os.mkdir(own)
    done = call(*command, path, "-o", written, *options)
    if done.returncode:
        return [] if form == "nnvm" and REJECTIONS.count(done.stderr) else [f"{form}: {done.stderr}"]
    words = weights_of(own, form)
    names, after = names_of(written, *words), results(folder, written, *words, *given)
    return ([] if names == before[0] else [f"{form}: {names}, expected {before[0]}"]) + \
        ([] if same(sentence, form, before[1], after) else [f"{form}: {after!r}, expected {before[1]!r}"])


def check(tap, sentence, whole, arrays=(), options=()):
    """`options` are for the conversion."""
    with tempfile.TemporaryDirectory() as folder:
        path, given = os.path.join(folder, "model.onnx"), []
        with open(path, "wb") as file:
            file.write(whole)
        for i, array in enumerate(arrays):
            np.save(os.path.join(folder, f"in{i}.npy"), array)
            given += ["-i", os.path.join(folder, f"in{i}.npy")]
        before = names_of(path), results(folder, path, *given)
        faults = [text for text in before if isinstance(text, str)]
        for form in FORMATS if not faults else []:
            names = RENAMED.get((form, sentence), before[0])
            faults += faults_of(sentence, folder, path, form, given, (names, before[1]), options)
        tap.check(sentence, faults)


X = np.array([[-1.5, 0, 2], [np.inf, np.nan, -0.0]], np.float32)


# ---- names ----

NAMES = ["a b", " a ", 'quo"te', "apostrophe's", "back\\slash", "x/y:0", "// no comment", "/* no comment */", "#define x", "body", "inputs",
         "true", "NULL", "3", "-1", "1e5", "a.b", "a->b", "a=b", "a,b", "a|b", "a;b", "{}", "[0]", "(a)", "%s%n", "${HOME}", "\u00fc\u4e2d\U0001f600",
         "\u202eabc", "\ufeffbom", "tab\there", "new\nline", "return\rhere", "\x01\x1b[31m\x7f", "\x1f", "\u0085\u2028", "dst", "@8", "a@8", "'''", "x" * 300]


def check_names(tap):
    for name in NAMES:
        whole = graph([node("Relu", [name], [name + "1"], name=name), node("Add", [name + "1", name + "c"], [name + "2"], name=name + "n")],
                      [value(name, "float", [2, 3])], [value(name + "2", "float", [2, 3])], [tensor(name + "c", "float", [3], [1, 2, 3])])
        check(tap, f"the name {name[:20]!r}", model(whole), [X])
    whole = graph([node("Relu", ["x"], ["y"])], [value("x", "float", ["a b\n\"'", 3])], [value("y", "float", ["a b\n\"'", 3])])
    check(tap, "the name of an open size", model(whole), [X], ["--shape", "x=1..2x3"])


# ---- inputs and outputs ----

def check_interface(tap):
    y = value("y", "float", [2, 3])
    x = value("x", "float", [2, 3])
    relu = node("Relu", ["x"], ["y"])
    check(tap, "an output that is listed twice", model(graph([relu], [x], [y, y])), [X])
    check(tap, "an input that is an output, too", model(graph([relu], [x], [x, y])), [X])
    check(tap, "an input that is an output, and nothing else", model(graph([], [x], [x])), [X])
    check(tap, "an input that nothing reads", model(graph([relu], [x, value("z", "float", [2])], [y])), [X, X[0, :2]])
    check(tap, "an output that is a constant", model(graph([relu], [x], [value("c", "float", [3]), y], [tensor("c", "float", [3], [1, 2, 3])])), [X])
    check(tap, "no input", model(graph([node("Relu", ["c"], ["y"])], [], [value("y", "float", [3])], [tensor("c", "float", [3], [1, -2, 3])])))
    check(tap, "an input with a default", model(graph([node("Add", ["x", "c"], ["y"])], [x, value("c", "float", [3])], [y],
                                                      [tensor("c", "float", [3], [1, -2, 3])])), [X])
    check(tap, "an output that is the input under another name", model(graph([node("Identity", ["x"], ["y"])], [x], [y])), [X])
    two = [node("Identity", ["x"], ["y"]), node("Identity", ["x"], ["z"])]
    check(tap, "two outputs that are one tensor", model(graph(two, [x], [y, value("z", "float", [2, 3])])), [X])
    check(tap, "inputs without elements", model(graph([node("Concat", ["e", "x"], ["y"], axis=0)], [value("e", "float", [0, 3]), x], [y])),
          [X[:0], X])
    check(tap, "an output without elements", model(graph([node("Relu", ["e"], ["z"])], [value("e", "float", [0, 3])],
                                                         [value("z", "float", [0, 3])])), [X[:0]])


# ---- numbers ----

NUMBERS = [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e-45, 1.1754944e-38, 3.4028235e38, 0.1, 16777217.0]


def check_numbers(tap):
    for number in NUMBERS:
        nodes = [node("LeakyRelu", ["x"], ["a"], alpha=number), node("Elu", ["x"], ["b"], alpha=number),
                 node("Gemm", ["x", "w"], ["d"], alpha=number),
                 node("Mul", ["x", "n"], ["e"]), node("Clip", ["x", "s"], ["f"]), node("Constant", [], ["g"], value_float=number)]
        outs = [value(name, "float") for name in "abdefg"]
        constants = [tensor("w", "float", [3, 2], [1, 2, 3, 4, 5, 6]), tensor("n", "float", [1], [number]), tensor("s", "float", [], [number])]
        check(tap, f"the number {number}", model(graph(nodes, [value("x", "float", [2, 3])], outs, constants)), [X])
        nodes = [node("ThresholdedRelu", ["x"], ["y"], alpha=number)]  # NNVM has none
        check(tap, f"the threshold {number}", model(graph(nodes, [value("x", "float", [2, 3])], [value("y", "float", [2, 3])])), [X])


ELEMENTS = {"float": [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e-45, 3.4028235e38],
            "double": [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 5e-324, 1.7976931348623157e308, 0.1],
            "float16": [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 6e-8, 65504.0], "bfloat16": [0, 0x8000, 0x7f80, 0xff80, 0x7fc0, 1],
            "int64": [2**63 - 1, -2**63, 2**53 + 1], "uint64": [2**64 - 1, 0, 2**53 + 1], "int32": [2**31 - 1, -2**31], "uint32": [2**32 - 1],
            "int16": [-2**15], "uint16": [2**16 - 1], "int8": [-128], "uint8": [255], "bool": [True, False], "int4": [-8, 7, -1], "uint4": [15, 0, 9],
            "int2": [-2, 1, -1], "uint2": [3, 0, 2], "float4e2m1": [15, 7, 1], "float8e4m3fn": [0x7f, 0xff, 0x7e], "float8e5m2": [0x7c, 0xfc, 0x7f],
            "float8e4m3fnuz": [0x80, 0x7f], "float8e5m2fnuz": [0x80, 0x7f], "float8e8m0": [0xff, 0, 0x7f],
            "string": ["", "a b", 'quo"te\\', "new\nline", "\u00fc\U0001f600", b"nul\x00in", b"\x01\x1b"]}


def check_constants(tap):
    for dtype, elements in ELEMENTS.items():
        for dims, values in (([len(elements)], elements), ([], elements[:1]), ([0], []), ([2, 0, 3], [])):
            outs = [value("y", dtype), value("z", dtype)]
            nodes = [node("Identity", ["c"], ["y"]), node("Reshape", ["c", "whole"], ["z"])]
            check(tap, f"constants of {dtype} {dims}", model(graph(nodes, [], outs, [tensor("c", dtype, dims, values),
                                                             tensor("whole", "int64", [len(dims)], dims or [])]), opset=26 if "2" in dtype else 24))


# ---- operators that other formats have in other forms ----

def check_scan(tap, directions):
    """The sum of the rows so far, and each row's, from either end; few rows are written out, and many are a loop."""
    body = graph([node("Add", ["t", "r"], ["s"]), node("Neg", ["r"], ["o"])], [value("t", "float", [3]), value("r", "float", [3])],
                 [value("s", "float", [3]), value("o", "float", [3])])
    scan = node("Scan", ["c", "x"], ["last", "parts"], body=body, num_scan_inputs=1, scan_input_directions=[directions[0]],
                scan_output_directions=[directions[1]])
    for rows in (2, 20001):
        outs = [value("last", "float", [3]), value("parts", "float", [rows, 3])]
        whole = graph([scan], [value("x", "float", [rows, 3])], outs, [tensor("c", "float", [3], [0.5, 1, 2])])
        array = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)
        check(tap, f"a scan of {rows} rows, directions {directions}", model(whole, opset=16), [array])


def check_loop(tap):
    """Numbers of rounds and conditions that have one element and an axis."""
    body = graph([node("Identity", ["go"], ["on"]), node("Add", ["v", "v"], ["w"])],
                 [value("i", "int64", []), value("go", "bool", []), value("v", "float", [2, 3])],
                 [value("on", "bool", []), value("w", "float", [2, 3])])
    inputs = [value("m", "int64", [1]), value("go1", "bool", [1]), value("x", "float", [2, 3])]
    whole = graph([node("Loop", ["m", "go1", "x"], ["y"], body=body)], inputs, [value("y", "float", [2, 3])])
    check(tap, "a loop, whose rounds and condition have an axis", model(whole, opset=16), [np.array([3]), np.array([True]), X])


def check_functions(tap):
    inner = [("Mish", 18, {}), ("Gelu", 20, {}), ("Gelu", 20, {"approximate": "tanh"}), ("HardSwish", 14, {}), ("Softplus", 14, {})]
    for op_type, opset, attributes in inner:
        whole = graph([node(op_type, ["x"], ["y"], **attributes)], [value("x", "float", [2, 3])], [value("y", "float", [2, 3])])
        check(tap, f"{op_type} of opset {opset} {attributes}", model(whole, opset=opset), [X[:, :1].repeat(3, 1)])


def check_remainders(tap):
    for dtype in ("uint8", "uint32", "int32"):
        whole = graph([node("Mod", ["x", "z"], ["y"])], [value("x", dtype, [3]), value("z", dtype, [3])], [value("y", dtype, [3])])
        check(tap, f"remainders of {dtype}", model(whole), [np.array([7, 9, 250 if dtype[0] == "u" else -5], dtype), np.array([3, 5, 8], dtype)])


def check_open_shapes(tap):
    cube = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    x = value("x", "float", ["a", "b", 4])
    for axis in range(4):
        whole = graph([node("Flatten", ["x"], ["y"], axis=axis)], [x], [value("y", "float")])
        check(tap, f"Flatten at axis {axis} of open sizes", model(whole), [cube], ["--shape", "x=1..2x1..3x4"])
    whole = graph([node("Reshape", ["x", "s"], ["y"])], [x], [value("y", "float")], [tensor("s", "int64", [2], [0, -1])])
    check(tap, "Reshape that keeps an open size", model(whole), [cube], ["--shape", "x=1..2x1..3x4"])


def check_operators(tap):
    for directions in ((0, 0), (0, 1), (1, 0), (1, 1)):
        check_scan(tap, directions)
    check_loop(tap)
    check_functions(tap)
    check_open_shapes(tap)
    check_remainders(tap)


def main():
    tap = Tap()
    check_names(tap)
    check_interface(tap)
    check_numbers(tap)
    check_constants(tap)
    check_operators(tap)
    tap.check("what NNVM cannot express is rejected by name", REJECTIONS.faults(REJECTED))
    tap.end()


if __name__ == "__main__":
    main()
