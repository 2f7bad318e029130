# SPDX-License-Identifier: Apache-2.0
"""What the training scripts of the examples share: Adam, and writing ONNX models."""
import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "onnx"))
import onnx_writer


class Adam:
    """Adam (Kingma and Ba 2015, algorithm 1) for a dict of float32 arrays."""

    BETA1, BETA2, TINY = 0.9, 0.999, 1e-8

    def __init__(self, params):
        self.params, self._step = params, 0
        self._m = {name: np.zeros_like(value) for name, value in params.items()}
        self._v = {name: np.zeros_like(value) for name, value in params.items()}

    def step(self, grads, rate):
        self._step += 1
        rate *= np.sqrt(1 - self.BETA2**self._step) / (1 - self.BETA1**self._step)
        for name, grad in grads.items():
            m, v = self._m[name], self._v[name]
            m += (1 - self.BETA1) * (grad - m)
            v += (1 - self.BETA2) * (grad * grad - v)
            self.params[name] -= (rate * m / (np.sqrt(v) + self.TINY)).astype(np.float32)


def cosine(step, steps):
    """The factor of the learning rate: from 1 to 0 along a cosine."""
    return (1 + np.cos(np.pi * step / steps)) / 2


def constant(name, array):
    """An initializer with the type and shape of the array."""
    array = np.asarray(array)
    dtype = {"float32": "float"}.get(array.dtype.name, array.dtype.name)
    return onnx_writer.tensor(name, dtype, list(array.shape), array.ravel().tolist())


def write_model(path, nodes, inputs, outputs, constants, opset=17):
    """nodes: onnx_writer.node; inputs, outputs: (name, type, dims); constants: {name: array}."""
    graph = onnx_writer.graph(nodes, [onnx_writer.value(*i) for i in inputs], [onnx_writer.value(*o) for o in outputs],
                              [constant(*item) for item in constants.items()])
    with open(path, "wb") as file:
        file.write(onnx_writer.model(graph, opset=opset))
