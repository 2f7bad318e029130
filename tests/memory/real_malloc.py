#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: real_malloc.py LIGHTNET FAIL_MALLOC PACKAGE|- [MB ...]. Real malloc fails in every reader, also those of libraries.

Files with strings and data of some MB are read while an allocation of the process fails, once or from then on for ever, and under
limits of its address space: the result is the usual one or a message about memory, never a signal or a hang. PACKAGE: the folder of
the Python package. Without sizes: 1 MB, and few allocations of each file. Speaks TAP.
"""
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path[:0] = [os.path.join(HERE, "..", "structure"), os.path.join(HERE, "..", "onnx")]
import onnx_writer as w  # noqa: E402
from tap import Tap  # noqa: E402

SECONDS = 120  # a hang takes longer on any load of the machine
DIGITS = os.path.join(ROOT, "examples", "digits", "digits")
MB = 1 << 20


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


# Files: each function writes one with about `size` bytes of text or data, and returns the arguments of lightnet.

def ir(folder, text):
    model = json.loads(bytes_of(os.path.join(ROOT, "tests", "cases", "bodies.json")))
    model["remark"] = text
    return ["show", write(folder + "/m.json", json.dumps(model).encode())]


def ir_with_a_quote_at_the_end_of_the_buffer(folder, text):
    """The bytes of the string and its quotes are a power of two."""
    return ir(folder, text[:(1 << (len(text).bit_length() - 1)) - 2])


def ir_numbers(folder, text):
    model = {"version": 1, "inputs": [], "outputs": [], "ops": [], "remark": list(range(len(text) // 8)), "long": 0}
    return ["show", write(folder + "/m.json", json.dumps(model).replace('"long": 0', '"long": 0.' + "1" * len(text)).encode())]


def with_metadata(path, text):
    """The bytes of a safetensors file with another long string."""
    data = bytes_of(path)
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    header.setdefault("__metadata__", {})["remark"] = text
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    return struct.pack("<Q", len(head)) + head + data[8 + size:]


def safetensors(folder, text):
    weights = write(folder + "/w.safetensors", with_metadata(DIGITS + ".safetensors", text))
    return ["run", DIGITS + ".json", "-f", weights, "-i", f"image={DIGITS[:-6]}seven.pgm"]


def compiled(folder, text):
    path = folder + "/c.safetensors"
    subprocess.run([LIGHTNET, "compile", DIGITS + ".onnx", "-o", path], check=True, capture_output=True)
    return ["show", write(path, with_metadata(path, text))]


def nnvm(folder, text):
    graph = json.loads(bytes_of(DIGITS + "-symbol.json"))
    graph.setdefault("attrs", {})["remark"] = ["str", text]
    return ["show", write(folder + "/n.json", json.dumps(graph).encode()), "--shape", "image=1x1x28x28"]


def onnx(folder, text):
    node = w.node("Identity", ["s"], ["y"])
    graph = w.graph([node], [], [w.value("y", "string", [2])], [w.tensor("s", "string", [2], [text, "b"])])
    return ["show", write(folder + "/m.onnx", w.model(graph, opset=17))]


def onnx_weights(folder, text):
    values = [1.0] * (len(text) // 4)
    graph = w.graph([w.node("Abs", ["c"], ["y"])], [], [w.value("y", "float", [len(values)])],
                    [w.tensor("c", "float", [len(values)], values)])
    return ["run", write(folder + "/m.onnx", w.model(graph, opset=17))]


def il(folder, text):
    return ["show", write(folder + "/m.net", b"// " + text.encode() + b"\n" + bytes_of(EVERYTHING) + b"\n// " + text.encode())]


def with_input(folder, array, save):
    """A model whose input is the array, in a file."""
    graph = w.graph([w.node("Identity", ["x"], ["y"])], [w.value("x", "float", array.shape)], [w.value("y", "float", array.shape)])
    model = write(folder + "/i.onnx", w.model(graph, opset=17))
    return ["run", model, "-i", "x=" + save(array)]


def array_of(text):
    return np.zeros((len(text) // 4,), np.float32)


def npy(folder, text):
    def save(array):
        np.save(folder + "/x.npy", array)
        return folder + "/x.npy"
    return with_input(folder, array_of(text), save)


def npz(folder, text):
    def save(array):
        np.savez_compressed(folder + "/x.npz", x=array)
        return folder + "/x.npz"
    return with_input(folder, array_of(text), save)


def tensor_proto(folder, text):
    array = array_of(text)
    return with_input(folder, array, lambda a: write(folder + "/x.pb", w.tensor("x", "float", a.shape, a.tolist())))


def side_of(text):
    return int((len(text) // 3) ** 0.5)


def png(folder, text):
    side = side_of(text)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" + b"\x40\x80\xc0" * side) * side
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) + \
        chunk(b"tEXt", b"Comment\0" + text.encode()) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")
    return with_input(folder, np.zeros((1, 3, 32, 32)), lambda _: write(folder + "/x.png", data))


def jpeg(folder, text):
    data = bytes_of(os.path.join(ROOT, "fuzz", "seeds", "image", "small.jpg"))
    comment = text.encode()[:65000]
    comments = (b"\xff\xfe" + struct.pack(">H", len(comment) + 2) + comment) * max(1, len(text) // 65000)
    return with_input(folder, np.zeros((1, 3, 14, 14)), lambda _: write(folder + "/x.jpg", data[:2] + comments + data[2:]))


def detections(folder, text):
    """Masks of a photo with as many pixels as the text has characters."""
    side = side_of(text)
    rows = [0, 0, 20, 20, 0.9, 1, 1, 0, 10, 10, 32, 32, 0.8, 0, 0.5, -1]
    outputs = {"boxes": ([1, 2, 8], rows), "masks": ([1, 2, 8, 8], [(i % 7) - 3 for i in range(128)])}
    nodes = [w.node("Identity", ["c_" + name], [name]) for name in outputs]
    graph = w.graph(nodes, [w.value("x", "float", [1, 3, 32, 32])], [w.value(name, "float", outputs[name][0]) for name in outputs],
                    [w.tensor("c_" + name, "float", *outputs[name]) for name in outputs])
    photo = write(folder + "/p.ppm", b"P6 %d %d 255\n" % (side, side) + b"\x40\x80\xc0" * side * side)
    return ["run", write(folder + "/d.onnx", w.model(graph, opset=17)), "-i", photo, "-w", "--task", "segment", "--json"]


EVERYTHING = os.path.join(ROOT, "fuzz", "seeds", "il", "everything.net")
READERS = [ir, ir_with_a_quote_at_the_end_of_the_buffer, ir_numbers, safetensors, compiled, nnvm, onnx, onnx_weights, il, npy, npz,
           tensor_proto, png, jpeg, detections]


class Case:
    """A command, and its result where nothing fails."""

    def __init__(self, arguments, folder):
        self.command, self.folder = [LIGHTNET, *arguments], folder
        count = folder + "/count"
        self.usual = self.result(LN_FAIL_COUNT=count)
        self.n = int(bytes_of(count))
        if not self.n:
            raise RuntimeError("the preloaded library counts no allocation")

    def result(self, limit=None, **env):
        def prepare():
            if limit:
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        env = {**os.environ, "LC_ALL": "C.UTF-8", "LIGHTNET_NUM_THREADS": "1", **env}
        if not limit:
            env["LD_PRELOAD"] = SHIM
        try:
            done = subprocess.run(self.command, stdin=subprocess.DEVNULL, capture_output=True, env=env, timeout=SECONDS,
                                  preexec_fn=prepare, cwd=self.folder, check=False)
        except subprocess.TimeoutExpired:
            return "hang", b"", b""
        return done.returncode, done.stdout, done.stderr

    def fault(self, result):
        """What is wrong with a result, or None."""
        status, _, errors = result
        if result[:2] == self.usual[:2]:
            return None
        words = errors.lower()
        is_message = b"memory" in words or b"allocate" in words
        return None if status == 1 and is_message else f"status {status}: {errors[-200:].decode(errors='replace')}"

    def faults_at(self, numbers, **env):
        for n in numbers:
            fault = self.fault(self.result(LN_FAIL_AT=str(n), **env))
            if fault:
                yield f"{' '.join(self.command[1:])}: allocation {n} {env}: {fault}"


def spread(n, most):
    """At most `most` of 1 .. n, evenly, with the first and the last."""
    return sorted({1 + i * (n - 1) // max(1, most - 1) for i in range(most)}) if n else []


def faults_of(reader, size, most):
    with tempfile.TemporaryDirectory() as folder:
        case = Case(reader(folder, "A" * size), folder)
        if case.usual[0] != 0:
            return [f"{reader.__name__}: {case.usual}"]
        faults = []
        for env in ({}, {"LN_FAIL_EVER": "1"}):
            faults += case.faults_at(spread(case.n, most), **env)
            large = {**env, "LN_FAIL_FROM": str(size // 4)}
            faults += case.faults_at(range(1, 5), **large)
        return faults


def limited_faults(size, step):
    """Limits of address space, as of `ulimit -v`, in KB."""
    with tempfile.TemporaryDirectory() as folder:
        case = Case(ir(folder, "A" * size), folder)
        results = [(kb, case.result(limit=kb << 10)) for kb in range(14000 if size < 20 * MB else 30000, 120001, step)]
        faults = [f"{kb} KB: {case.fault(result)}" for kb, result in results if case.fault(result)]
        statuses = {result[0] for _, result in results}
    return faults + ([] if 1 in statuses else [f"no limit was reached: {statuses}"])


PYTHON = r"""
import ctypes, os, resource, sys, threading
package, shim, path, mode = sys.argv[1:5]
sys.path.insert(0, package)
import lightnet
def work():
    try:
        lightnet.Model(path)
        print("opened", end="")
    except MemoryError:
        print("memory", end="")
    except lightnet.Error as e:
        print("memory" if "memory" in str(e).lower() or "allocate" in str(e) else f"fault: {e}", end="")
