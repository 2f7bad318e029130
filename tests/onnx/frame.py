#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: frame.py LIGHTNET. ONNX models with any operators: names, inputs, outputs, files, errors."""
import os
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import call, error_of, failure, faults_of
from onnx_writer import field, graph, model, node, repeated, tensor, value
from tap import Tap

X = np.array([[-2, -1, 0], [1, 2, 3]], np.float32)
RELU = np.maximum(X, 0)
LONG = "n" * 600


def simple(nodes, outputs=("y",), inputs=(("x", (2, 3)),), initializers=(), sparse=(), **options):
    """A model of these nodes over float tensors."""
    return model(graph(nodes, [value(name, "float", dims) for name, dims in inputs],
                       [value(name, "float") for name in outputs], initializers) + repeated(15, sparse), **options)


def constant(name, number):
    return node("Constant", [], [name], value=tensor("", "float", [], [number]))


def normalized(outputs):
    """Batch normalization in an operator set where its other outputs are those of training."""
    vectors = [tensor(name, "float", [3], [number] * 3) for name, number in (("g", 2.0), ("b", 1.0), ("m", 0.0), ("v", 1.0))]
    return simple([node("BatchNormalization", ["x", "g", "b", "m", "v"], ["y", "mean", "var", "old_mean", "old_var"], name="r",
                        epsilon=0.0)], outputs, initializers=vectors, opset=8)


