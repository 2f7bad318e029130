# SPDX-License-Identifier: Apache-2.0
"""Small networks with the structure of well-known ones, as ONNX models: {name: function that returns the bytes}.

Their extents fill no vector and no block on purpose. Weights are random, from a fixed seed, spread so that activations stay
in range: each layer keeps the variance of its input.
"""
import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "onnx"))
from onnx_writer import graph, model, node, tensor, value

KINDS = {np.dtype(np.float32): "float", np.dtype(np.int64): "int64"}


class Network:
    """Nodes in order; methods add one and return the name of its output."""

    def __init__(self, inputs):
        self.rng = np.random.default_rng(20260101)
        self.nodes, self.weights = [], []
        self.inputs = [value(name, kind, dims) for name, kind, dims in inputs]

    def add(self, op_type, *inputs, outputs=1, **attributes):
        names = [f"{op_type.lower()}_{len(self.nodes)}_{k}" for k in range(outputs)]
        self.nodes.append(node(op_type, list(inputs), names, name=f"node_{len(self.nodes)}", **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, array):
        array = np.asarray(array)
        name = f"weight_{len(self.weights)}"
        self.weights.append(tensor(name, KINDS[array.dtype], array.shape, array.ravel().tolist()))
        return name

    def scalar(self, number):
        return self.constant(np.float32(number))

    def spread(self, dims, fan_in):
        return self.constant((self.rng.standard_normal(dims) * np.sqrt(2 / fan_in)).astype(np.float32))

    def uniform(self, low, high, n):
        return self.constant(self.rng.uniform(low, high, n).astype(np.float32))

    def conv(self, x, c, out, size, stride=1, group=1, pad=None, bias=True):
        pad = (size - 1) // 2 if pad is None else pad
        weights = [self.spread((out, c // group, size, size), c // group * size * size)]
        weights += [self.uniform(-0.1, 0.1, out)] if bias else []
        return self.add("Conv", x, *weights, kernel_shape=[size, size], strides=[stride, stride], pads=[pad] * 4, group=group)

    def batchnorm(self, x, c):
        return self.add("BatchNormalization", x, self.uniform(0.8, 1.2, c), self.uniform(-0.1, 0.1, c),
                        self.uniform(-0.1, 0.1, c), self.uniform(0.8, 1.2, c), epsilon=1e-5)

    def act(self, x, kind):
        if kind == "relu":
            return self.add("Relu", x)
        if kind == "relu6":
            return self.add("Clip", x, self.scalar(0), self.scalar(6))
        if kind == "leaky":
            return self.add("LeakyRelu", x, alpha=0.1)
        if kind == "silu":
            return self.add("Mul", x, self.add("Sigmoid", x))
        return x

    def layer(self, x, c, out, size, stride=1, act="relu", group=1):
        return self.act(self.batchnorm(self.conv(x, c, out, size, stride, group, bias=False), out), act)

    def pool(self, x, size, stride, kind="MaxPool", pad=0, **attributes):
        return self.add(kind, x, kernel_shape=[size, size], strides=[stride, stride], pads=[pad] * 4, **attributes)

    def classify(self, x, c, classes):
        flat = self.add("Flatten", self.add("GlobalAveragePool", x), axis=1)
        return self.gemm(flat, c, classes)

    def gemm(self, x, c, out):
        return self.add("Gemm", x, self.spread((out, c), c), self.uniform(-0.1, 0.1, out), transB=1)

    def dense(self, x, c, out):
        """A product and a bias, as exporters write it for tokens."""
        return self.add("Add", self.add("MatMul", x, self.spread((c, out), c)), self.uniform(-0.1, 0.1, out))

    def layernorm(self, x, c):
        """As exporters write it in opsets without LayerNormalization."""
        centred = self.add("Sub", x, self.add("ReduceMean", x, axes=[-1]))
        variance = self.add("ReduceMean", self.add("Pow", centred, self.scalar(2)), axes=[-1])
        normal = self.add("Div", centred, self.add("Sqrt", self.add("Add", variance, self.scalar(1e-5))))
        return self.add("Add", self.add("Mul", normal, self.uniform(0.8, 1.2, c)), self.uniform(-0.1, 0.1, c))

    def gelu(self, x):
        inner = self.add("Add", self.add("Erf", self.add("Div", x, self.scalar(np.sqrt(2)))), self.scalar(1))
        return self.add("Mul", self.add("Mul", x, inner), self.scalar(0.5))

    def attention(self, x, tokens, heads, width, mask=None):
        c = heads * width
        shape = self.constant(np.array([1, tokens, heads, width]))

        def head(perm):
            return self.add("Transpose", self.add("Reshape", self.dense(x, c, c), shape), perm=perm)
        scores = self.add("MatMul", head([0, 2, 1, 3]), head([0, 2, 3, 1]))
        scores = self.add("Div", scores, self.scalar(np.sqrt(width)))
        scores = self.add("Add", scores, mask) if mask else scores
        mixed = self.add("MatMul", self.add("Softmax", scores, axis=-1), head([0, 2, 1, 3]))
        flat = self.add("Reshape", self.add("Transpose", mixed, perm=[0, 2, 1, 3]), self.constant(np.array([1, tokens, c])))
        return self.dense(flat, c, c)

    def done(self, *outputs):
        return model(graph(self.nodes, self.inputs, [value(name, "float") for name in outputs], self.weights), opset=13)


def image(height, width=None, channels=3):
    return [("image", "float", [1, channels, height, width or height])]


def fire():
    """SqueezeNet: convolutions that are joined."""
    net = Network(image(35))

    def module(x, c, squeeze, expand):
        y = net.act(net.conv(x, c, squeeze, 1), "relu")
        return net.add("Concat", *(net.act(net.conv(y, squeeze, expand, size), "relu") for size in (1, 3)), axis=1)
    x = net.pool(net.act(net.conv("image", 3, 20, 3, 2, pad=0), "relu"), 3, 2, ceil_mode=1)
    x = net.pool(module(module(x, 20, 5, 12), 24, 5, 12), 3, 2, ceil_mode=1)
    x = net.act(net.conv(module(x, 24, 9, 17), 34, 10, 1), "relu")
    return net.done(net.add("Softmax", net.add("Flatten", net.add("GlobalAveragePool", x), axis=1), axis=1))


def separable():
    """MobileNet v1: each channel by itself, then all together."""
    net = Network(image(33, 39))
    x, c = net.layer("image", 3, 13, 3, 2), 13
    for out, stride in ((24, 1), (37, 2), (37, 1), (50, 2)):
        x, c = net.layer(net.layer(x, c, c, 3, stride, group=c), c, out, 1), out
    return net.done(net.classify(x, c, 11))


def inverted():
    """MobileNet v2: wide in the middle, with sums around."""
    net = Network(image(32))
    x, c = net.layer("image", 3, 16, 3, 2, "relu6"), 16
    for out, stride, times in ((8, 1, 1), (12, 2, 2), (20, 2, 2)):
        y = net.layer(x, c, times * 3 * c, 1, act="relu6")
        y = net.layer(y, times * 3 * c, times * 3 * c, 3, stride, "relu6", group=times * 3 * c)
        y = net.layer(y, times * 3 * c, out, 1, act=None)
        x, c = net.add("Add", x, y) if (stride, c) == (1, out) else y, out
        x = net.add("Add", x, net.layer(x, c, c, 1, act=None))
    return net.done(net.classify(net.layer(x, c, 70, 1, act="relu6"), 70, 9))


def shuffled():
    """ShuffleNet v2: halves of the channels, shuffled."""
    net = Network(image(30))
    x, c = net.pool(net.layer("image", 3, 12, 3, 2), 3, 2, pad=1), 12
    for size in (8, 8):
        split = net.constant(np.array([c // 2, c // 2]))
        left, right = net.add("Split", x, split, outputs=2, axis=1)
        right = net.layer(right, c // 2, c // 2, 1)
        right = net.layer(net.layer(right, c // 2, c // 2, 3, act=None, group=c // 2), c // 2, c // 2, 1)
        x = net.add("Concat", left, right, axis=1)
        x = net.add("Reshape", x, net.constant(np.array([1, 2, c // 2, size, size])))
        x = net.add("Reshape", net.add("Transpose", x, perm=[0, 2, 1, 3, 4]), net.constant(np.array([1, c, size, size])))
    return net.done(net.classify(x, c, 7))


def residual():
    """ResNet: basic blocks and bottlenecks, a large first window, a pool with padding."""
    net = Network(image(45))
    x, c = net.pool(net.layer("image", 3, 18, 7, 2), 3, 2, pad=1), 18
    for out, stride in ((18, 1), (33, 2)):
        y = net.layer(net.layer(x, c, out, 3, stride), out, out, 3, act=None)
        around = x if (stride, c) == (1, out) else net.layer(x, c, out, 1, stride, None)
        x, c = net.act(net.add("Add", y, around), "relu"), out
    for out, stride in ((48, 1), (48, 2)):
        y = net.layer(net.layer(net.layer(x, c, 16, 1), 16, 16, 3, stride), 16, out, 1, act=None)
        x, c = net.act(net.add("Add", net.layer(x, c, out, 1, stride, None), y), "relu"), out
    return net.done(net.classify(x, c, 10))


def plain():
    """VGG: 3x3 convolutions, then dense layers."""
    net = Network(image(28))
    x, c = "image", 3
    for out in (17, 32, 33):
        x = net.act(net.conv(net.act(net.conv(x, c, out, 3), "relu"), out, out, 3), "relu")
        x, c = net.pool(x, 2, 2), out
    x = net.act(net.gemm(net.add("Flatten", x, axis=1), 9 * c, 65), "relu")
    return net.done(net.add("Softmax", net.gemm(x, 65, 10), axis=1))


def pyramid():
    """YOLO v3 tiny: two outputs, the second from enlarged and joined images."""
    net = Network(image(32))
    x, c = "image", 3
    for out in (8, 16, 24):
        x, c = net.pool(net.layer(x, c, out, 3, act="leaky"), 2, 2), out
    fine = net.layer(x, c, 32, 3, act="leaky")
    x = net.pool(net.add("Pad", fine, net.constant(np.array([0, 0, 0, 0, 0, 0, 1, 1])), net.scalar(-1e30)), 2, 1)
    coarse = net.layer(net.pool(net.layer(x, 32, 40, 3, act="leaky"), 2, 2), 40, 24, 1, act="leaky")
    large = net.add("Resize", net.layer(coarse, 24, 12, 1, act="leaky"), "", net.constant(np.array([1, 1, 2, 2], np.float32)),
                    mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    joined = net.layer(net.add("Concat", large, fine, axis=1), 44, 20, 3, act="leaky")
    return net.done(net.conv(coarse, 24, 21, 1), net.conv(joined, 20, 21, 1))


def excited():
    """EfficientNet: SiLU, windows of 5, channels weighted by squeeze-and-excitation."""
    net = Network(image(31))
    x, c = net.layer("image", 3, 10, 3, 2, "silu"), 10
    for out, size, stride in ((10, 3, 1), (14, 5, 2), (14, 5, 1)):
        wide = 4 * c
        y = net.layer(net.layer(x, c, wide, 1, act="silu"), wide, wide, size, stride, "silu", wide)
        few = net.act(net.conv(net.add("GlobalAveragePool", y), wide, 5, 1), "silu")
        y = net.add("Mul", y, net.add("Sigmoid", net.conv(few, 5, wide, 1)))
        y = net.layer(y, wide, out, 1, act=None)
        x, c = net.add("Add", x, y) if (stride, c) == (1, out) else y, out
    return net.done(net.classify(x, c, 10))


def vision():
    """A vision transformer: patches, a token for the class, attention."""
    net = Network(image(30))
    heads, width, tokens = 3, 14, 26
    c = heads * width
    patches = net.add("Reshape", net.conv("image", 3, c, 6, 6, pad=0), net.constant(np.array([1, c, 25])))
    x = net.add("Concat", net.spread((1, 1, c), 1), net.add("Transpose", patches, perm=[0, 2, 1]), axis=1)
    x = net.add("Add", x, net.spread((1, tokens, c), 9))
    for _ in range(2):
        x = net.add("Add", x, net.attention(net.layernorm(x, c), tokens, heads, width))
        x = net.add("Add", x, net.dense(net.gelu(net.dense(net.layernorm(x, c), c, 3 * c)), 3 * c, c))
    token = net.add("Gather", net.layernorm(x, c), net.constant(np.array(0)), axis=1)
    return net.done(net.gemm(token, c, 10))


def language():
    """MiniLM: embeddings, attention under a mask, a mean over the tokens."""
    tokens, heads, width = 19, 4, 11
    c = heads * width
    net = Network([("ids", "int64", [1, tokens]), ("mask", "float", [1, tokens])])
    words = net.add("Gather", net.spread((50, c), 2), "ids", axis=0)
    x = net.layernorm(net.add("Add", words, net.spread((1, tokens, c), 9)), c)
    kept = net.add("Unsqueeze", "mask", net.constant(np.array([1, 2])))
    masked = net.add("Mul", net.add("Sub", net.scalar(1), kept), net.scalar(-1e4))
    for _ in range(2):
        x = net.layernorm(net.add("Add", x, net.attention(x, tokens, heads, width, masked)), c)
        x = net.layernorm(net.add("Add", x, net.dense(net.gelu(net.dense(x, c, 4 * c)), 4 * c, c)), c)
    return net.done(net.add("ReduceMean", x, axes=[1], keepdims=0))


def grouped():
    """Other convolutions: groups, dilation, uneven windows and padding, a transposed one."""
    net = Network(image(21, 26, 18))
    x = net.add("Conv", "image", net.spread((24, 6, 3, 3), 54), net.uniform(-0.1, 0.1, 24), group=3, pads=[1, 1, 1, 1])
    x = net.act(x, "relu")
    x = net.add("Conv", x, net.spread((20, 24, 3, 3), 216), dilations=[2, 3], pads=[2, 3, 2, 3])
    x = net.add("Conv", net.act(x, "leaky"), net.spread((17, 20, 1, 5), 100), pads=[0, 3, 0, 1], strides=[2, 1])
    x = net.add("ConvTranspose", x, net.spread((17, 9, 2, 2), 17), strides=[2, 2])
    x = net.pool(x, 3, 2, "AveragePool", pad=1, count_include_pad=1)
    return net.done(net.add("Tanh", x))


NETWORKS = {function.__name__: function for function in (
    fire, separable, inverted, shuffled, residual, plain, pyramid, excited, vision, language, grouped)}
