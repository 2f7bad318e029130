# SPDX-License-Identifier: Apache-2.0
"""A server for a test, its clients, and its models."""
import contextlib
import http.client
import json
import os
import re
import select
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../onnx"), os.path.join(HERE, "../python"), os.path.join(HERE, "../structure")]

import numpy as np
import onnx_writer as w
from tap import ROOT

DIGITS = os.path.join(ROOT, "examples/digits/digits.onnx")
DATATYPES = {"BOOL": "bool", "INT8": "int8", "INT16": "int16", "INT32": "int32", "INT64": "int64", "UINT8": "uint8",
             "UINT16": "uint16", "UINT32": "uint32", "UINT64": "uint64", "FP16": "float16", "FP32": "float32", "FP64": "float64"}
NAMES = {np.dtype(name): datatype for datatype, name in DATATYPES.items()}
SLOW = 1e6  # rounds that take minutes


# Models

def unary(op="Relu", dtype="float", shape=("n", 3), out_shape=None, outputs=1):
    """y = op(x), and maybe z = op(x)."""
    names = ["y", "z"][:outputs]
    whole = w.graph([w.node(op, ["x"], [name]) for name in names], [w.value("x", dtype, list(shape))],
                    [w.value(name, dtype, None if out_shape is None else list(out_shape)) for name in names])
    return w.model(whole, opset=17)


def affine(rows="n", seed=1, size=64):
    """y = softmax(relu(x m) m), whose rows depend on themselves alone."""
    m = np.random.default_rng(seed).standard_normal((size, size)).astype(np.float32) / 8
    whole = w.graph([w.node("MatMul", ["x", "m"], ["a"]), w.node("Relu", ["a"], ["b"]), w.node("MatMul", ["b", "m"], ["c"]),
                     w.node("Softmax", ["c"], ["y"], axis=-1)],
                    [w.value("x", "float", [rows, size])], [w.value("y", "float", [rows, size])],
                    [w.tensor("m", "float", [size, size], m.ravel().tolist())])
    return w.model(whole, opset=17)


def scaled(factor):
    """y = factor x."""
    whole = w.graph([w.node("Mul", ["x", "f"], ["y"])], [w.value("x", "float", ["n", 2])], [w.value("y", "float", ["n", 2])],
                    [w.tensor("f", "float", [], [factor])])
    return w.model(whole, opset=17)


def slow():
    """A loop of `count` products of matrices; y is the last one."""
    body = w.graph([w.node("MatMul", ["a", "m"], ["b"]), w.node("Identity", ["c"], ["d"])],
                   [w.value("i", "int64", []), w.value("c", "bool", []), w.value("a", "float", [128, 128])],
                   [w.value("d", "bool", []), w.value("b", "float", [128, 128])])
    whole = w.graph([w.node("Loop", ["count", "", "m"], ["y"], body=body)], [w.value("count", "int64", [])],
                    [w.value("y", "float", [128, 128])], [w.tensor("m", "float", [128, 128], [0.0] * 128 * 128)])
    return w.model(whole, opset=17)


def types():
    """Identity of each type: x_INT8 to y_INT8."""
    kinds = {"FP16": "float16", "FP32": "float", "FP64": "double", "BYTES": "string", "BF16": "bfloat16"}
    names = [*DATATYPES, "BYTES", "BF16"]
    of = {name: kinds.get(name, DATATYPES.get(name)) for name in names}
    whole = w.graph([w.node("Identity", ["x_" + name], ["y_" + name]) for name in names],
                    [w.value("x_" + name, of[name], [3]) for name in names], [w.value("y_" + name, of[name], [3]) for name in names])
    return w.model(whole, opset=17)


