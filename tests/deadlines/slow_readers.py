# SPDX-License-Identifier: Apache-2.0
"""Files of up to 10 MB that take long to read: a row of READERS is a sentence, a function that returns the bytes of each file by
its name, and the arguments of a command in their folder."""
import json
import os
import struct
import sys
import zipfile
import zlib
from io import BytesIO

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "onnx"))
from onnx_writer import field, function, graph, model, node, tensor, value

SIZE = 10_000_000
READERS = []


def reads(sentence, *command):
    """Enters a function that makes the files."""
    def enter(make):
        READERS.append((sentence, make, command))
        return make
    return enter


def filled(part, before="", behind="", join=""):
    """A text of SIZE bytes that repeats its part."""
    n = SIZE // (len(part) + len(join))
    return (before + join.join([part] * n) + behind).encode()


# ---- ONNX ----

SHOW = "show", "model.onnx"
X, Y = value("x", "float", [4]), value("y", "float", [4])
RELU = node("Relu", ["x"], ["y"])


def in_model(content):
    return {"model.onnx": field(1, 8) + field(7, content) + field(8, field(2, 17))}


@reads("onnx: one input with its type many times", *SHOW)
def merged_types():
    kind = field(2, field(1, field(1, 1) + field(2, field(1, field(1, 4)))))
    return in_model(field(1, RELU) + field(11, field(1, "x") + kind * (SIZE // len(kind))) + field(12, Y))


@reads("onnx: the graph many times", *SHOW)
def merged_graphs():
    whole = field(7, field(1, RELU) + field(11, X) + field(12, Y))
    return {"model.onnx": field(1, 8) + whole * (SIZE // len(whole)) + field(8, field(2, 17))}


@reads("onnx: one input many times", *SHOW)
def same_inputs():
    return in_model(field(1, RELU) + field(11, X) * (SIZE // len(field(11, X))) + field(12, Y))


@reads("onnx: a long chain", *SHOW)
def chain():
    n = 240_000
    names = ["x"] + [f"t{i}" for i in range(n)] + ["y"]
    return in_model(b"".join(field(1, node("Relu", [a], [b])) for a, b in zip(names, names[1:])) + field(11, X) + field(12, Y))


@reads("onnx: nodes in reverse order", *SHOW)
def backward():
    n = 240_000
    names = ["x"] + [f"t{i}" for i in range(n)] + ["y"]
    nodes = [field(1, node("Relu", [a], [b])) for a, b in zip(names, names[1:])]
    return in_model(b"".join(reversed(nodes)) + field(11, X) + field(12, Y))


@reads("onnx: one node with many inputs", *SHOW)
def concat():
    return in_model(field(1, node("Concat", ["x"] * (SIZE // 3), ["y"], axis=0)) + field(11, X) + field(12, Y))


@reads("onnx: one attribute many times", *SHOW)
def attributes():
    part = field(5, field(1, "alpha") + field(2, 1.0) + field(20, 1))
    return in_model(field(1, field(1, "x") + field(2, "y") + field(4, "Elu") + part * (SIZE // len(part))) + field(11, X) + field(12, Y))


@reads("onnx: metadata", *SHOW)
def metadata():
    part = field(14, field(1, "key") + field(2, "value"))
    return {"model.onnx": model(graph([RELU], [X], [Y], [])) + part * (SIZE // len(part))}


@reads("onnx: operator sets", *SHOW)
def opsets():
    part = field(8, field(1, "a") + field(2, 1))
    return {"model.onnx": model(graph([RELU], [X], [Y], [])) + part * (SIZE // len(part))}


@reads("onnx: nested branches", *SHOW)
def nested():
    body = graph([node("Identity", ["x"], ["o"])], [], [value("o", "float")])
    for _ in range(30):
        body = graph([node("If", ["c"], ["o"], then_branch=body, else_branch=graph([node("Identity", ["x"], ["o"])], [], [value("o", "float")]))],
                     [], [value("o", "float")])
    one = field(1, node("If", ["c"], ["y"], then_branch=body, else_branch=body))
    return in_model(one + b"".join(field(1, node("If", ["c"], [f"u{i}"], then_branch=body, else_branch=body))
                                   for i in range(SIZE // 2 // len(one))) + field(11, value("c", "bool", [])) + field(11, X) + field(12, Y))


@reads("onnx: functions that call each other twice", *SHOW)
def functions():
    make = [function("my", "f0", ["a"], ["b"], [node("Relu", ["a"], ["b"])])]
    make += [function("my", f"f{i}", ["a"], ["b"], [node(f"f{i - 1}", ["a"], ["t"], domain="my"), node(f"f{i - 1}", ["t"], ["b"], domain="my")],
                      opset={"": 17, "my": 1}) for i in range(1, 18)]
    return {"model.onnx": model(graph([node("f17", ["x"], ["y"], domain="my")], [X], [Y], []), opset={"": 17, "my": 1}, functions=make)}


@reads("onnx: small initializers", *SHOW)
def initializers():
    part = len(field(5, tensor("w100000", "float", [1], [1])))
    return in_model(field(1, RELU) + b"".join(field(5, tensor(f"w{i}", "float", [1], [1])) for i in range(SIZE // part)) +
                    field(11, X) + field(12, Y))


@reads("onnx: a constant of strings", *SHOW)
def strings():
    texts = tensor("s", "string", [SIZE // 3], [b"a"] * (SIZE // 3))
    return in_model(field(1, node("StringNormalizer", ["s"], ["y"])) + field(5, texts) + field(12, value("y", "string")))


@reads("onnx: a regular expression", *SHOW)
def regex():
    return in_model(field(1, node("RegexFullMatch", ["x"], ["y"], pattern="(a|b)*" * (SIZE // 6))) + field(11, value("x", "string", [1])) +
                    field(12, value("y", "bool", [1])))


@reads("onnx: an image with many pixels", "run", "model.onnx")
def decoder():
    n = 20_000
    pixels = zlib.compress(bytes(n * n // 8 * 8)[:n * 2_000], 1)
    return {"model.onnx": model(graph([node("ImageDecoder", ["e"], ["y"])], [], [value("y", "uint8")],
                                      [tensor("e", "uint8", [len(png(n, pixels))], list(png(n, pixels)))]), opset=20)}


def png(n, data):
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", n, n, 8, 0, 0, 0, 0)) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


# ---- JSON: IR, NNVM, headers of safetensors ----

@reads("json: a long string", "show", "model.json")
def long_string():
    return {"model.json": filled("A", '{"version":1,"x":"', '"}')}


@reads("json: numbers", "show", "model.json")
def numbers():
    return {"model.json": filled("1.5e3", '{"version":1,"x":[', "]}", ",")}


@reads("json: small objects", "show", "model.json")
def objects():
    return {"model.json": filled('{"a":{}}', '{"version":1,"x":[', "]}", ",")}


@reads("json: one key many times", "show", "model.json")
def keys():
    return {"model.json": filled('"a":1', "{", "}", ",")}


@reads("json: operators", "show", "model.json")
def operators():
    ops = [{"name": f"o{i}", "optype": "relu", "tensors_in": [{"arg_name": "src", "name": f"t{i}"}],
            "tensors_out": [{"arg_name": "dst", "name": f"t{i + 1}"}], "params": []} for i in range(SIZE // 130)]
    source = {"name": "s", "optype": "source", "tensors_in": [], "tensors_out": [{"arg_name": "dst", "name": "t0"}],
              "params": [{"arg_name": "dtype", "value": "TL_FLOAT"}, {"arg_name": "dims", "value": [4]}]}
    return {"model.json": json.dumps({"inputs": ["t0"], "outputs": [f"t{len(ops)}"], "ops": [source, *ops]}).encode()}


@reads("nnvm: nodes", "show", "graph.json")
def nnvm():
    nodes = [{"op": "null", "name": "x", "inputs": []}]
    nodes += [{"op": "relu", "name": f"n{i}", "inputs": [[i, 0, 0]]} for i in range(SIZE // 55)]
    return {"graph.json": json.dumps({"nodes": nodes, "arg_nodes": [0], "heads": [[len(nodes) - 1, 0, 0]]}).encode()}


def safetensors(header, size=0):
    return struct.pack("<Q", len(header)) + header + bytes(size)


@reads("safetensors: metadata", "show", "model.safetensors")
def compiled():
    return {"model.safetensors": safetensors(filled('"k":"v"', '{"__metadata__":{', "}}", ","))}


SUM = {"inputs": ["x"], "outputs": ["y"], "ops": [
    {"name": "x", "optype": "source", "tensors_in": [], "tensors_out": [{"arg_name": "dst", "name": "x"}],
     "params": [{"arg_name": "dtype", "value": "TL_FLOAT"}, {"arg_name": "dims", "value": [4]}]},
    {"name": "w", "optype": "source", "tensors_in": [], "tensors_out": [{"arg_name": "dst", "name": "w"}],
     "params": [{"arg_name": "dtype", "value": "TL_FLOAT"}, {"arg_name": "dims", "value": [4]}, {"arg_name": "from_file", "value": True}]},
    {"name": "y", "optype": "elew", "tensors_in": [{"arg_name": "src1", "name": "x"}, {"arg_name": "src2", "name": "w"}],
     "tensors_out": [{"arg_name": "dst", "name": "y"}], "params": [{"arg_name": "elew_op", "value": "TL_SUM"}]}]}


def weights(name, content):
    return {"model.json": json.dumps(SUM).encode(), name: content}


@reads("safetensors: tensors", "show", "model.json", "-f", "w.safetensors")
def tensors():
    return weights("w.safetensors", safetensors(json.dumps({f"t{i}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
                                                            for i in range(SIZE // 65)}).encode()))


@reads("wts: tensors", "show", "model.json", "-f", "w.wts")
def wts():
    return weights("w.wts", f"{SIZE // 15}\n".encode() + b"".join(b"t%d 0 1 3f800000\n" % i for i in range(SIZE // 22)))


@reads("wts: a long line", "show", "model.json", "-f", "w.wts")
def long_wts():
    return weights("w.wts", b"1\nw 0 %d" % (SIZE // 9) + b" 3f800000" * (SIZE // 9) + b"\n")


@reads("params: names", "show", "model.json", "-f", "w.params")
def params():
    n = SIZE // 12
    return weights("w.params", struct.pack("<QQQ", 0xF7E58D4F05049CB7, 0, n) + b"".join(struct.pack("<Q", 3) + b"abc" for _ in range(n)))


# ---- IL ----

@reads("il: calls of a macro", "show", "model.net")
def macros():
    return {"model.net": filled("A(1)\n", "#define A(x) B(x) B(x)\n#define B(x) C(x) C(x)\n#define C(x) x x x x\n")}


@reads("il: macros that double", "show", "model.net")
def doubling():
    lines = ["#define A0 1 1"] + [f"#define A{i} A{i - 1} A{i - 1}" for i in range(1, 60)]
    return {"model.net": "\n".join(lines + ["A59"]).encode()}


@reads("il: brackets", "show", "model.net")
def brackets():
    return {"model.net": filled("(")}


@reads("il: one long line", "show", "model.net")
def line():
    return {"model.net": filled("a ")}


# ---- arrays, images, lists ----

def given(name, content):
    return weights(name, content) | {"w.wts": b"1\nw 0 4 0 0 0 0\n"}


RUN = "run", "model.json", "-f", "w.wts", "-i"


def npy(shape, size, header_size=0):
    text = f"{{'descr': '<f4', 'fortran_order': True, 'shape': {shape}, }}".ljust(header_size - 1) + "\n"
    return b"\x93NUMPY\2\0" + struct.pack("<I", len(text)) + text.encode() + bytes(size)


@reads("npy: a long header", *RUN, "x.npy")
def header():
    return given("x.npy", npy((4,), 16, SIZE))


@reads("npy: another shape", *RUN, "x.npy")
def shape():
    return given("x.npy", npy((SIZE // 8, 2), SIZE))


@reads("npz: a gigabyte of zeros", *RUN, "x.npz")
def bomb():
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("x.npy", "w") as member:
            member.write(npy((1_000_000_000,), 0))
            for _ in range(1000):
                member.write(bytes(1_000_000))
    return given("x.npz", out.getvalue())


@reads("npz: small arrays", *RUN, "x.npz")
def many():
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for i in range(40_000):
            archive.writestr(f"a{i}.npy", npy((4,), 16))
    return given("x.npz", out.getvalue())


@reads("onnx tensor: dimensions", *RUN, "x.pb")
def dims():
    return given("x.pb", field(1, 1) * (SIZE // 2) + field(2, 1) + field(4, 1.0))


@reads("image: many pixels", *RUN, "x.png")
def pixels():
    return given("x.png", png(30_000, zlib.compress(bytes(30_001) * 3000, 1)))


@reads("image: text", *RUN, "x.ppm")
def ppm():
    return given("x.ppm", filled(" 1", "P3 2000 2000 255"))


@reads("labels", "run", "model.json", "-f", "w.wts", "--top", "1", "--labels", "labels.txt")
def labels():
    return given("labels.txt", filled("a\n"))


@reads("a list of files", "run", "model.json", "-f", "w.wts", "--each", "list.txt")
def files():
    return given("list.txt", filled("none.npy\n"))