# A sentence, the model, its inputs, its outputs.
RIGHT = [
    ("an input can be an output", simple([], ["x"]), {"x": X}, [X]),
    ("a tensor can be several outputs", simple([node("Relu", ["x"], ["r"]), node("Identity", ["r"], ["s"])], ["s", "r", "x"]),
     {"x": X}, [RELU, RELU, X]),
    ("a constant can be an output", simple([], ["c"], initializers=[tensor("c", "float", [2], [1, 2])]), {"x": X},
     [np.array([1, 2], np.float32)]),
    ("a scalar and an empty tensor are inputs",
     simple([node("Relu", ["s"], ["a"]), node("Relu", ["e"], ["b"])], ["a", "b"], [("s", ()), ("e", (2, 0))]),
     {"s": np.float32(-1), "e": np.zeros((2, 0), np.float32)}, [np.float32(0), np.zeros((2, 0), np.float32)]),
    ("an initializer is the default of an input", simple([node("Relu", ["w"], ["y"])], inputs=[("x", (2, 3)), ("w", (2,))],
                                                       initializers=[tensor("w", "float", [2], [-1, 5])]), {"x": X},
     [np.array([0, 5], np.float32)]),
    ("an input with a default can be given", simple([node("Relu", ["w"], ["y"])], inputs=[("x", (2, 3)), ("w", (2,))],
                                                  initializers=[tensor("w", "float", [2], [-1, 5])]),
     {"x": X, "w": np.array([7, -7], np.float32)}, [np.array([7, 0], np.float32)]),
    ("sizes that are open are those of the file", simple([node("Relu", ["x"], ["y"])], inputs=[("x", ("n", 3))]), {"x": X},
     [RELU]),
    ("an input without a shape has the file's", simple([node("Relu", ["x"], ["y"])], inputs=[("x", None)]), {"x": X}, [RELU]),
    ("an initializer may be sparse, by coordinates or counted",
     simple([node("Identity", ["s"], ["a"]), node("Relu", ["t"], ["b"])], ["a", "b"], sparse=[
         field(1, tensor("s", "float", [2], [5, -6])) + field(2, tensor("", "int64", [2, 2], [0, 2, 1, 0])) + repeated(3, [2, 3]),
         field(1, tensor("t", "float", [1], [7])) + field(2, tensor("", "int64", [1], [4])) + repeated(3, [2, 3])]),
     {"x": X}, [np.array([[0, 0, 5], [-6, 0, 0]], np.float32), np.array([[0, 0, 0], [0, 7, 0]], np.float32)]),
    ("nodes need not be sorted, also where a graph within a node reads outputs",
     simple([node("Add", ["c", "b"], ["y"]), node("Identity", ["q"], ["p"]),
             node("If", ["t"], ["c"], then_branch=graph([node("Neg", ["b"], ["m"]), node("Add", ["m", "a"], ["k"])], [],
                                                        [value("k", "float")]),
                  else_branch=graph([node("Identity", ["a"], ["b"])], [], [value("b", "float")])),
             node("Relu", ["a"], ["b"]), node("Neg", ["x"], ["a"]), node("Abs", ["x"], ["q"])], ["y", "p"],
            initializers=[tensor("t", "bool", [], [True])]),
     {"x": X}, [-X, np.abs(X)]),
    ("an opset of the future is read as the newest one", simple([node("Relu", ["x"], ["y"])], opset=99), {"x": X}, [RELU]),
    ("nodes may share a name or have none",
     simple([node("Relu", ["x"], ["a"], name="n"), node("Relu", ["a"], ["b"], name="n"), node("Relu", ["b"], ["y"])]),
     {"x": X}, [RELU]),
    ("names may be long, and look like those of LightNet",
     simple([node("Relu", ["x"], [LONG], name=LONG), node("Relu", [LONG], [LONG + "m"]), node("Relu", [LONG + "m"], ["y"], name="x")]),
     {"x": X}, [RELU]),
    ("names may hold any characters", simple([node("Relu", ["x"], ["a/b:0 \"é\" \\"]), node("Relu", ["a/b:0 \"é\" \\"], ["y"])]),
     {"x": X}, [RELU]),
    ("the first opset is meant where none is said", field(1, 3) + field(7, graph([node("Relu", ["x"], ["y"])],
                                                                               [value("x", "float", (2, 3))],
                                                                               [value("y", "float")])), {"x": X}, [RELU]),
    ("outputs that are not computed may be named if nothing reads them", normalized(["y"]), {"x": X}, [2 * X + 1]),
    ("a domain that is not imported is read as its newest version",
     simple([node("FusedMatMul", ["x", "w"], ["a"], domain="com.microsoft"),
             node("Binarizer", ["x"], ["b"], domain="ai.onnx.ml", threshold=1.0)], ["a", "b"],
            initializers=[tensor("w", "float", [3, 2], [1, 2, 3, 4, 5, 6])]), {"x": X},
     [X @ np.array([[1, 2], [3, 4], [5, 6]], np.float32), (X > 1).astype(np.float32)]),
    ("so is ONNX's own domain", simple([node("Gelu", ["z"], ["g"]), node("Add", ["g", "x"], ["y"])], opset={"ai.onnx.ml": 1},
                                       initializers=[tensor("z", "float", [], [0])]), {"x": X}, [X]),
    ("the last of several constants of one name counts, in whatever order the nodes are",
     simple([constant("c", 5), node("Add", ["a", "c"], ["y"]), node("Mul", ["x", "c"], ["a"]), constant("c", 2)]), {"x": X},
     [X * 2 + 2]),
    ("so does the last of several initializers", simple([node("Add", ["x", "c"], ["y"])], initializers=[
        tensor("c", "float", [], [5]), tensor("c", "float", [], [7])]), {"x": X}, [X + 7]),
    ("but not if the value is given",
     simple([node("Add", ["x", "c"], ["y"])], inputs=[("x", (2, 3)), ("c", ())],
            initializers=[tensor("c", "float", [], [5]), tensor("c", "float", [], [7])]), {"x": X, "c": np.float32(1)}, [X + 1]),
    ("also if an initializer has that name", simple([node("Add", ["x", "c"], ["y"]), constant("c", 2)],
                                                    initializers=[tensor("c", "float", [], [5])]), {"x": X}, [X + 2]),
]

