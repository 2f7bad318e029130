#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: escapes.py PROGRAM... What models and files are named reaches a terminal escaped, by every command. Speaks TAP.

Names have ESC, OSC, BEL, a newline, C1 controls, DEL, marks of direction, line separators, and bytes that are not UTF-8.
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "structure"), os.path.join(HERE, "onnx")]
import onnx_writer as w  # noqa: E402
from tap import Tap  # noqa: E402

PROGRAMS = {os.path.basename(path): os.path.abspath(path) for path in sys.argv[1:]}
# Letters beyond ASCII stay.
EVIL = "\x1b[8A\x1b]0;t\x07\n\x7f\u009b\u202e\u2066\u200f\u2028\u00e4"
BYTES = os.fsencode("n" + EVIL) + b"\xe9"  # of a file
RAW = [mark.encode() for mark in "\x1b\x07\x7f\u009b\u202e\u2066\u200f\u2028"] + [b"\xe9\n", b"\n\x7f"]


def arguments(**values):
    return [{"arg_name": name, "value": value} for name, value in values.items()]


def op(name, optype, src, dst, **params):
    return {"name": name, "optype": optype, "tensors_in": [{"arg_name": "src", "name": src}] if src else [],
            "tensors_out": [{"arg_name": "dst", "name": dst}] if dst else [], "params": arguments(**params)}


def source(name, **more):
    return op("c" + name, "create", None, name, dtype="TL_FLOAT", dims=[2, 3], data=[0], ran=[0, 0], from_file=False, **more)


def model(*more):
    """x -> relu -> exp -> y, all named so."""
    x, y, z = "x" + EVIL, "y" + EVIL, "z" + EVIL
    return {"inputs": [x], "outputs": [y, z], "ops": [
        source(x), op("r" + EVIL, "relu", x, y), op("s" + EVIL, "softmax", y, z, axis=1), *more]}


def dense(name):
    """An ONNX model with one layer, for quantize."""
    weights = w.tensor("w" + name, "float", [8, 8], [float(k % 5) for k in range(64)])
    graph = w.graph([w.node("MatMul", ["x" + name, "w" + name], ["y" + name], name="m" + name)], [w.value("x" + name, "float", [4, 8])],
                    [w.value("y" + name, "float", [4, 8])], [weights])
    return w.model(graph, opset=17)


def write(path, content):
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else json.dumps(content).encode())


def files(folder):
    os.chdir(folder)
    write("good.json", model())
    write("print.json", model(op("p" + EVIL, "print", "y" + EVIL, None, msg="m\x1b]0;t\x07\u202e")))
    write("bad.json", model(op("b" + EVIL, "rleu" + EVIL, "y" + EVIL, "q" + EVIL)))
    write("fprint.json", model(op("p" + EVIL, "fprint", "y" + EVIL, None, msg="m", file="../" + EVIL)))
    write("x.bin", b"\0" * 24)
    write("dense.onnx", dense(EVIL))
    write("missing.onnx", w.model(w.graph([w.node("Odd" + EVIL, ["a"], ["b"], name="o" + EVIL, domain="d" + EVIL)],
                                          [w.value("a", "float", [1])], [w.value("b", "float", [1])]), opset=17))
    strings = w.graph([w.node("Identity", ["a"], ["b"])], [], [w.value("b", "string", [2])],
                      [w.tensor("a", "string", [2], [(EVIL + "1").encode(), b"2"])])
    write("strings.onnx", w.model(strings, opset=17))
    write("labels.txt", b"".join(b"l\x1b]0;t\x07\xc2\x9b\xe2\x80\xae\xe9%d\n" % k for k in range(6)))
    os.mkdir("each")
    write(os.path.join(b"each", BYTES + b".bin"), b"\0" * 24)
    write(os.path.join(b"each", BYTES + b"2.bin"), b"\0" * 23)
    write(BYTES + b".json", model())
    os.mkdir("data")
    for k in range(4):
        write(f"data/{k}.bin", bytes(4 * 8 * 4))