def write(path, data):
    """Replaces a file at once, as those who deploy models should."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + "~", "wb") as file:
        file.write(data)
    os.replace(path + "~", path)


# Servers

class Server:
    """lightnet-serve with a port of its own; `with` ends it by SIGTERM and expects status 0."""

    def __init__(self, program, *args, port=0, tls=None, status=0, wait=True):
        self.tls, self.status, self.text = tls, status, ""
        # A sanitizer keeps little of the memory that was freed, and UBSan ends the server, too.
        env = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=16",
               "UBSAN_OPTIONS": os.environ.get("UBSAN_OPTIONS", "") + ":halt_on_error=1:print_stacktrace=1"}
        self.process = subprocess.Popen([program, *map(str, args), "--port", str(port), "--log", "json", "--log-requests"],
                                        stderr=subprocess.PIPE, env=env)
        os.set_blocking(self.process.stderr.fileno(), False)
        found = self.wait_for_log(r"listening on https?://(.*):(\d+)")
        assert found, "it does not listen:\n" + self.text
        self.port = int(found[2])
        if wait:
            self.wait_until_ready()

    def read_log(self):
        with contextlib.suppress(BlockingIOError):
            self.text += (os.read(self.process.stderr.fileno(), 1 << 20) or b"").decode()
        return self.text

    def wait_for_log(self, pattern, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = re.search(pattern, self.read_log())
            if found:
                return found
            if self.process.poll() is not None:
                break
            select.select([self.process.stderr], [], [], .05)
        return None

    def is_ready(self):
        self.read_log()  # a full pipe loses lines
        return self.get("/v2/health/ready")[0] == 200

    def wait_until_ready(self, seconds=30):
        wait_for(self.is_ready, seconds)

    def connect(self, timeout=60):
        if self.tls:
            return http.client.HTTPSConnection("localhost", self.port, timeout=timeout, context=self.tls)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def call(self, method, path, body=None, headers=None, connection=None):
        """(status, headers, bytes)."""
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        own = connection or self.connect()
        try:
            own.request(method, path, body, headers or {})
            response = own.getresponse()
            return response.status, response.headers, response.read()
        finally:
            if not connection:
                own.close()

    def get(self, path, headers=None):
        """(status, the object of JSON)."""
        status, _, body = self.call("GET", path, headers=headers)
        return status, json.loads(body)

    def post(self, path, body=None, headers=None, connection=None):
        status, _, body = self.call("POST", path, body, headers, connection)
        return status, json.loads(body)

    def infer(self, model, inputs, connection=None, binary=True, **parameters):
        """{name: array} of the outputs; raises an error's text."""
        body, headers = request(inputs, binary, **parameters)
        status, headers, body = self.call("POST", f"/v2/models/{model}/infer", body, headers, connection)
        if status != 200:
            raise Refused(status, headers, json.loads(body)["error"])
        return read_response(headers, body)

    def metrics(self):
        return read_metrics(self.call("GET", "/metrics")[2].decode())

    def log(self):
        """The objects that it has logged."""
        return [json.loads(line) for line in self.read_log().splitlines()]

    def stop(self, which=signal.SIGTERM, seconds=30):
        self.process.send_signal(which)
        return self.wait(seconds)

    def wait(self, seconds=30):
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            self.read_log()
            time.sleep(.005)
        assert self.process.poll() is not None, "it does not end"
        self.read_log()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if self.process.poll() is None:
                status = self.stop()
                assert status == self.status or kind, f"exit status {status}\n{self.text[-2000:]}"
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self.process.stderr.close()


class Refused(Exception):
    """A response that is an error."""

    def __init__(self, status, headers, text):
        super().__init__(f"{status}: {text}")
        self.status, self.headers, self.text = status, headers, text


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(.01)


def accepts(host, port):
    try:
        socket.create_connection((host, port), 10).close()
        return True
    except ConnectionResetError:  # the socket was closed while this waited to be accepted
        return True
    except ConnectionRefusedError:
        return False


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory(prefix="lightnet-serve-") as path:
        yield path


# Requests

def request(inputs, binary=True, **parameters):
    """The body and headers of a request with arrays."""
    described, data = [], b""
    for name, array in inputs.items():
        array = np.asarray(array)
        one = {"name": name, "shape": list(array.shape), "datatype": NAMES[array.dtype]}
        if binary:
            one["parameters"] = {"binary_data_size": array.nbytes}
            data += array.tobytes()
        else:
            one["data"] = array.ravel().tolist()
        described.append(one)
    text = json.dumps({"inputs": described, "parameters": {"binary_data_output": binary, **parameters}}).encode()
    return text + data, {"Inference-Header-Content-Length": str(len(text))} if binary else {}


def read_response(headers, body):
    size = int(headers.get("Inference-Header-Content-Length", len(body)))
    answer, rest, outputs = json.loads(body[:size]), body[size:], {}
    for output in answer["outputs"]:
        dtype = DATATYPES[output["datatype"]]
        n = output.get("parameters", {}).get("binary_data_size")
        flat = np.array(output["data"], dtype) if n is None else np.frombuffer(rest[:n], dtype)
        rest = rest[n or 0:]
        outputs[output["name"]] = flat.reshape(output["shape"])
    assert not rest, "bytes follow the outputs"
    return outputs


# Metrics

SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (-?[0-9.e+-]+|\+Inf|NaN)')


def read_metrics(text):
    """{name: {labels: value}} of Prometheus' text format; fails where the text is not in it."""
    found, types, last = {}, {}, None
    assert text.endswith("\n")
    for line in text.splitlines():
        comment = re.fullmatch(r"# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)", line)
        if comment:
            if comment[1] == "TYPE":
                assert comment[2] not in types, line
                assert comment[3] in ("counter", "gauge", "histogram"), line
                types[comment[2]] = comment[3]
                last = comment[2]
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample, line
        name = sample[1]
        assert name == last or (types[last] == "histogram" and name in (last + "_bucket", last + "_sum", last + "_count")), line
        labels = tuple(sorted(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', sample[2] or "")))
        assert labels not in found.setdefault(name, {}), line
        found[name][labels] = float(sample[3])
    return found


def metric(metrics, name, **labels):
    return sum(value for given, value in metrics.get(name, {}).items() if set(labels.items()) <= set(given))