# A sentence, the model, its inputs, a part of the message.
WRONG = [
    ("all operators that are not supported are named",
     simple([node("Foo", ["x"], ["a"]), node("Foo", ["a"], ["b"]), node("Bar", ["b"], ["c"], domain="com.my"),
             node("StringNormalizer", ["c"], ["y"])], opset=9), {"x": X},
     "operators that are not supported: Foo (2 nodes), com.my.Bar (1 node; unsupported domain: export with standard "
     "operators only), StringNormalizer (1 node; not in operator set 9; export with a newer one)"),
    ("a tensor that nothing makes is named", simple([node("Relu", ["z"], ["y"], name="r")]), {"x": X},
     "node 'r' (Relu, opset 17): input 0, 'z', is not produced by any node before"),
    ("nodes that need each other are rejected",
     simple([node("Add", ["x", "b"], ["a"], name="first"), node("Relu", ["a"], ["b"]), node("Relu", ["a"], ["y"])]), {"x": X},
     "node 'first' (Add): it reads what is computed from its own outputs"),
    ("a node that reads its own output is rejected", simple([node("Add", ["x", "y"], ["y"], name="r")]), {"x": X},
     "node 'r' (Add): it reads what is computed from its own outputs"),
    ("an output that is not computed is rejected if something reads it", normalized(["y", "mean"]), {"x": X},
     "node 'r' (BatchNormalization, opset 8): output 1 is read, expected output 0 only"),
    ("a name that two nodes define is rejected",
     simple([node("Relu", ["x"], ["c"], name="r"), node("Neg", ["x"], ["c"]), node("Abs", ["c"], ["y"])]), {"x": X},
     "'c' is defined twice, by node 'r' (Relu) and node 'c' (Neg); expected one definition of each name"),
    ("a name that a constant and another node define is rejected",
     simple([node("Abs", ["c"], ["y"]), constant("c", 1), node("Relu", ["x"], ["c"], name="r")]), {"x": X},
     "'c' is defined twice, by node 'c' (Constant) and node 'r' (Relu)"),
    ("a name that an input and a node define is rejected", simple([node("Relu", ["w"], ["x"], name="r"), node("Relu", ["x"], ["y"])], initializers=[tensor("w", "float", [], [1])]), {"x": X},
     "node 'r' (Relu, opset 17): 'x' is defined twice, also by an input or an initializer"),
    ("a name that an initializer and a node define is rejected",
     simple([node("Relu", ["x"], ["w"], name="r"), node("Relu", ["w"], ["y"])], initializers=[tensor("w", "float", [], [1])]), {"x": X},
     "node 'r' (Relu, opset 17): 'w' is defined twice, also by an input or an initializer"),
    ("an output that nothing makes is named", simple([node("Relu", ["x"], ["y"])], ["q"]), {"x": X},
     "output 'q' is not produced by any node"),
    ("an input that is missing is named", simple([node("Relu", [], ["y"], name="r")]), {"x": X},
     "node 'r' (Relu, opset 17): input 0 is missing"),
    ("an input that is missing is named where sizes matter", simple([node("Crop", [""], ["y"], name="r", border=[0, 0, 0, 0])]),
     {"x": X}, "node 'r' (Crop, opset 17): input 0 is missing"),
    ("an output too many is named", simple([node("Relu", ["x"], ["y", "z"], name="r")]), {"x": X},
     "node 'r' (Relu, opset 17): 2 outputs, expected at most 1"),
    ("an attribute of another type is rejected", simple([node("ReduceMax", ["x"], ["y"], name="r", keepdims="no")]), {"x": X},
     "node 'r' (ReduceMax, opset 17): attribute 'keepdims' is of type STRING, expected INT"),
    ("a flag that is neither 0 nor 1 is rejected", simple([node("ReduceMax", ["x"], ["y"], name="r", keepdims=2)]), {"x": X},
     "node 'r' (ReduceMax, opset 17): attribute 'keepdims' is 2, expected 0 or 1"),
    ("a rounding mode that is neither 0 nor 1 is rejected",
     simple([node("MaxPool", ["x"], ["y"], name="r", ceil_mode=16, kernel_shape=[2])], inputs=[("x", (1, 2, 3))]),
     {"x": X.reshape(1, 2, 3)}, "node 'r' (MaxPool, opset 17): attribute 'ceil_mode' is 16, expected 0 or 1"),
    ("an order that is neither 0 nor 1 is rejected", simple([node("Unique", ["x"], ["y"], name="r", sorted=3)]), {"x": X},
     "node 'r' (Unique, opset 17): attribute 'sorted' is 3, expected 0 or 1"),
    ("an order of the largest that is neither 0 nor 1 is rejected",
     simple([node("Constant", [], ["k"], value_ints=[1]), node("TopK", ["x", "k"], ["y"], name="r", sorted=-1)]), {"x": X},
     "node 'r' (TopK, opset 17): attribute 'sorted' is -1, expected 0 or 1"),
    ("a shape that disagrees is rejected", simple([node("Relu", ["x"], ["y"])], inputs=[("x", ("n", 4))]), {"x": X},
     "input 'x' is given as TL_FLOAT [2, 3], expected TL_FLOAT [n, 4]"),
    ("a type that LightNet lacks is named", field(1, 8) + field(7, graph(
        [node("Relu", ["x"], ["y"])], [field(1, "x") + field(2, field(1, field(1, 14)))], [value("y", "float")])), {},
     "input 'x' is COMPLEX64, expected a tensor of a type that LightNet supports"),
    ("a constant that lacks elements is named", simple([], ["c"], initializers=[field(1, 3) + field(2, 1) + field(8, "c")]), {"x": X},
     "tensor 'c': FLOAT [3] has 0 elements of data, expected 3"),
    ("a message that is broken off is rejected", simple([node("Relu", ["x"], ["y"])])[:-2], {"x": X},
     "the file is incomplete: it has {} bytes, expected at least {}".format(*(len(simple([node("Relu", ["x"], ["y"])])) - n for n in (2, 0)))),
    ("a message that is too short for what it has is rejected", simple([node("Relu", ["x"], ["y"])]).replace(b"\x04Relu", b"\x7fRelu"), {"x": X},
     "the message is truncated or damaged at byte "),
    ("a model without a graph is rejected", field(1, 8), {}, "the model has no graph"),
]