if mode == "limit":
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    limit = now + int(sys.argv[5])
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    work()
else:
    arm = ctypes.CDLL(shim).ln_fail_malloc
    def armed():
        arm(int(sys.argv[5]), int(mode == "ever"), int(sys.argv[6]))
        try:
            work()
        finally:
            arm(0, 0, 0)
    if sys.argv[7] == "thread":
        threading.stack_size(1 << 20)
        thread = threading.Thread(target=armed)
        thread.start()
        thread.join()
    else:
        armed()
"""


def python_result(path, *arguments, **env):
    command = [sys.executable, "-c", PYTHON, PACKAGE, SHIM, path, *map(str, arguments)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False,
                              env={**os.environ, "LIGHTNET_NUM_THREADS": "1", **env})
    except subprocess.TimeoutExpired:
        return "hang", ""
    return done.returncode, done.stdout + done.stderr[-300:]


def python_faults(size, limits, counts):
    """`counts`: how many of the first allocations fail, in the main thread and in another one."""
    with tempfile.TemporaryDirectory() as folder:
        path = ir(folder, "A" * size)[-1]
        asked = [("limit", mb * MB) for mb in limits]
        asked += [(mode, n, least, where) for mode in ("once", "ever") for where in ("main", "thread")
                  for n, least in [(n, 0) for n in range(1, counts + 1)] + [(n, size // 4) for n in (1, 2)]]
        results = [(arguments, python_result(path, *arguments, **({} if arguments[0] == "limit" else {"LD_PRELOAD": SHIM})))
                   for arguments in asked]
    # Python itself may end with an uncaught MemoryError, whose traceback needs memory.
    faults = [f"{arguments}: {status} {text}" for arguments, (status, text) in results
              if status not in (0, 1) or "fault" in text or (status == 1 and "MemoryError" not in text)]
    return faults + ([] if any(text == "memory" for _, (_, text) in results) else ["no call ran out of memory"])


def main():
    tap = Tap()
    sizes = [int(mb) for mb in sys.argv[4:]]
    for mb in sizes or [1]:
        for reader in READERS:
            most = 8 if not sizes else 200 if mb == 1 else 16
            tap.check(f"{reader.__name__}, {mb} MB", faults_of(reader, mb * MB, most))
    tap.check("limits of address space", limited_faults(20 * MB if sizes else 4 * MB, 2000 if sizes else 10000))
    if PACKAGE != "-":
        limits = range(0, 100, 6) if sizes else range(0, 24, 4)
        tap.check("Python", python_faults(20 * MB if sizes else 4 * MB, limits, 24 if sizes else 4))
    else:
        tap.skip("Python", "built without the package")
    tap.end()


LIGHTNET, SHIM, PACKAGE = (os.path.abspath(path) if path != "-" else path for path in sys.argv[1:4])
main()
