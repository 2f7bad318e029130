#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Small models off the beaten track, LightNet beside ONNX Runtime: same machine, same inputs, in turns.

usage: corners.py [--lightnet PATH] [--threads N] [--rounds N] [--seconds S] [--json FILE] [--list] [TEXT ...]

Runs the corners whose name contains one of the texts (none: all). Both must return equal outputs; the ratio is
ONNX Runtime's time by LightNet's (above 1: LightNet is faster), by the minimum of all rounds. Needs the Python packages numpy
and onnx, node, and the npm package onnxruntime-node where NODE_PATH or ~/.cache/lightnet-bench/node_modules has it.
"""
import argparse
import json
import math
import os
import sys
import tempfile

import numpy as np
from beside import Measuring
from onnx import TensorProto, helper, numpy_helper, save

TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.float64): TensorProto.DOUBLE,
         np.dtype(np.int64): TensorProto.INT64, np.dtype(np.int32): TensorProto.INT32, np.dtype(np.int8): TensorProto.INT8,
         np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.bool_): TensorProto.BOOL}
TOLERANCE = 1e-4   # of the largest number: sums in another order

rng = np.random.default_rng(7)


def value(name, array):
    return helper.make_tensor_value_info(name, TYPES[array.dtype], array.shape)


def outputs_of(names, dtype=TensorProto.FLOAT):
    return [helper.make_tensor_value_info(name, dtype, None) for name in names]


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def model(nodes, inputs, outputs, constants):
    """A model of these nodes, and its inputs in order."""
    graph = helper.make_graph(nodes, "corner", [value(name, array) for name, array in inputs.items()], outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), list(inputs.values())


def normal(*shape):
    return rng.standard_normal(shape, dtype=np.float32)


def weights(*shape):
    """Such that sums keep the magnitude of their terms."""
    return normal(*shape) / np.float32(math.sqrt(np.prod(shape[1:])))


# Convolutions and products within the graphs of If, Loop and Scan

def conv_in_if(channels, size, cond):
    """The same convolution in both branches, with other weights."""
    branches = {}
    for name in ("then", "else"):
        branches[name + "_branch"] = helper.make_graph(
            [helper.make_node("Conv", ["x", "w_" + name, "b_" + name], ["c_" + name], pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["c_" + name], ["r_" + name])], name, [], outputs_of(["r_" + name]))
    constants = [constant(f"w_{name}", weights(channels, channels, 3, 3)) for name in ("then", "else")]
    constants += [constant(f"b_{name}", normal(channels)) for name in ("then", "else")]
    return model([helper.make_node("If", ["cond"], ["y"], **branches)],
                 {"x": normal(1, channels, size, size), "cond": np.array(cond)}, outputs_of(["y"]), constants)


def conv_in_loop(channels, size, trips):
    body = helper.make_graph(
        [helper.make_node("Conv", ["s", "w"], ["c"], pads=[1, 1, 1, 1]), helper.make_node("Tanh", ["c"], ["t"]),
         helper.make_node("Identity", ["go"], ["on"])], "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, []),
         helper.make_tensor_value_info("s", TensorProto.FLOAT, [1, channels, size, size])],
        outputs_of(["on"], TensorProto.BOOL) + outputs_of(["t"]))
    return model([helper.make_node("Loop", ["trips", "", "x"], ["y"], body=body)],
                 {"x": normal(1, channels, size, size), "trips": np.array(trips, np.int64)}, outputs_of(["y"]),
                 [constant("w", weights(channels, channels, 3, 3))])


def dense_in_scan(steps, batch, hidden):
    """A cell s = tanh(s W + r V), written as a Scan."""
    body = helper.make_graph(
        [helper.make_node("MatMul", ["s", "w"], ["sw"]), helper.make_node("MatMul", ["r", "v"], ["rv"]),
         helper.make_node("Add", ["sw", "rv"], ["sum"]), helper.make_node("Tanh", ["sum"], ["t"]),
         helper.make_node("Identity", ["t"], ["p"])], "body",
        [helper.make_tensor_value_info("s", TensorProto.FLOAT, [batch, hidden]),
         helper.make_tensor_value_info("r", TensorProto.FLOAT, [batch, hidden])], outputs_of(["t", "p"]))
    return model([helper.make_node("Scan", ["x0", "x"], ["last", "y"], body=body, num_scan_inputs=1)],
                 {"x0": normal(batch, hidden), "x": normal(steps, batch, hidden)}, outputs_of(["last", "y"]),
                 [constant("w", weights(hidden, hidden)), constant("v", weights(hidden, hidden))])


# Detection

def nms(boxes, classes, share, most):
    """`share` of the scores are above the threshold."""
    centers, sizes = rng.uniform(0, 640, (1, boxes, 2)), rng.uniform(8, 120, (1, boxes, 2))
    corners = np.concatenate([centers - sizes / 2, centers + sizes / 2], axis=2).astype(np.float32)
    scores = rng.uniform(0, 1, (1, classes, boxes)).astype(np.float32)
    return model([helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "iou", "least"], ["picked"])],
                 {"boxes": corners, "scores": scores}, outputs_of(["picked"], TensorProto.INT64),
                 [constant("most", np.array([most], np.int64)), constant("iou", np.array([0.45], np.float32)),
                  constant("least", np.array([1 - share], np.float32))])


# Layers

def conv(source, n, kernel, **attributes):
    """source: the shape of x. pads keep the size."""
    groups = attributes.get("group", 1)
    pads = [k // 2 for k in kernel] * 2
    return model([helper.make_node("Conv", ["x", "w", "b"], ["c"], kernel_shape=kernel, pads=pads, **attributes),
                  helper.make_node("Relu", ["c"], ["y"])], {"x": normal(*source)}, outputs_of(["y"]),
                 [constant("w", weights(n, source[1] // groups, *kernel)), constant("b", normal(n))])


def deconv(source, n, size):
    return model([helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], kernel_shape=[size] * 3, strides=[2] * 3,
                                   pads=[(size - 2) // 2] * 6)],
                 {"x": normal(*source)}, outputs_of(["y"]), [constant("w", weights(source[1], n, *[size] * 3)), constant("b", normal(n))])


def pad(shape, axis, n):
    """`n` elements are added before and after an axis."""
    pads = [n if k == axis else 0 for k in range(len(shape))] * 2
    return model([helper.make_node("Pad", ["x", "pads"], ["y"])], {"x": normal(*shape)}, outputs_of(["y"]),
                 [constant("pads", np.array(pads, np.int64))])


def recurrent(kind, steps, batch, hidden):
    gates = {"LSTM": 4, "GRU": 3}[kind]
    attributes = {"linear_before_reset": 1} if kind == "GRU" else {}
    return model([helper.make_node(kind, ["x", "w", "r", "b"], ["y"], hidden_size=hidden, **attributes)],
                 {"x": normal(steps, batch, hidden)}, outputs_of(["y"]),
                 [constant("w", weights(1, gates * hidden, hidden) * 4), constant("r", weights(1, gates * hidden, hidden) * 4),
                  constant("b", normal(1, 2 * gates * hidden) / 4)])


# Element by element, of other types than float

def elementwise(op, dtype, n, result=None, cond=False, **attributes):
    """op of two tensors; of a condition before them, or of one."""
    pairs = {name: rng.integers(0, 100, n).astype(dtype) for name in ("a", "b")}
    inputs = {"cond": rng.integers(0, 2, n).astype(np.bool_), **pairs} if cond else pairs
    return model([helper.make_node(op, list(inputs), ["y"], **attributes)], inputs,
                 outputs_of(["y"], TYPES[np.dtype(result or dtype)]), [])


def cast(source, result, n):
    return model([helper.make_node("Cast", ["x"], ["y"], to=TYPES[np.dtype(result)])],
                 {"x": rng.integers(0, 100, n).astype(source)}, outputs_of(["y"], TYPES[np.dtype(result)]), [])


def softmax(*shape):
    return model([helper.make_node("Softmax", ["x"], ["y"], axis=-1)], {"x": normal(*shape)}, outputs_of(["y"]), [])


CORNERS = {
    "if conv 3x3 64 56x56 then": lambda: conv_in_if(64, 56, True),
    "if conv 3x3 64 56x56 else": lambda: conv_in_if(64, 56, False),
    "loop conv 3x3 32 28x28, 8 times": lambda: conv_in_loop(32, 28, 8),
    "scan cell 256, 50 steps, batch 1": lambda: dense_in_scan(50, 1, 256),
    "scan cell 256, 50 steps, batch 16": lambda: dense_in_scan(50, 16, 256),
    "nms 8400 boxes, 80 classes, 1 % above": lambda: nms(8400, 80, 0.01, 100),
    "nms 8400 boxes, 80 classes, 10 % above": lambda: nms(8400, 80, 0.1, 100),
    "nms 8400 boxes, 80 classes, 75 % above": lambda: nms(8400, 80, 0.75, 100),
    "conv 1x7 of a line 64 1x4096": lambda: conv((1, 64, 1, 4096), 64, [1, 7]),
    "conv 7x1 of a line 64 4096x1": lambda: conv((1, 64, 4096, 1), 64, [7, 1]),
    "conv 3x1 of a line 128 1024x1": lambda: conv((1, 128, 1024, 1), 128, [3, 1]),
    "conv 7 of a line 64 4096": lambda: conv((1, 64, 4096), 64, [7]),
    "conv 1x1 of a column 256 1024x1": lambda: conv((1, 256, 1024, 1), 256, [1, 1]),
    "conv 7x1 depthwise 64 4096x1": lambda: conv((1, 64, 4096, 1), 64, [7, 1], group=64),
    "conv 9x1 of an image 64 128x64": lambda: conv((1, 64, 128, 64), 64, [9, 1]),
    **{f"{kind.lower()} {hidden}, 50 steps, batch {batch}": lambda kind=kind, hidden=hidden, batch=batch:
       recurrent(kind, 50, batch, hidden) for kind in ("LSTM", "GRU") for hidden in (64, 128, 256, 512) for batch in (1, 8)},
    "conv 1x1 8 -> 16 256x256": lambda: conv((1, 8, 256, 256), 16, [1, 1]),
    "conv 1x1 16 -> 96 112x112": lambda: conv((1, 16, 112, 112), 96, [1, 1]),
    "conv 3x3 3 -> 16 512x512": lambda: conv((1, 3, 512, 512), 16, [3, 3]),
    "conv 3x3 depthwise 16 256x256": lambda: conv((1, 16, 256, 256), 16, [3, 3], group=16),
    "conv 3x3 depthwise 32 112x112": lambda: conv((1, 32, 112, 112), 32, [3, 3], group=32),
    "conv 5x5 depthwise 16 256x256": lambda: conv((1, 16, 256, 256), 16, [5, 5], group=16),
    "conv 3x3x3 16 16x56x56": lambda: conv((1, 16, 16, 56, 56), 16, [3, 3, 3]),
    "conv 3x3x3 3 -> 64 16x112x112": lambda: conv((1, 3, 16, 112, 112), 64, [3, 3, 3]),
    "conv 3x3x3 64 8x28x28": lambda: conv((1, 64, 8, 28, 28), 64, [3, 3, 3]),
    "conv 1x1x1 64 8x28x28": lambda: conv((1, 64, 8, 28, 28), 64, [1, 1, 1]),
    "pad axis 1 of 2048x150x1": lambda: pad((2048, 150, 1), 1, 12),
    "pad axis 2 of 1x2048x150x1": lambda: pad((1, 2048, 150, 1), 2, 12),
    "pad axis 1 of 2048x150": lambda: pad((2048, 150), 1, 12),
    "softmax of 458752 rows of 4": lambda: softmax(458752, 4),
    "softmax of 65536 rows of 7": lambda: softmax(65536, 7),
    **{f"{op.lower()} {np.dtype(dtype)} 200704": lambda op=op, dtype=dtype: elementwise(op, dtype, 200704)
       for op in ("Add", "Mul", "Max") for dtype in (np.int8, np.int32, np.int64) if (op, dtype) in
       {("Add", np.int32), ("Add", np.int64), ("Mul", np.int32), ("Mul", np.int64), ("Max", np.int8), ("Max", np.int32),
        ("Max", np.int64)}},
    "and bool 200704": lambda: elementwise("And", np.bool_, 200704),
    **{f"greater {np.dtype(dtype)} 200704": lambda dtype=dtype: elementwise("Greater", dtype, 200704, np.bool_)
       for dtype in (np.int32, np.int64, np.float32)},
    **{f"where {np.dtype(dtype)} 200704": lambda dtype=dtype: elementwise("Where", dtype, 200704, cond=True)
       for dtype in (np.uint8, np.int64, np.float32)},
    **{f"cast {np.dtype(a)} -> {np.dtype(b)} 200704": lambda a=a, b=b: cast(a, b, 200704)
       for a, b in ((np.int64, np.float32), (np.float32, np.int64), (np.int64, np.int32), (np.int32, np.int64),
                    (np.bool_, np.float32), (np.uint8, np.float32), (np.int32, np.uint8))},
    "deconv 2x2x2 64 -> 32 8x28x28": lambda: deconv((1, 64, 8, 28, 28), 32, 2),
    "deconv 4x4x4 64 -> 32 8x14x14": lambda: deconv((1, 64, 8, 14, 14), 32, 4),
}


def measure(args, name, folder):
    """Returns the error of a corner, LightNet's ms and ONNX Runtime's."""
    proto, inputs = CORNERS[name]()
    path = os.path.join(folder, "model.onnx")
    save(proto, path)
    measuring = Measuring(args.lightnet, folder, path, inputs)
    return measuring.error(args.threads), *measuring.times(args.threads, args.rounds, args.seconds)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lightnet", default="lightnet")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--json")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("texts", nargs="*")
    return parser.parse_args()


def main():
    args = options()
    names = [name for name in CORNERS if not args.texts or any(text in name for text in args.texts)]
    if args.list:
        print("\n".join(names))
        return 0
    rows = {}
    print(f'{"corner":40} {"LightNet ms":>11} {"ORT ms":>9} {"ratio":>6}  error')
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            error, ours, theirs = measure(args, name, folder)
        rows[name] = {"lightnet_ms": ours, "ort_ms": theirs, "ratio": theirs / ours, "error": error}
        verdict = "" if error < TOLERANCE else "  WRONG"
        print(f"{name:40} {ours:11.3f} {theirs:9.3f} {theirs / ours:6.2f}  {error:.1e}{verdict}", flush=True)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    return 0 if all(row["error"] < TOLERANCE for row in rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
