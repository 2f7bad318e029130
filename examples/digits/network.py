# SPDX-License-Identifier: Apache-2.0
"""The network of digits.json for training: layers with forward and backward, and Adam.

Activations are [n, h, w, c] (channels last), so that a convolution is one matrix product over
unfolded windows. Weights are kept as that product's matrix and exported as [OC, IC, KH, KW].
"""

import numpy as np

EPSILON = 1e-5  # of both batchnorm operators of digits.json


class Conv:
    """Convolution of stride 1 with `pad` zeros on every side."""

    def __init__(self, rng, in_channels, out_channels, size, pad, bias):
        fan_in = in_channels * size * size
        weight = rng.normal(0, np.sqrt(2 / fan_in), (fan_in, out_channels))
        self.params = {"weight": weight.astype(np.float32)}
        if bias:
            self.params["bias"] = np.zeros(out_channels, np.float32)
        self._size, self._pad, self._in_channels = size, pad, in_channels

    def forward(self, x, training):
        pad = self._pad
        x = np.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(x, (self._size, self._size), (1, 2))
        n, height, width = windows.shape[:3]
        unfolded = windows.transpose(0, 1, 2, 4, 5, 3).reshape(n * height * width, -1)
        if training:
            self._unfolded, self._padded_shape = unfolded, x.shape
        y = unfolded @ self.params["weight"] + self.params.get("bias", np.float32(0))
        return y.reshape(n, height, width, -1)

    def backward(self, dy, wants_dx=True):
        n, height, width, out_channels = dy.shape
        dy = dy.reshape(-1, out_channels)
        self.grads = {"weight": self._unfolded.T @ dy, "bias": dy.sum(0)}
        if not wants_dx:
            return None
        size, pad = self._size, self._pad
        dwindows = dy @ self.params["weight"].T
        dwindows = dwindows.reshape(n, height, width, size, size, self._in_channels)
        dx = np.zeros(self._padded_shape, np.float32)
        for i in range(size):
            for j in range(size):
                dx[:, i : i + height, j : j + width] += dwindows[:, :, :, i, j]
        return dx[:, pad : dx.shape[1] - pad, pad : dx.shape[2] - pad]

    def exported(self):
        """The arrays of the conv2d operator: weight [OC, IC, KH, KW] and, if there is one, bias."""
        shape = (self._size, self._size, self._in_channels, -1)
        weight = self.params["weight"].reshape(shape).transpose(3, 2, 0, 1)
        return {**self.params, "weight": np.ascontiguousarray(weight)}


class BatchNorm:
    """Batch normalization (Ioffe and Szegedy 2015) per channel; keeps running statistics."""

    MOMENTUM = 0.02  # the share of a new batch in the running values

    def __init__(self, channels):
        self.params = {
            "scale": np.ones(channels, np.float32),
            "offset": np.zeros(channels, np.float32),
        }
        self._mean, self._var = np.zeros(channels, np.float32), np.ones(channels, np.float32)

    def forward(self, x, training):
        mean, var = self._mean, self._var
        if training:
            mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
            self._mean += self.MOMENTUM * (mean - self._mean)
            self._var += self.MOMENTUM * (var - self._var)
        deviation = np.sqrt(var + np.float32(EPSILON))
        normal = (x - mean) / deviation
        if training:
            self._normal, self._deviation = normal, deviation
        return normal * self.params["scale"] + self.params["offset"]

    def backward(self, dy, wants_dx=True):
        self.grads = {
            "scale": (dy * self._normal).sum((0, 1, 2)),
            "offset": dy.sum((0, 1, 2)),
        }
        per_channel = np.float32(dy.size / dy.shape[-1])
        centred = dy - (self.grads["offset"] + self._normal * self.grads["scale"]) / per_channel
        return centred * (self.params["scale"] / self._deviation)

    def exported(self):
        """The arrays of the batchnorm operator."""
        return {**self.params, "mean": self._mean, "var": self._var}


class Relu:
    params = {}

    def forward(self, x, training):
        self._positive = x > 0
        return x * self._positive

    def backward(self, dy, wants_dx=True):
        return dy * self._positive


