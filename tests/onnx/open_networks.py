#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: open_networks.py ENCODER.onnx DECODER.onnx IMAGES.onnx HALVES.onnx LLAMA.onnx. Writes small networks whose sizes are open.

The first two are as torch exports them, with one layer, 2 heads and 16 features; the decoder reads and writes a cache of keys and values.
The third one has convolutions of images, and an open batch. The fourth one is the encoder in float16.
The last one is a decoder like LLaMA, as torch exports it: RMSNorm, rotary positions, two heads of queries for each of keys, a mask.
"""
import math
import random
import sys

from onnx_writer import graph, model, node, tensor, value

FEATURES, HEADS, WORDS, LONGEST = 16, 2, 20, 64


class Graph:
    """Nodes and constants, with names of their own, computing with numbers of one type."""

    def __init__(self, dtype="float"):
        self.dtype = dtype
        self.nodes, self.constants, self.random = [], [], random.Random(5)

    def op(self, optype, inputs, output=None, **attributes):
        name = output or f"t{len(self.nodes)}"
        self.nodes.append(node(optype, inputs, [name], **attributes))
        return name

    def constant(self, dtype, dims, values):
        name = f"c{len(self.constants)}"
        self.constants.append(tensor(name, dtype, dims, values))
        return name

    def number(self, number):
        return self.constant(self.dtype, [], [number])

    def ints(self, *numbers):
        return self.constant("int64", [len(numbers)], numbers)

    def weight(self, *dims):
        return self.constant(self.dtype, dims, [self.random.gauss(0, 0.3) for _ in range(math.prod(dims))])

    def size(self, tensor, axis):
        return self.op("Gather", [self.op("Shape", [tensor]), self.constant("int64", [], [axis])], axis=0)

    def shape(self, *lengths):
        """One vector of sizes, which are names, and of numbers."""
        parts = [self.line(size) if isinstance(size, str) else self.ints(size) for size in lengths]
        return self.op("Concat", parts, axis=0)

    def line(self, size):
        return self.op("Unsqueeze", [size, self.ints(0)])

    def slice(self, table, begin, end):
        return self.op("Slice", [table, begin, end, self.ints(0)])

    def linear(self, x, n_in, n_out):
        return self.op("Add", [self.op("MatMul", [x, self.weight(n_in, n_out)]), self.weight(n_out)])

    def gelu(self, x):
        erf = self.op("Erf", [self.op("Div", [x, self.number(math.sqrt(2))])])
        product = self.op("Mul", [x, self.op("Add", [erf, self.number(1.0)])])
        return self.op("Mul", [product, self.number(0.5)])

    def norm(self, x):
        return self.op("LayerNormalization", [x, self.weight(FEATURES), self.weight(FEATURES)], axis=-1)


def layer(g, x, past):
    h = g.norm(x)
    n, s, head = g.size(h, 0), g.size(h, 1), FEATURES // HEADS
    q, k, v = (g.op("Transpose", [g.op("Reshape", [g.linear(h, FEATURES, FEATURES), g.shape(n, s, HEADS, head)])], perm=[0, 2, 1, 3])
               for _ in range(3))
    if past:
        k = g.op("Concat", [past[0], k], "present.key", axis=2)
        v = g.op("Concat", [past[1], v], "present.value", axis=2)
    scores = g.op("MatMul", [q, g.op("Transpose", [k], perm=[0, 1, 3, 2])])
    weights = g.op("Softmax", [g.op("Div", [scores, g.number(math.sqrt(head))])], axis=-1)
    heads = g.op("Transpose", [g.op("MatMul", [weights, v])], perm=[0, 2, 1, 3])
    x = g.op("Add", [x, g.linear(g.op("Reshape", [heads, g.shape(n, s, FEATURES)]), FEATURES, FEATURES)])
    return g.op("Add", [x, g.linear(g.gelu(g.linear(g.norm(x), FEATURES, 2 * FEATURES)), 2 * FEATURES, FEATURES)])


def rms_norm(g, x):
    mean = g.op("ReduceMean", [g.op("Pow", [x, g.number(2.0)])], axes=[-1])
    root = g.op("Sqrt", [g.op("Add", [mean, g.number(1e-5)])])
    return g.op("Mul", [g.weight(FEATURES), g.op("Mul", [x, g.op("Div", [g.number(1.0), root])])])


def rotary(g, x, cos, sin, head):
    ends = g.ints(0), g.ints(head // 2), g.ints(2**63 - 1), g.ints(3), g.ints(1)
    first, second = g.op("Slice", [x, ends[0], ends[1], *ends[3:]]), g.op("Slice", [x, *ends[1:]])
    turned = g.op("Concat", [g.op("Neg", [second]), first], axis=-1)
    return g.op("Add", [g.op("Mul", [x, cos]), g.op("Mul", [turned, sin])])


def repeat(g, x, times, head):
    """n, total = x.shape[0], x.shape[2]; x[:, :, None].expand(n, HEADS, times, total, head).reshape(n, HEADS * times, total, head)"""
    n, total = g.size(x, 0), g.size(x, 2)
    shape = g.shape(n, HEADS, times, total, head)
    ones = g.op("ConstantOfShape", [g.op("Shape", [shape])], value=tensor("", "int64", [1], [1]))
    is_kept = g.op("Equal", [shape, g.op("Mul", [ones, g.constant("int64", [], [-1])])])
    wide = g.op("Expand", [g.op("Unsqueeze", [x, g.ints(2)]), g.op("Where", [is_kept, ones, shape])])
    return g.op("Reshape", [wide, g.shape(n, HEADS * times, total, head)])


def llama_layer(g, x, past, cos, sin, mask):
    h, head, times = rms_norm(g, x), FEATURES // HEADS, 2
    n, s = g.size(h, 0), g.size(h, 1)
    q, k, v = (g.op("Transpose", [g.op("Reshape", [g.op("MatMul", [h, g.weight(FEATURES, heads * head)]), g.shape(n, s, heads, head)])],
                    perm=[0, 2, 1, 3]) for heads in (HEADS * times, HEADS, HEADS))
    q = rotary(g, q, cos, sin, head)
    k = g.op("Concat", [past[0], rotary(g, k, cos, sin, head)], "present.key", axis=2)
    v = g.op("Concat", [past[1], v], "present.value", axis=2)
    k, v = (repeat(g, y, times, head) for y in (k, v))
    scores = g.op("Div", [g.op("MatMul", [q, g.op("Transpose", [k], perm=[0, 1, 3, 2])]), g.number(math.sqrt(head))])
    heads = g.op("MatMul", [g.op("Softmax", [g.op("Add", [scores, mask])], axis=-1), v])
    heads = g.op("Reshape", [g.op("Transpose", [heads], perm=[0, 2, 1, 3]), g.shape(n, s, HEADS * times * head)])
    x = g.op("Add", [x, g.op("MatMul", [heads, g.weight(HEADS * times * head, FEATURES)])])
    h = rms_norm(g, x)
    gate, up = (g.op("MatMul", [h, g.weight(FEATURES, 2 * FEATURES)]) for _ in range(2))
    gate = g.op("Mul", [gate, g.op("Sigmoid", [gate])])
    return g.op("Add", [x, g.op("MatMul", [g.op("Mul", [gate, up]), g.weight(2 * FEATURES, FEATURES)])])


def llama():
    g, head = Graph(), FEATURES // HEADS
    past, total = g.size("past.key", 2), g.op("Add", [g.size("past.key", 2), g.size("ids", 1)])
    one, zero = g.constant("int64", [], [1]), g.constant("int64", [], [0])
    places, keys = g.op("Range", [past, total, one]), g.op("Range", [zero, total, one])
    is_seen = g.op("LessOrEqual", [keys, g.op("Unsqueeze", [places, g.ints(1)])])
    mask = g.op("Unsqueeze", [g.op("Where", [is_seen, g.number(0.0), g.number(-3e38)]), g.ints(0, 1)])
    waves = g.constant("float", [1, head // 2], [10.0**-i for i in range(head // 2)])
    angles = g.op("MatMul", [g.op("Unsqueeze", [g.op("Cast", [places], to=1), g.ints(1)]), waves])
    angles = g.op("Unsqueeze", [g.op("Concat", [angles, angles], axis=-1), g.ints(0, 1)])
    x = g.op("Gather", [g.weight(WORDS, FEATURES), "ids"], axis=0)
    x = llama_layer(g, x, ["past.key", "past.value"], g.op("Cos", [angles]), g.op("Sin", [angles]), mask)
    g.op("MatMul", [rms_norm(g, x), g.weight(FEATURES, WORDS)], "logits")
    return network(g, ["ids", "past.key", "past.value"], ["logits", "present.key", "present.value"])


def network(g, inputs, outputs):
    cache = ["batch", HEADS, "past", FEATURES // HEADS]
    shapes = {"ids": ("int64", ["batch", "sequence"])}
    infos = [value(name, *shapes.get(name, ("float", cache))) for name in inputs]
    return model(graph(g.nodes, infos, [value(name, g.dtype) for name in outputs], g.constants), opset=17)


def encoder(dtype="float"):
    g = Graph(dtype)
    words = g.op("Gather", [g.weight(WORDS, FEATURES), "ids"], axis=0)
    places = g.slice(g.weight(LONGEST, FEATURES), g.ints(0), g.line(g.size("ids", 1)))
    g.op("ReduceMean", [g.norm(layer(g, g.op("Add", [words, places]), None))], "embedding", axes=[1], keepdims=0)
    return network(g, ["ids"], ["embedding"])


def decoder():
    g = Graph()
    words = g.op("Gather", [g.weight(WORDS, FEATURES), "ids"], axis=0)
    begin = g.size("past.key", 2)
    end = g.op("Add", [begin, g.size("ids", 1)])
    places = g.slice(g.weight(LONGEST, FEATURES), g.line(begin), g.line(end))
    x = layer(g, g.op("Add", [words, places]), ["past.key", "past.value"])
    g.op("MatMul", [g.norm(x), g.weight(FEATURES, WORDS)], "logits")
    return network(g, ["ids", "past.key", "past.value"], ["logits", "present.key", "present.value"])


def pair():
    g = Graph()
    a, b = (g.op("Conv", [name, g.weight(64, 64, 3, 3), g.weight(64)], pads=[1, 1, 1, 1]) for name in ("data", "other"))
    g.op("Add", [a, b], "maps")
    infos = [value("data", "float", ["batch", 64, 6, 6]), value("other", "float", ["rest", 64, 6, 6])]
    return model(graph(g.nodes, infos, [value("maps", "float")], g.constants), opset=17)


def images(height=6):
    g = Graph()
    conv = g.op("Conv", ["data", g.weight(64, 64, 3, 3), g.weight(64)], pads=[1, 1, 1, 1])
    norm = g.op("BatchNormalization", [conv, g.weight(64), g.weight(64), g.weight(64), g.constant("float", [64], [1.0] * 64)])
    relu = g.op("Relu", [norm])
    g.op("Conv", [relu, g.weight(16, 64, 3, 3), g.weight(16)], "maps", pads=[1, 1, 1, 1])
    infos = [value("data", "float", ["batch", 64, height, 6])]
    return model(graph(g.nodes, infos, [value("maps", "float")], g.constants), opset=17)


def halves():
    return encoder("float16")


def main():
    for make, path in zip((encoder, decoder, images, halves, llama), sys.argv[1:]):
        with open(path, "wb") as file:
            file.write(make())


if __name__ == "__main__":
    main()