# Program, arguments, and what must be shown.
NAME, JSON = b"\\x1b", b"\\u001b"
X = "x" + EVIL + "=x.bin"
COMMANDS = [
    ("lightnet", ["good.json"], None),
    ("lightnet", ["print.json"], NAME),
    ("lightnet", ["show", "good.json"], NAME),
    ("lightnet", ["show", "good.json", "--dot"], NAME),
    ("lightnet", ["show", "good.json", "--svg"], None),
    ("lightnet", ["show", "good.json", "--json"], JSON),
    ("lightnet", ["show", "good.json", "--memory", "--svg"], None),
    ("lightnet", ["show", "missing.onnx"], NAME),
    ("lightnet", ["show", "missing.onnx", "--missing"], NAME),
    ("lightnet", ["show", "missing.onnx", "--missing", "--json"], JSON),
    ("lightnet", ["show", BYTES + b".json"], NAME),
    ("lightnet", ["show", BYTES + b"none.json"], NAME),
    ("lightnet", ["run", "good.json"], NAME),
    ("lightnet", ["run", "good.json", "-i", X], NAME),
    ("lightnet", ["run", "good.json", "-i", X, "--json"], JSON),
    ("lightnet", ["run", "good.json", "-i", X, "--top", "2", "--labels", "labels.txt"], NAME),
    ("lightnet", ["run", "good.json", "-i", "q" + EVIL + "=x.bin"], NAME),
    ("lightnet", ["run", "good.json", "-i", X, "--fetch", "f" + EVIL], NAME),
    ("lightnet", ["run", "good.json", "--each", "each"], NAME),
    ("lightnet", ["run", "good.json", "--each", "each", "--json"], JSON),
    ("lightnet", ["run", "bad.json"], NAME),
    ("lightnet", ["run", "fprint.json"], NAME),
    ("lightnet", ["run", "fprint.json", "-i", X, "--allow-output", "data"], NAME),
    ("lightnet", ["run", "strings.onnx"], JSON),
    ("lightnet", ["run", "strings.onnx", "--json"], JSON),
    ("lightnet", ["bench", "good.json", "--seconds", "0.01", "--per-op"], NAME),
    ("lightnet", ["bench", "bad.json"], NAME),
    ("lightnet", ["verify", "good.json", "--reference"], None),
    ("lightnet", ["verify", "good.json", "--reference", "--rtol", "0", "--atol", "0"], None),
    ("lightnet", ["verify", "good.json", "none" + EVIL], NAME),
    ("lightnet", ["verify", "bad.json", "--reference"], NAME),
    ("lightnet", ["compile", "bad.json", "-o", "o.json"], NAME),
    ("lightnet", ["compile", "good.json", "-o", "none/" + EVIL], NAME),
    ("lightnet", ["convert", "bad.json", "-o", "o.json"], NAME),
    ("lightnet", ["convert", "good.json", "-o", "o" + EVIL], NAME),
    ("lightnet", ["quantize", "dense.onnx", "--data", "data", "-o", "q.safetensors", "--any-speed"], NAME),
    ("lightnet", ["quantize", "dense.onnx", "--data", "data" + EVIL, "-o", "q.safetensors"], NAME),
    ("lightnet", ["ops", "relu" + EVIL], NAME),
    ("lightnet", ["ops", "--plugin", "plug" + EVIL], NAME),
    ("lightnet", ["completion", "bash" + EVIL], NAME),
    ("lightnet", ["frob" + EVIL], NAME),
    ("lightnet", ["run", "--frob" + EVIL], NAME),
    ("lightnet", ["run", "good.json", "--debug", "-i", X, "--disable-rule", "d" + EVIL], NAME),
    ("lightnet", ["run", "good.json", "-t", "t" + EVIL, "-i", X], NAME),
    ("lightnet", ["env"], NAME),
    ("il2json", ["none" + EVIL], NAME),
    ("il2json", ["--frob" + EVIL], NAME),
    ("genwts", ["-t", "0", "-o", "o.wts", "none" + EVIL], NAME),
    ("genwts", ["--frob" + EVIL], NAME),
    ("ln-opgen", ["none" + EVIL], NAME),
    ("ln-opgen", ["--frob" + EVIL, "x"], NAME),
    ("ln-optgen", ["none" + EVIL], NAME),
]


def faults_of(program, words, shown):
    env = dict(os.environ, **({"LIGHTNET_PLUGIN_PATH": "p" + EVIL} if words == ["env"] else {}))
    done = subprocess.run([PROGRAMS[program], *words], stdin=subprocess.DEVNULL, capture_output=True, env=env, timeout=60, check=False)
    printed = done.stdout + b"---\n" + done.stderr
    faults = [f"prints {mark!r} in {line!r}" for line in printed.split(b"\n") for mark in RAW if mark.strip(b"\n") in line and mark != b"\n"]
    for line in printed.split(b"\n"):
        try:
            line.decode()
        except UnicodeDecodeError:
            faults.append(f"no UTF-8: {line!r}")
    if shown and shown not in printed:
        faults.append(f"shows no {shown}: {printed.decode(errors='backslashreplace')}")
    if done.returncode < 0:
        faults.append(f"ended by signal {-done.returncode}")
    return faults[:5]


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        files(folder)
        for program, words, shown in COMMANDS:
            name = " ".join([program, *(word if isinstance(word, str) else os.fsdecode(word) for word in words)])
            name = name.encode("ascii", "backslashreplace").decode().replace("\n", "\\n").replace("\x1b", "\\x1b").replace("#", "")
            name = name.replace("\x07", "").replace("\x7f", "")
            if program in PROGRAMS:
                tap.check(name, faults_of(program, words, shown))
            else:
                tap.skip(name, f"built without {program}")
        os.chdir("/")
    tap.end()


if __name__ == "__main__":
    main()
