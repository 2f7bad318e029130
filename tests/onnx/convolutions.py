#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: convolutions.py LIGHTNET. Parts of convolutional networks, as exporters write them: their compiled operators, and their
results compared with numpy."""
import os
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_network import check_forms
from tap import Tap

RNG = np.random.default_rng(20250131)
IMAGE = (2, 20, 9, 11)
LOWEST = np.float32(-np.inf)


# ---- the expected, in double ----

def padded(x, pads, number=0.0):
    """pads: top, left, bottom, right."""
    return np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])), constant_values=number)


def windows(x, size, strides=(1, 1)):
    """Each window's elements at the end: [N, C, OH, OW, KH, KW]."""
    views = np.lib.stride_tricks.sliding_window_view(x, size, (2, 3))
    return views[:, :, ::strides[0], ::strides[1]]


def conv(x, weight, strides=(1, 1), group=1):
    parts = [np.einsum("nchwij,ocij->nohw", windows(x[:, k * weight.shape[1]:(k + 1) * weight.shape[1]], weight.shape[2:], strides),
                       w.astype(float)) for k, w in enumerate(np.split(weight, group))]
    return np.concatenate(parts, 1)


def positive(x):
    return np.maximum(x, 0)


def random(*shape):
    return (RNG.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


# ---- padding before windows ----

def pad(net, x, pads, number=np.float32(0)):
    """pads: top, left, bottom, right."""
    return net.op("Pad", x, np.array([0, 0, *pads[:2], 0, 0, *pads[2:]], np.int64), number)


def padded_convolution(net):
    """Zeros of a layer of their own, as for a stride that leaves the last line out."""
    weight = random(24, IMAGE[1], 3, 3)
    y = net.op("Conv", pad(net, net.input("x", *IMAGE), (0, 0, 1, 1)), weight, strides=[2, 2])
    return y, lambda x: conv(padded(x, (0, 0, 1, 1)), weight, (2, 2))


def padded_depthwise_convolution(net):
    """In the layout of another framework: padded, then transposed, with padding of its own besides."""
    weight = random(IMAGE[1], 1, 3, 3)
    x = net.op("Transpose", net.input("x", *IMAGE), perm=[0, 2, 3, 1])
    x = net.op("Pad", x, np.array([0, 1, 0, 0, 0, 1, 2, 0], np.int64), np.float32(0))
    x = net.op("Transpose", x, perm=[0, 3, 1, 2])
    return net.op("Conv", x, weight, pads=[0, 1, 0, 1], group=IMAGE[1]), \
        lambda x: conv(padded(x, (1, 1, 1, 3)), weight, group=IMAGE[1])


def padded_maximum(net):
    """Zeros around elements >= 0."""
    x = net.op("Relu", net.input("x", *IMAGE))
    y = net.op("MaxPool", pad(net, x, (1, 1, 1, 1)), kernel_shape=[3, 3], strides=[2, 2])
    return y, lambda x: windows(padded(positive(x), (1, 1, 1, 1)), (3, 3), (2, 2)).max((4, 5))


def lowest_around_maximum(net):
    y = net.op("MaxPool", pad(net, net.input("x", *IMAGE), (0, 1, 2, 0), LOWEST), kernel_shape=[3, 2])
    return y, lambda x: windows(padded(x, (0, 1, 2, 0), LOWEST), (3, 2)).max((4, 5))


def zeros_around_maximum(net):
    """Zeros that win: they stay."""
    y = net.op("MaxPool", pad(net, net.input("x", *IMAGE), (1, 1, 1, 1)), kernel_shape=[3, 3])
    return y, lambda x: windows(padded(x, (1, 1, 1, 1)), (3, 3)).max((4, 5))


def padded_mean(net):
    """A mean that counts zeros, after a convolution."""
    weight = random(24, IMAGE[1], 1, 1)
    x = net.op("Conv", net.input("x", *IMAGE), weight)
    y = net.op("AveragePool", pad(net, x, (1, 0, 1, 2)), kernel_shape=[3, 3])
    return y, lambda x: windows(padded(conv(x, weight), (1, 0, 1, 2)), (3, 3)).mean((4, 5))


def mean_that_counts_padding(net):
    weight = random(24, IMAGE[1], 1, 1)
    x = net.op("Conv", net.input("x", *IMAGE), weight)
    y = net.op("AveragePool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    return y, lambda x: windows(padded(conv(x, weight), (1, 1, 1, 1)), (3, 3)).mean((4, 5))


def causal_line(net):
    """A causal convolution of lines."""
    weight = random(24, 20, 3)
    x = net.op("Pad", net.input("x", 2, 20, 17), np.array([0, 0, 2, 0, 0, 0], np.int64), np.float32(0))
    return net.op("Conv", x, weight), \
        lambda x: conv(padded(x[:, :, None], (0, 2, 0, 0)), weight[:, :, None])[:, :, 0]


def separable_lines(net):
    """Two convolutions of lines, the first one depthwise, with functions and a sum between."""
    first, second = random(20, 1, 5), random(20, 20, 1)
    x = net.input("x", 2, 20, 17)
    y = net.op("Conv", net.op("Mul", net.op("Relu", net.op("Conv", x, first, pads=[2, 2], group=20)), np.float32(2)), second)
    y = net.op("Add", y, net.op("Conv", x, second))
    return net.op("Mul", y, net.op("Sigmoid", y)), lambda x: swish(
        line_conv(2 * positive(line_conv(x, first, (0, 2, 0, 2), 20)), second) + line_conv(x, second))


def line_conv(x, weight, pads=(0, 0, 0, 0), group=1):
    return conv(padded(x[:, :, None], pads), weight[:, :, None], group=group)[:, :, 0]


def swish(x):
    return x / (1 + np.exp(-x))


# ---- groups ----

def grouped(net, channels, results, group):
    weight = random(results, channels // group, 3, 3)
    y = net.op("Conv", net.input("x", 2, channels, 8, 7), weight, pads=[1, 1, 1, 1], group=group)
    return y, lambda x: conv(padded(x, (1, 1, 1, 1)), weight, group=group)


def groups_of_four(net):
    """As in ResNeXt."""
    return grouped(net, 48, 48, 12)


def groups_of_eight(net):
    """As in RegNet."""
    return grouped(net, 40, 40, 5)


def two_groups(net):
    """As in AlexNet."""
    return grouped(net, 96, 64, 2)


def uneven_groups(net):
    """As in ShuffleNet: blocks meet several groups."""
    return grouped(net, 30, 60, 3)


def depth_multiplier(net):
    """Several results of each channel."""
    return grouped(net, 10, 30, 10)


# ---- transposed ----

def transposed(x, weight, stride, pad=0, more=0):
    """Each element of `x` adds its window; `more` lines and columns at the end."""
    size = weight.shape[2]
    y = np.zeros((x.shape[0], weight.shape[1], *((n - 1) * stride + size + more for n in x.shape[2:])))
    for i in range(x.shape[2]):
        for j in range(x.shape[3]):
            y[:, :, i * stride:i * stride + size, j * stride:j * stride + size] += \
                np.einsum("nc,cohw->nohw", x[:, :, i, j], weight.astype(float))
    return y[:, :, pad:y.shape[2] - pad, pad:y.shape[3] - pad]


def upsampled(net):
    """As in a U-Net: upsampled by 2, joined with an earlier tensor of that size."""
    first, up, last = random(32, 20, 3, 3), random(32, 16, 2, 2), random(8, 36, 1, 1)
    x = net.input("x", *IMAGE)
    y = net.op("Relu", net.op("Conv", x, first, pads=[1, 1, 1, 1], strides=[2, 2]))
    y = net.op("Concat", pad(net, x, (0, 0, 1, 1)), net.op("ConvTranspose", y, up, strides=[2, 2]), axis=1)
    return net.op("Conv", y, last), lambda x: conv(np.concatenate([padded(x, (0, 0, 1, 1)), transposed(
        positive(conv(padded(x, (1, 1, 1, 1)), first, (2, 2))), up, 2)], 1), last)


def generated(net):
    """As in a generator: normalized, and then an activation."""
    weight = random(20, 24, 4, 4)
    scale, shift, mean = (RNG.standard_normal(24).astype(np.float32) for _ in range(3))
    variance = (RNG.random(24) + 0.5).astype(np.float32)
    y = net.op("ConvTranspose", net.input("x", *IMAGE), weight, strides=[2, 2], pads=[1, 1, 1, 1])
    y = net.op("Relu", net.op("BatchNormalization", y, scale, shift, mean, variance, epsilon=1e-5))
    each = np.s_[None, :, None, None]
    return y, lambda x: positive((transposed(x, weight, 2, 1) - mean[each]) / np.sqrt(variance[each] + 1e-5) * scale[each] +
                                 shift[each])


def enlarged(net):
    """With a row and a column more than the stride gives."""
    weight = random(20, 12, 3, 3)
    y = net.op("ConvTranspose", net.input("x", *IMAGE), weight, strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
    return y, lambda x: transposed(np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 1))), weight, 2, 1)[:, :, :18, :22]


BLOCKS = ["to_blocked_cpu", "from_blocked_cpu"]
CONV = ["conv2d_blocked_cpu", "conv2d_pack_cpu"]
TRANSPOSED = ["deconv2d_blocked_cpu", "deconv2d_pack_cpu"]
GROUPED = ["conv2d_grouped_cpu", "conv2d_pack_cpu"] + BLOCKS

# The compiled operators of each, without views.
FORMS = [
    (padded_convolution, CONV + BLOCKS),
    (padded_depthwise_convolution, ["conv2d_depthwise_cpu", "conv2d_depthwise_pack_cpu"] + BLOCKS),
    (padded_maximum, ["maxpool2d_cpu", "unary_cpu"]),
    (lowest_around_maximum, ["maxpool2d_cpu"]),
    (zeros_around_maximum, ["maxpool2d_cpu", "pad_cpu"]),
    (padded_mean, ["pool2d_blocked_cpu"] + CONV + BLOCKS),
    (mean_that_counts_padding, ["pool2d_blocked_cpu"] + CONV + BLOCKS),
    (causal_line, CONV + BLOCKS),
    (separable_lines, ["conv2d_depthwise_cpu", "conv2d_depthwise_pack_cpu", "binary_cpu"] + 2 * CONV + BLOCKS),
    (groups_of_four, GROUPED),
    (groups_of_eight, GROUPED),
    (two_groups, GROUPED),
    (uneven_groups, GROUPED),
    (depth_multiplier, GROUPED),
    (upsampled, 2 * CONV + TRANSPOSED + ["pick_blocked_cpu", "pad_cpu", "to_blocked_cpu", "to_blocked_cpu", "from_blocked_cpu"]),
    (generated, TRANSPOSED + BLOCKS + ["bn2scale_wts_cpu", "affine_cpu", "affine_cpu"]),
    (enlarged, TRANSPOSED + BLOCKS),
]


def main():
    tap = Tap()
    check_forms(tap, sys.argv[1], FORMS, RNG)
    tap.end()


if __name__ == "__main__":
    main()
