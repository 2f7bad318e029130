#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes digits.onnx: the network of digits.json with the weights of digits.safetensors, as an ONNX model.

usage: export_onnx.py [FILE]
"""

import json
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "tests", "onnx"))
from onnx_writer import graph, model, node, tensor, value

OPSET = 17

# For each operator of digits.json: its ONNX name, and its attributes from the parameters.
OPERATORS = {
    "conv2d": ("Conv", lambda p: {"kernel_shape": p["size"], "strides": p["stride"], "pads": p["padding"]}),
    "batchnorm": ("BatchNormalization", lambda p: {"epsilon": p["epsilon"]}),
    "relu": ("Relu", lambda p: {}),
    "maxpool2d": ("MaxPool", lambda p: {"kernel_shape": p["size"], "strides": p["stride"], "pads": p["padding"]}),
    "reshape": ("Reshape", lambda p: {}),
    "softmax": ("Softmax", lambda p: {"axis": p["axis"]}),
}


def read_safetensors(path):
    """Name -> (dims, float32 values)."""
    with open(path, "rb") as file:
        data = file.read()
    (size,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        arrays[name] = entry["shape"], struct.unpack(f"<{(end - begin) // 4}f", data[8 + size + begin : 8 + size + end])
    return arrays


def params_of(op):
    return {param["arg_name"]: param["value"] for param in op["params"]}


def constant_of(op, weights):
    """The tensor that a `create` creates."""
    name, params = op["tensors_out"][0]["name"], params_of(op)
    dims, values = weights[name] if params["from_file"] else (params["dims"], params["data"] * params["dims"][0])
    return tensor(name, "float", dims, values)


def node_of(op):
    op_type, attributes = OPERATORS[op["optype"]]
    inputs = [entry["name"] for entry in op["tensors_in"]]
    if op["optype"] == "reshape":
        inputs.append(op["name"] + "_shape")
    return node(op_type, inputs, [op["tensors_out"][0]["name"]], name=op["name"], **attributes(params_of(op)))


def main():
    with open(os.path.join(HERE, "digits.json"), encoding="utf-8") as file:
        network = json.load(file)
    weights = read_safetensors(os.path.join(HERE, "digits.safetensors"))
    creates = [op for op in network["ops"] if op["optype"] == "create"]
    others = [op for op in network["ops"] if op["optype"] != "create"]
    constants = [constant_of(op, weights) for op in creates if op["tensors_out"][0]["name"] not in network["inputs"]]
    constants += [tensor(op["name"] + "_shape", "int64", [len(params_of(op)["dims"])], params_of(op)["dims"])
                  for op in others if op["optype"] == "reshape"]
    whole = graph([node_of(op) for op in others], [value("image", "float", [1, 1, 28, 28])],
                  [value("probabilities", "float", [1, 10])], constants, name="digits")
    with open(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "digits.onnx"), "wb") as file:
        file.write(model(whole, opset=OPSET))


if __name__ == "__main__":
    main()
