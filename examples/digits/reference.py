# SPDX-License-Identifier: Apache-2.0
"""Runs digits.json in numpy alone, operator by operator: the reference for LightNet's results.

    model = Model("digits.json", "digits.safetensors")
    probabilities = model.run(images)  # [n, 28, 28] of 0..255 -> [n, 10]
"""

import json
import struct

import numpy as np


def read_safetensors(path):
    """The arrays of a safetensors file by name; all must be float32."""
    with open(path, "rb") as file:
        (header_size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(header_size))
        data = file.read()
    header.pop("__metadata__", None)
    arrays = {}
    for name, entry in header.items():
        if entry["dtype"] != "F32":
            raise ValueError(f"{path}: '{name}' is {entry['dtype']}, expected F32")
        begin, end = entry["data_offsets"]
        arrays[name] = np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"])
    return arrays


def write_safetensors(path, arrays):
    """Writes float32 arrays by name, in order; the data begins at a multiple of 8 bytes."""
    header, data = {}, b""
    for name, array in arrays.items():
        piece = np.ascontiguousarray(array, "<f4").tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(piece)],
        }
        data += piece
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def conv2d(src, weight, bias, *, group, size, stride, dilation, padding, autopad):
    """Cross-correlation, as digits.json uses it: one group, no dilation, stride 1."""
    if (group, stride, dilation, autopad) != (1, [1, 1], [1, 1], "NOTSET"):
        raise ValueError("conv2d: only one group, stride 1, no dilation and NOTSET are known here")
    top, left, bottom, right = padding
    src = np.pad(src, ((0, 0), (0, 0), (top, bottom), (left, right)))
    windows = np.lib.stride_tricks.sliding_window_view(src, size, (2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, weight, optimize=True) + bias[:, None, None]


def batchnorm(src, scale, offset, mean, var, *, epsilon):
    factor = scale / np.sqrt(var + np.float32(epsilon))
    return (src - mean[:, None, None]) * factor[:, None, None] + offset[:, None, None]


def relu(src):
    return np.maximum(src, 0)


def maxpool2d(src, *, size, stride, padding, autopad):
    """Maximum of each window, as digits.json uses it: adjacent windows, no padding."""
    if (size, padding, autopad) != (stride, [0, 0, 0, 0], "NOTSET"):
        raise ValueError("maxpool2d: only stride = size, no padding and NOTSET are known here")
    n, channels, height, width = src.shape
    windows = (n, channels, height // size[0], size[0], width // size[1], size[1])
    return src.reshape(windows).max((3, 5))


def reshape(src, *, dims):
    """The model's first dim is the batch, 1; here it may be more."""
    return src.reshape([len(src)] + dims[1:])


def softmax(src, *, axis):
    e = np.exp(src - src.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


OPERATORS = {f.__name__: f for f in (conv2d, batchnorm, relu, maxpool2d, reshape, softmax)}

BATCH = 250  # images at once: enough to be fast, few enough to stay in the cache


class Model:
    """A LightNet IR file with its weights, ready to run; inputs are [n, 28, 28] in 0..255."""

    def __init__(self, model_path, weights_path):
        with open(model_path, encoding="utf-8") as file:
            ir = json.load(file)
        (self._input,), (self._output,) = ir["inputs"], ir["outputs"]
        weights = read_safetensors(weights_path)
        self._constants, self._steps = {}, []
        for op in ir["ops"]:
            params = {param["arg_name"]: param["value"] for param in op["params"]}
            (output,) = [tensor["name"] for tensor in op["tensors_out"]]
            if op["optype"] == "create":
                self._constants[output] = self._created(output, params, weights)
            else:
                inputs = {tensor["arg_name"]: tensor["name"] for tensor in op["tensors_in"]}
                self._steps.append((OPERATORS[op["optype"]], inputs, output, params))

    @staticmethod
    def _created(name, params, weights):
        if not params["from_file"]:
            return np.full(params["dims"], params["data"][0], np.float32)
        if list(weights[name].shape) != params["dims"]:
            raise ValueError(f"'{name}' is {weights[name].shape}, expected {params['dims']}")
        return weights[name]

    def run(self, images):
        """Probabilities [n, 10], float32."""
        batches = np.array_split(images, -(-len(images) // BATCH))
        return np.concatenate([self._run_batch(batch) for batch in batches])

    def _run_batch(self, images):
        tensors = dict(self._constants)
        tensors[self._input] = images[:, None].astype(np.float32)
        for operator, inputs, output, params in self._steps:
            args = {arg_name: tensors[name] for arg_name, name in inputs.items()}
            tensors[output] = operator(**args, **params)
        return tensors[self._output].astype(np.float32)
