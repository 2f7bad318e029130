# SPDX-License-Identifier: Apache-2.0
"""A server with gRPC for a test, its models, and messages from descriptions that protoc-c wrote."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../onnx"), os.path.join(HERE, "../structure")]

import onnx_writer as onnx  # noqa: E402
from tap import ROOT, Tap  # noqa: E402,F401

# The protocol's types: what ONNX, NumPy and the fields of typed contents call them. NumPy has no bfloat16.
TYPES = {"BOOL": ("bool", "?", "bool_contents"), "INT8": ("int8", "i1", "int_contents"), "INT16": ("int16", "<i2", "int_contents"),
         "INT32": ("int32", "<i4", "int_contents"), "INT64": ("int64", "<i8", "int64_contents"),
         "UINT8": ("uint8", "u1", "uint_contents"), "UINT16": ("uint16", "<u2", "uint_contents"),
         "UINT32": ("uint32", "<u4", "uint_contents"), "UINT64": ("uint64", "<u8", "uint64_contents"),
         "FP16": ("float16", "<f2", None), "BF16": ("bfloat16", "<u2", None), "FP32": ("float", "<f4", "fp32_contents"),
         "FP64": ("double", "<f8", "fp64_contents"), "BYTES": ("string", None, "bytes_contents")}
SLOW = 10**6  # rounds that take minutes


def write_identity(folder, datatype):
    """y = x, of any length."""
    kind = TYPES[datatype][0]
    write_model(folder, "id_" + datatype.lower(), [onnx.node("Identity", ["x"], ["y"])],
                [onnx.value("x", kind, ["n"])], [onnx.value("y", kind, ["n"])])


def write_model(folder, name, nodes, inputs, outputs, constants=()):
    with open(os.path.join(folder, name + ".onnx"), "wb") as file:
        file.write(onnx.model(onnx.graph(nodes, inputs, outputs, constants), opset=17))


def write_models(folder):
    """Identities; `two` of two inputs and outputs; `affine`, whose rounding shows; `slow` of `count` rounds."""
    for datatype in TYPES:
        write_identity(folder, datatype)
    write_model(folder, "two", [onnx.node("Add", ["a", "b"], ["sum"]), onnx.node("Sub", ["a", "b"], ["difference"])],
                [onnx.value(name, "float", ["n", 2]) for name in "ab"],
                [onnx.value(name, "float", ["n", 2]) for name in ("sum", "difference")])
    matrix = [((7 * i) % 31 - 15) / 13 for i in range(64 * 64)]
    write_model(folder, "affine", [onnx.node("MatMul", ["x", "m"], ["a"]), onnx.node("Softmax", ["a"], ["y"], axis=-1)],
                [onnx.value("x", "float", ["n", 64])], [onnx.value("y", "float", ["n", 64])],
                [onnx.tensor("m", "float", [64, 64], matrix)])
    body = onnx.graph([onnx.node("MatMul", ["a", "m"], ["b"]), onnx.node("Identity", ["c"], ["d"])],
                      [onnx.value("i", "int64", []), onnx.value("c", "bool", []), onnx.value("a", "float", [128, 128])],
                      [onnx.value("d", "bool", []), onnx.value("b", "float", [128, 128])])
    write_model(folder, "slow", [onnx.node("Loop", ["count", "", "m"], ["y"], body=body)], [onnx.value("count", "int64", [])],
                [onnx.value("y", "float", [128, 128])], [onnx.tensor("m", "float", [128, 128], [0.0] * 128 * 128)])
    with open(os.path.join(folder, "broken.onnx"), "wb") as file:
        file.write(b"this is no model")


def write_endless(folder):
    """y = x, after as many rounds as the largest element."""
    body = onnx.graph([onnx.node("MatMul", ["a", "m"], ["b"]), onnx.node("Identity", ["c"], ["d"])],
                      [onnx.value("i", "int64", []), onnx.value("c", "bool", []), onnx.value("a", "float", [128, 128])],
                      [onnx.value("d", "bool", []), onnx.value("b", "float", [128, 128])])
    write_model(folder, "endless",
                [onnx.node("ReduceMax", ["x"], ["most"], keepdims=0), onnx.node("Cast", ["most"], ["count"], to=7),
                 onnx.node("Loop", ["count", "", "m"], ["last"], body=body), onnx.node("ReduceSum", ["last"], ["end"], keepdims=0),
                 onnx.node("Mul", ["end", "zero"], ["nothing"]), onnx.node("Add", ["x", "nothing"], ["y"])],
                [onnx.value("x", "float", ["n", 1])], [onnx.value("y", "float", ["n", 1])],
                [onnx.tensor("m", "float", [128, 128], [0.0] * 128 * 128), onnx.tensor("zero", "float", [], [0.0])])


class Server:
    """lightnet-serve at ports of its own; `with` ends it by SIGTERM, and expects the status 0 and no sanitizer's word."""

    def __init__(self, program, folder, *args, wait=True, log_requests=True, grpc_port=0):
        # Read by another descriptor than the server's: an offset that they share would move where it writes.
        self.log = tempfile.NamedTemporaryFile(prefix="lightnet-grpc-")
        # A sanitizer keeps little of the memory that was freed, and UBSan ends the server, too.
        env = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=16",
               "UBSAN_OPTIONS": os.environ.get("UBSAN_OPTIONS", "") + ":halt_on_error=1:print_stacktrace=1"}
        self.process = subprocess.Popen([program, folder, "--port", "0", "--grpc-port", str(grpc_port), "--log", "json", "--poll", "0",
                                         *["--log-requests"] * log_requests, *map(str, args)], stderr=self.log, env=env)
        tls = "s" if "--tls-cert" in args else ""
        self.port = self.find_port(f"grpc{tls}://")
        self.http_port = self.find_port(f"http{tls}://")
        self.address = f"127.0.0.1:{self.port}"
        if wait:
            wait_for(lambda: re.search("loaded model 'slow'", self.text()) and re.search("'broken' is not loaded", self.text()))

    def text(self):
        with open(self.log.name, encoding="utf-8", errors="replace") as file:
            return file.read()

    def find_port(self, scheme):
        found = wait_for(lambda: re.search(f'listening on {scheme}[^ "]*:([0-9]+)"', self.text()) or self.process.poll() is not None)
        assert found not in (None, True), "the server does not listen:\n" + self.text()
        return int(found[1])

    def rest(self, path, body=None):
        """(status, the object of JSON)."""
        url = f"http://127.0.0.1:{self.http_port}{path}"
        request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def metric(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http_port}/metrics", timeout=30) as response:
            found = re.search("^" + re.escape(name) + " (.*)$", response.read().decode(), re.M)
        return float(found[1]) if found else 0

    def memory(self):
        """Resident bytes."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def stop(self):
        self.process.terminate()
        status = self.process.wait(60)
        words = [line for line in self.text().splitlines() if "Sanitizer" in line or "runtime error" in line]
        assert status == 0 and not words, f"the server ended with {status}\n{self.text()[-3000:]}"

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            wait_for(lambda: self.process.poll() is not None, 1)  # a report of a sanitizer takes a moment
            print(f"the server {'runs' if self.process.poll() is None else 'has ended'}; its log:\n{self.text()[-5000:]}", file=sys.stderr)
            self.process.kill()
            self.process.wait()
        else:
            self.stop()


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = condition()
        if got:
            return got
        time.sleep(.02)
    return None


class Messages:
    """Classes of messages by their names, from files of descriptions."""

    def __init__(self, *files):
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
        pool = descriptor_pool.DescriptorPool()
        factory = message_factory.MessageFactory(pool)
        self.services = {}
        for file in files:
            with open(file, "rb") as stream:
                described = descriptor_pb2.FileDescriptorSet.FromString(stream.read())
            for proto in described.file:
                pool.Add(proto)
                prefix = proto.package + "."
                for message in proto.message_type:
                    found = pool.FindMessageTypeByName(prefix + message.name)
                    for of in [found, *found.nested_types]:
                        setattr(self, of.name, factory.GetPrototype(of))
                for service in proto.service:
                    for method in service.method:
                        self.services[method.name] = (f"/{prefix}{service.name}/{method.name}", method.input_type.split(".")[-1],
                                                      method.output_type.split(".")[-1])
