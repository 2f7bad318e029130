# SPDX-License-Identifier: Apache-2.0
"""Small convolutional networks for training with NumPy, and their export to ONNX.

The layers and Adam are those of examples/digits/network.py. Activations are [n, h, w, c].
"""

import os
import sys

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "digits"))
from network import Adam, BatchNorm, Conv, MaxPool, Relu

EPSILON = 1e-5  # of BatchNorm


class Convnet:
    """A stack of 3x3 convolutions, each with batch normalization and ReLU, and a head.

    channels: of the input, then of each convolution; pooled: the convolutions that a 2x2 max
    pooling follows; head: output channels and kernel size of the last convolution.
    """

    def __init__(self, rng, channels, pooled, head, head_size):
        self.layers = []
        for i in range(1, len(channels)):
            conv = Conv(rng, channels[i - 1], channels[i], 3, 1, bias=False)
            self.layers += [conv, BatchNorm(channels[i]), Relu()]
            self.layers += [MaxPool()] if i in pooled else []
        self.layers.append(Conv(rng, channels[-1], head, head_size, 0, bias=True))

    def forward(self, x, training=False):
        for layer in self.layers:
            x = layer.forward(x, training)
        return x

    def train(self, adam, gradient, rate):
        """A step against the gradient of the outputs of the last forward(.., training=True)."""
        for layer in reversed(self.layers):
            gradient = layer.backward(gradient, wants_dx=layer is not self.layers[0])
        trained = [(layer, key) for layer in self.layers for key in layer.params]
        adam.step([(layer.params, key, layer.grads[key]) for layer, key in trained], rate)

    def nodes(self, source, result, input_scale=1):
        """ONNX nodes from `source` to `result`, [n, c, h, w], and their weights by name."""
        nodes, weights = [], {}
        for i, layer in enumerate(self.layers):
            last = i == len(self.layers) - 1
            inputs, output = [source], result if last else f"t{i}"
            if isinstance(layer, (Conv, BatchNorm)):
                arrays = layer.exported()
                if i == 0:
                    arrays["weight"] = arrays["weight"] * np.float32(input_scale)
                inputs += [f"{key}{i}" for key in arrays]
                weights.update({f"{key}{i}": array for key, array in arrays.items()})
            nodes.append(_node(layer, inputs, output))
            source = output
        return nodes, weights


def _node(layer, inputs, output):
    if isinstance(layer, Conv):
        # In the order of the operator's inputs: the bias comes last.
        inputs = inputs[:1] + sorted(inputs[1:], reverse=True)
        sizes = {"kernel_shape": [layer._size] * 2, "pads": [layer._pad] * 4}
        return helper.make_node("Conv", inputs, [output], **sizes)
    if isinstance(layer, BatchNorm):
        return helper.make_node("BatchNormalization", inputs, [output], epsilon=EPSILON)
    if isinstance(layer, MaxPool):
        return helper.make_node("MaxPool", inputs, [output], kernel_shape=[2, 2], strides=[2, 2])
    return helper.make_node("Relu", inputs, [output])


def save_onnx(path, nodes, weights, inputs, outputs):
    """Writes a model; weights: {name: array}, inputs and outputs: {name: dims}, all float32."""

    def infos(values):
        value = helper.make_tensor_value_info
        return [value(name, TensorProto.FLOAT, dims) for name, dims in values.items()]

    name = os.path.splitext(os.path.basename(path))[0]
    arrays = [numpy_helper.from_array(np.ascontiguousarray(weights[key]), key) for key in weights]
    graph = helper.make_graph(nodes, name, infos(inputs), infos(outputs), arrays)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    checker.check_model(model)
    save(model, path)


def cosine(rate, step, n_steps):
    """A learning rate that falls to 0."""
    return rate * (1 + np.cos(np.pi * step / n_steps)) / 2