class MaxPool:
    """The maximum of each 2x2 window; equal maxima share the gradient."""

    params = {}

    def forward(self, x, training):
        n, height, width, channels = x.shape
        x = x.reshape(n, height // 2, 2, width // 2, 2, channels)
        y = x.max((2, 4), keepdims=True)
        if training:
            self._is_largest = x == y
            self._is_largest = self._is_largest / self._is_largest.sum((2, 4), keepdims=True)
        return y.reshape(n, height // 2, width // 2, channels)

    def backward(self, dy, wants_dx=True):
        n, height, width, channels = dy.shape
        dx = dy.reshape(n, height, 1, width, 1, channels) * self._is_largest.astype(np.float32)
        return dx.reshape(n, height * 2, width * 2, channels)


class Dropout:
    """Drops channels' values at random while training; no operator when running."""

    params = {}

    def __init__(self, rng, share):
        self._rng, self._share = rng, share

    def forward(self, x, training):
        if not training:
            return x
        kept = self._rng.random(x.shape, dtype=np.float32) >= self._share
        self._factor = kept / np.float32(1 - self._share)
        return x * self._factor

    def backward(self, dy, wants_dx=True):
        return dy * self._factor


class Network:
    """Images [n, 28, 28] uint8 -> logits [n, 10]."""

    INPUT_SCALE = np.float32(1 / 255)  # multiplied into conv1's weights when exported

    def __init__(self, rng):
        self._named = {
            "conv1": Conv(rng, 1, 12, 5, pad=2, bias=False),
            "bn1": BatchNorm(12),
            "conv2": Conv(rng, 12, 24, 5, pad=2, bias=False),
            "bn2": BatchNorm(24),
            "conv3": Conv(rng, 24, 48, 3, pad=0, bias=True),
            "dense": Conv(rng, 48, 10, 5, pad=0, bias=True),
        }
        named = self._named
        self._layers = [
            *(named["conv1"], named["bn1"], Relu(), MaxPool()),  # [n, 14, 14, 12]
            *(named["conv2"], named["bn2"], Relu(), MaxPool()),  # [n, 7, 7, 24]
            *(named["conv3"], Relu(), Dropout(rng, 0.3)),  # [n, 5, 5, 48]
            named["dense"],  # [n, 1, 1, 10]
        ]

    def logits(self, images, training=False):
        x = images[..., None] * self.INPUT_SCALE
        for layer in self._layers:
            x = layer.forward(x, training)
        return x.reshape(len(x), 10)

    def loss_and_gradients(self, images, labels):
        """Mean cross entropy of a batch; leaves the gradients in the layers."""
        logits = self.logits(images, training=True)
        logits = logits - logits.max(1, keepdims=True)
        log_probabilities = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        rows = np.arange(len(labels))
        dy = np.exp(log_probabilities)
        dy[rows, labels] -= 1
        dy = (dy / np.float32(len(labels))).reshape(-1, 1, 1, 10)
        for layer in reversed(self._layers):
            dy = layer.backward(dy, wants_dx=layer is not self._layers[0])
        return -log_probabilities[rows, labels].mean()

    def parameters(self):
        """(dictionary, key, gradient) of every trained array, after loss_and_gradients."""
        for layer in self._named.values():
            for key in layer.params:
                yield layer.params, key, layer.grads[key]

    def exported(self):
        """Every `from_file` tensor of digits.json by name, float32, for inputs of 0 to 255."""
        arrays = {
            f"{name}_{key}": array
            for name, layer in self._named.items()
            for key, array in layer.exported().items()
        }
        arrays["conv1_weight"] = arrays["conv1_weight"] * self.INPUT_SCALE
        return arrays


class Adam:
    """Adam (Kingma and Ba 2015, algorithm 1); the learning rate is given with each step."""

    BETA1, BETA2, TINY = 0.9, 0.999, 1e-8

    def __init__(self):
        self._step = 0
        self._moments = {}

    def step(self, parameters, rate):
        self._step += 1
        rate *= np.sqrt(1 - self.BETA2**self._step) / (1 - self.BETA1**self._step)
        for i, (params, key, grad) in enumerate(parameters):
            m, v = self._moments.setdefault(i, (np.zeros_like(grad), np.zeros_like(grad)))
            m += (1 - self.BETA1) * (grad - m)
            v += (1 - self.BETA2) * (grad * grad - v)
            params[key] -= np.float32(rate) * m / (np.sqrt(v) + np.float32(self.TINY))