def external(location, offset, length):
    """A constant [3] whose data is in another file."""
    entries = {"location": location, "offset": str(offset), "length": str(length)}
    return (field(1, 3) + field(2, 1) + field(8, "c") + repeated(13, [field(1, k) + field(2, v) for k, v in entries.items()]) +
            field(14, 1))


def external_faults(lightnet, location, offset, length, expected=None, message=None):
    with tempfile.TemporaryDirectory() as folder:
        path, data, out = (os.path.join(folder, name) for name in ("m.onnx", "w.bin", "out"))
        with open(path, "wb") as file:
            file.write(simple([node("Relu", ["c"], ["y"])], initializers=[external(location, offset, length)], inputs=[]))
        with open(data, "wb") as file:
            file.write(bytes(5) + np.array([-1, 2, 3], np.float32).tobytes())
        done = call([lightnet, "run", path, "-O", out])
        if message:
            return [] if done.returncode == 1 and message in done.stderr else [done.stderr or "it runs"]
        return failure(done) or ([] if np.array_equal(np.load(os.path.join(out, "output_0.npy")), expected) else ["wrong data"])


def command_faults(lightnet, model_bytes, arguments, message):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.onnx")
        with open(path, "wb") as file:
            file.write(model_bytes)
        done = call([lightnet, *[path if argument == "MODEL" else argument for argument in arguments]])
        said = done.stdout + done.stderr
        return [] if message in said else [f"says {said!r}, expected {message!r}"]


def check_external(tap, lightnet):
    tap.check("data may be in another file, at any offset", external_faults(lightnet, "w.bin", 5, 12, np.array([0, 2, 3], np.float32)))
    for sentence, arguments, message in [
            ("external data outside of its file is rejected", ("w.bin", 6, 12), "is 12 bytes at 6, outside of the 17 bytes of"),
            ("external data outside of the folder is rejected", ("../w.bin", 5, 12), "expected a file in the folder of the model"),
            ("external data by an absolute path is rejected", ("/etc/passwd", 0, 12), "expected a file in the folder of the model"),
            ("external data that is missing is named", ("q.bin", 0, 12), "q.bin: cannot read"),
            ("an offset that is no number is rejected", ("w.bin", "x", 12), "'offset' of its external data is 'x'")]:
        tap.check(sentence, external_faults(lightnet, *arguments, message=message))


