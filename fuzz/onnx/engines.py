# SPDX-License-Identifier: Apache-2.0
"""The two engines that fuzz_onnx.py compares, each in its own process, which is started again when it ends."""
import base64
import json
import os
import pickle
import select
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT = 30  # seconds for one model


class Crash(str):
    """How a process ended instead of answering."""


class Child:
    """A process that answers requests in order."""

    def __init__(self, command, environment=None):
        self.command, self.environment, self.process, self.crashes = command, environment, None, 0

    def ask(self, request):
        """The bytes of an answer, or a Crash."""
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, env=self.environment)
        try:
            self.process.stdin.write(request)
            self.process.stdin.flush()
            if not select.select([self.process.stdout], [], [], TIMEOUT)[0]:
                return self.end(f"no answer within {TIMEOUT} s")
            result = self.read(self.process.stdout)
        except (BrokenPipeError, EOFError):
            result = None
        return self.end() if result is None else result

    def end(self, reason=None):
        self.process.kill() if reason else None
        status = self.process.wait()
        self.process, self.crashes = None, self.crashes + 1
        return Crash(reason or f"ended with status {status}")

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


class LightNet(Child):
    def __init__(self, package):
        super().__init__([sys.executable, os.path.join(HERE, "lightnet_child.py"), package])

    def run(self, model, inputs):
        """Arrays, an error as str, or a Crash."""
        return self.ask(pickle.dumps((model, inputs)))

    @staticmethod
    def read(stream):
        return pickle.load(stream)


class Runtime(Child):
    """ONNX Runtime, by the npm package onnxruntime-node."""

    def __init__(self, modules, level):
        super().__init__(["node", os.path.join(HERE, "runtime_child.js")], os.environ | {"NODE_PATH": modules})
        self.level = level

    def run(self, model, inputs):
        rows = {name: self.row_of(array) for name, array in inputs.items()}
        request = {"model": base64.b64encode(model).decode(), "inputs": rows, "level": self.level}
        answer = self.ask(json.dumps(request).encode() + b"\n")
        if isinstance(answer, Crash):
            return answer
        if "error" in answer:
            return answer["error"]
        return [self.array_of(*row) for row in answer["outputs"]]

    @staticmethod
    def row_of(array):
        if array.dtype == object:
            return ["string", list(array.shape), array.ravel().tolist()]
        return [array.dtype.name, list(array.shape), base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()]

    @staticmethod
    def array_of(kind, dims, data):
        if kind == "string":
            return np.array(data, object).reshape(dims)
        return np.frombuffer(base64.b64decode(data), np.dtype(kind)).reshape(dims)

    @staticmethod
    def read(stream):
        line = stream.readline()
        return json.loads(line) if line.endswith(b"\n") else None
