#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: onnx_layers.py DTYPE TF32 MODEL...: prints the convolutions and products of ONNX models as lines for ln_cuda_floor.

DTYPE is float32, float16 or bfloat16, TF32 0 or 1; the model's own types do not matter. Each line ends
with *COUNT, how often the layer occurs.
"""
import collections
import math
import sys

import onnx
from onnx import helper, shape_inference


def shapes_of(graph):
    shapes = {tensor.name: list(tensor.dims) for tensor in graph.initializer}
    for value in [*graph.input, *graph.value_info, *graph.output]:
        shapes[value.name] = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
    return shapes


def convolution(x, w, attributes):
    return [*x, w[0], *w[2:], *attributes.get("strides", [1, 1]), *attributes.get("pads", [0] * 4),
            *attributes.get("dilations", [1, 1]), attributes.get("group", 1)]


def product(x, w, attributes):
    rows, columns = x[-2], w[-2 if attributes.get("transB") else -1]
    batch = math.prod(x[:-2])
    if len(w) == 2:  # one matrix for all
        rows, batch = rows * batch, 1
    return [batch, rows, columns, x[-1]]


def layers_of(path):
    graph = shape_inference.infer_shapes(onnx.load(path)).graph
    shapes, count = shapes_of(graph), collections.Counter()
    for node in graph.node:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        kind, describe = {"Conv": ("conv", convolution), "MatMul": ("gemm", product), "Gemm": ("gemm", product)}.get(
            node.op_type, (None, None))
        if kind:
            numbers = describe(shapes[node.input[0]], shapes[node.input[1]], attributes)
            count[kind, tuple(numbers)] += 1
    return count


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    for path in sys.argv[3:]:
        for (kind, numbers), n in layers_of(path).items():
            print(kind, *sys.argv[1:3], *numbers, f"*{n}")


if __name__ == "__main__":
    main()