def link_faults(lightnet, location, options=(), message=None):
    """Runs m.onnx in the folder `model`, beside `blobs` and `secret`, all with the same 17 bytes; external data is at `location`."""
    with tempfile.TemporaryDirectory() as folder:
        there = {name: os.path.join(folder, name) for name in ("model", "blobs", "secret")}
        for path in there.values():
            os.mkdir(path)
            with open(os.path.join(path, "w.bin"), "wb") as file:
                file.write(bytes(5) + np.array([-1, 2, 3], np.float32).tobytes())
        for name, target in [("link.bin", "../secret/w.bin"), ("folder", "../secret"), ("near.bin", "w.bin"), ("blob.bin", "../blobs/w.bin"),
                             ("zero.bin", "/dev/zero")]:
            os.symlink(target, os.path.join(there["model"], name))
        os.rename(os.path.join(there["blobs"], "w.bin"), os.path.join(there["blobs"], "b.bin"))
        os.symlink("b.bin", os.path.join(there["blobs"], "w.bin"))
        os.mkfifo(os.path.join(there["model"], "fifo.bin"))
        path, out = os.path.join(there["blobs"], "model"), os.path.join(folder, "out")
        with open(path, "wb") as file:
            file.write(simple([node("Relu", ["c"], ["y"])], initializers=[external(location, 5, 12)], inputs=[]))
        named = os.path.join(there["model"], "m.onnx")
        os.symlink("../blobs/model", named)  # a link that the user names
        done = call([lightnet, "run", named, "-O", out, *(option.format(**there) for option in options)])
        if message:
            expected = message.format(**{name: os.path.realpath(path) for name, path in there.items()})
            return [] if done.returncode == 1 and expected in done.stderr else [f"says {done.stderr!r}, expected {expected!r}"]
        return failure(done) or ([] if np.array_equal(np.load(os.path.join(out, "output_0.npy")), [0, 2, 3]) else ["wrong data"])


def check_links(tap, lightnet):
    def outside(name, folder, file="w.bin"):
        return (f"m.onnx: tensor 'c': its external data: {name}: links lead to {{{folder}}}/{file}, outside of the model's folder; "
                "if that is meant, allow the folder there (--include, option 'folder', ln_context_allow_folder)")
    tap.check("external data may be a link within the folder", link_faults(lightnet, "near.bin"))
    tap.check("an allowed folder may be linked to", link_faults(lightnet, "blob.bin", ["--include", "{blobs}"]))
    tap.check("external data is looked for in allowed folders", link_faults(lightnet, "b.bin", ["--include", "{secret}", "--include={blobs}"]))
    for sentence, location, options, message in [
            ("a link out of the folder is rejected", "link.bin", [], outside("link.bin", "secret")),
            ("a link to a folder is rejected", "folder/w.bin", [], outside("folder/w.bin", "secret")),
            ("other folders stay closed", "link.bin", ["--include", "{blobs}"], outside("link.bin", "secret")),
            ("a link to a device is rejected", "zero.bin", [], "zero.bin: links lead to /dev/zero, outside of the model's folder"),
            ("a pipe is rejected at once", "fifo.bin", [], "m.onnx: tensor 'c': its external data: fifo.bin: not a regular file"),
            ("a device in an allowed folder is rejected", "zero", ["--include", "/dev"], "its external data: zero: not a regular file"),
            ("a folder that is missing is not allowed", "w.bin", ["--include", "{model}/none"],
             "none: not a folder that can be used: No such file or directory")]:
        tap.check(sentence, link_faults(lightnet, location, options, message))


def many_faults(lightnet, n):
    """A model whose constants are in a file each, of more than is read at once; the process may have 40 files open."""
    with tempfile.TemporaryDirectory() as folder:
        length = 300000
        names = [f"c{i}" for i in range(n)]
        constants = [field(1, length) + field(2, 1) + field(8, name) + repeated(13, [field(1, "location") + field(2, name + ".bin")]) + field(14, 1)
                     for name in names]
        for i, name in enumerate(names):
            with open(os.path.join(folder, name + ".bin"), "wb") as file:
                file.truncate(4 * length)
                file.write(np.float32(i).tobytes())
        path, out = os.path.join(folder, "m.onnx"), os.path.join(folder, "out")
        with open(path, "wb") as file:
            file.write(simple([node("Sum", names, ["s"]), node("ReduceSum", ["s"], ["y"])], initializers=constants, inputs=[]))
        done = call(["prlimit", "--nofile=40", lightnet, "run", path, "-O", out])
        return failure(done) or ([] if np.load(os.path.join(out, "output_0.npy")).ravel() == [n * (n - 1) / 2] else ["wrong data"])


def check_sizes(tap, lightnet):
    opened = simple([node("Relu", ["x"], ["y"])], inputs=[("x", ("n", 3))])
    tap.check("sizes that stay open are named", command_faults(lightnet, opened, ["show", "MODEL", "--dot"],
                                                             "sizes of its inputs are open; give them, as by --shape 'x=1x3'"))
    tap.check("--shape gives an input its shape", command_faults(lightnet, opened, ["show", "MODEL", "--shape", "x=4x3"], "x TL_FLOAT [4, 3]"))
    tap.check("--shape gives an open dimension its size", command_faults(lightnet, opened, ["show", "MODEL", "--shape", "n=5"], "x TL_FLOAT [5, 3]"))
    tap.check("a --shape that is none is rejected", command_faults(lightnet, opened, ["show", "MODEL", "--shape", "x=4xx3"], "expected NAME=1x3x224x224"))


# The names of TensorProto.DataType's values; those that docs/onnx.md lists.
TYPES = ("UNDEFINED FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 STRING BOOL FLOAT16 DOUBLE UINT32 UINT64 COMPLEX64 COMPLEX128 BFLOAT16 "
         "FLOAT8E4M3FN FLOAT8E4M3FNUZ FLOAT8E5M2 FLOAT8E5M2FNUZ UINT4 INT4 FLOAT4E2M1 FLOAT8E8M0 UINT2 INT2").split()
SUPPORTED = {"STRING", "BOOL", "FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16",
             *(f"{sign}INT{bits}" for sign in ("U", "") for bits in (2, 4, 8, 16, 32, 64)),
             *(name for name in TYPES if name.startswith(("FLOAT8", "FLOAT4")))}


def check_types(tap, lightnet):
    for code, name in enumerate(TYPES):
        kind = field(1, field(1, code) + field(2, field(1, field(1, 2))))  # a tensor of 2 elements
        copy = model(graph([node("Identity", ["x"], ["y"])], [field(1, "x") + field(2, kind)], [field(1, "y") + field(2, kind)]))
        message = f"input 'x' is {name}, expected a tensor of a type that LightNet supports"
        faults = command_faults(lightnet, copy, ["show", "MODEL"], "compiled for cpu" if name in SUPPORTED else message)
        tap.check(f"the page about ONNX tells the truth about type {name}", faults)


def main():
    lightnet, tap = sys.argv[1], Tap()
    for sentence, model_bytes, inputs, expected in RIGHT:
        tap.check(sentence, faults_of(lightnet, model_bytes, inputs, expected))
    for sentence, model_bytes, inputs, part in WRONG:
        message = error_of(lightnet, model_bytes, inputs)
        tap.check(sentence, [] if message and part in message else [f"says {message!r}, expected {part!r}"])
    check_external(tap, lightnet)
    check_links(tap, lightnet)
    tap.check("a model may have more external files than a process may have open", many_faults(lightnet, 60))
    check_sizes(tap, lightnet)
    check_types(tap, lightnet)
    tap.end()


if __name__ == "__main__":
    main()
