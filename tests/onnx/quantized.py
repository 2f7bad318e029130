#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: quantized.py LIGHTNET. Layers of 8-bit integers, in the forms in which exporters write them, agree with the
standard: every scale is a power of two and sums are small, so floats are exact, and the results must be equal.
Rules must find them all: no layer is computed in floats."""
import os
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import Part, elements, faults_of_parts, joined, ops_of
from onnx_writer import node
from tap import Tap

ISAS = os.environ.get("LN_TEST_ISAS", "c avx2 best").split()
F32 = np.float32


def saturated(x, dtype):
    return np.clip(x, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)


def rounded(x, scale, zero, dtype):
    """QuantizeLinear, of exact numbers."""
    return saturated(np.rint(x / scale) + zero, dtype)


def spread(seed, low, high, shape, dtype):
    return np.random.default_rng(seed).integers(low, high + 1, shape).astype(dtype)


class Graph:
    """Nodes in the making, with their constants."""

    def __init__(self):
        self.nodes, self.constants, self.n = [], {}, 0

    def constant(self, array):
        self.n += 1
        self.constants[f"c{self.n}"] = elements(array)
        return f"c{self.n}"

    def make(self, op_type, inputs, result=None, **attributes):
        self.n += 1
        result = result or f"t{self.n}"
        self.nodes.append(node(op_type, inputs, [result], **attributes))
        return result

    def dequantize(self, x, scale, zero, axis=None):
        zero = [] if zero is None else [self.constant(zero)]
        return self.make("DequantizeLinear", [x, self.constant(scale), *zero], **({} if axis is None else {"axis": axis}))

    def quantize(self, x, scale, zero, result=None):
        return self.make("QuantizeLinear", [x, self.constant(F32(scale)), self.constant(zero)], result)

    def part(self, sentence, given, wanted, opset=13):
        return Part(sentence, opset, self.nodes, given, wanted, self.constants)


def windows(x, size, stride, pads, dilation=1):
    """[N, C, OH, OW, KH, KW] of an image, with zeros around."""
    x = np.pad(x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])])
    extent = [(k - 1) * dilation + 1 for k in size]
    views = np.lib.stride_tricks.sliding_window_view(x, extent, (2, 3))
    return views[:, :, ::stride[0], ::stride[1], ::dilation, ::dilation]


def convolved(x, w, group, **how):
    """A convolution of integers."""
    views, n = windows(x, w.shape[2:], **how), w.shape[0] // group
    parts = [np.einsum("nchwij,ocij->nohw", views[:, g * w.shape[1]:(g + 1) * w.shape[1]], w[g * n:(g + 1) * n])
             for g in range(group)]
    return np.concatenate(parts, 1)


ACTIVATIONS = {"none": (None, lambda v: v), "Relu": ([], lambda v: np.maximum(v, 0)),
               "Clip": ([F32(-3), F32(5)], lambda v: np.clip(v, -3, 5))}


def convolutions():
    """Dense, depthwise and in groups, of each pair of types, with each form of scale, zero point, bias and activation."""
    seed = 0
    for x_type in (np.uint8, np.int8):
        for w_type, w_zero in ((np.int8, None), (np.int8, 0), (np.uint8, 128)):
            for group, channels, outputs in ((1, 3, 5), (1, 20, 33), (17, 17, 17), (5, 20, 30), (2, 36, 24)):
                for act in ACTIVATIONS:
                    seed += 1
                    yield convolution(seed, x_type, w_type, w_zero, group, channels, outputs, act, np.uint8 if seed % 2 else x_type)


def convolution(seed, x_type, w_type, w_zero, group, channels, outputs, act, y_type):
    size, how = (3, 2), {"stride": (1 + seed % 2, 1), "pads": (1, 0, 1, 1)}
    x_zero = x_type(3 if x_type == np.int8 else 130)
    x = spread(seed, *(np.iinfo(x_type).min, np.iinfo(x_type).max), (1 + seed % 2, channels, 6, 7), x_type)
    w = spread(seed + 1, -7, 7, (outputs, channels // group, *size), np.int64)
    # A scale for each channel, unless the weights are unsigned.
    is_each = w_zero != 128 and seed % 3 > 0
    w_scale = (2.0 ** -(np.arange(outputs) % 3 + 3)).astype(F32) if is_each else F32(2 ** -4)
    zero = None if w_zero is None else np.full(outputs if is_each else (), w_zero, w_type)
    bias = spread(seed + 2, -40, 40, outputs, np.int32)
    g = Graph()
    src = g.dequantize("x", F32(0.25), x_zero)
    weight = g.dequantize(g.constant((w + (w_zero or 0)).astype(w_type)), w_scale, zero, 0 if is_each else None)
    b_scale = (w_scale * F32(0.25)).astype(F32)
    b = g.dequantize(g.constant(bias), b_scale, None, 0 if is_each else None)
    y = g.make("Conv", [src, weight, b], group=group, kernel_shape=list(size), strides=list(how["stride"]), pads=list(how["pads"]))
    arguments, func = ACTIVATIONS[act]
    if arguments is not None:
        y = g.make(act, [y, *map(g.constant, arguments)])
    zero = y_type(100 if y_type == np.uint8 else -20)
    g.quantize(y, 0.5, zero, "y")
    sums = convolved(x.astype(np.int64) - x_zero, w, group, **how)
    real = func((sums + bias.reshape(-1, 1, 1)) * (np.broadcast_to(w_scale, outputs).astype(float).reshape(-1, 1, 1) * 0.25))
    return g.part(f"{np.dtype(x_type).name} x {np.dtype(w_type).name} around {w_zero}, {group} groups of {channels}, {act}, "
                  f"to {np.dtype(y_type).name}", {"x": x}, {"y": rounded(real, 0.5, int(zero), y_type)})


def transposed_of(x, w, group, stride, pads, more):
    """A transposed convolution of integers, tap by tap."""
    n, inner, outer = x.shape[0], w.shape[0] // group, w.shape[1]
    size = [(x.shape[2 + i] - 1) * stride[i] + w.shape[2 + i] + more[i] for i in range(2)]
    y = np.zeros((n, group * outer, *size), np.int64)
    for g in range(group):
        part, weights = x[:, g * inner:(g + 1) * inner], w[g * inner:(g + 1) * inner]
        for i in range(w.shape[2]):
            for j in range(w.shape[3]):
                y[:, g * outer:(g + 1) * outer, i:size[0] - w.shape[2] - more[0] + i + 1:stride[0],
                  j:size[1] - w.shape[3] - more[1] + j + 1:stride[1]] += np.einsum("nchw,co->nohw", part, weights[:, :, i, j])
    return y[:, :, pads[0]:size[0] - pads[2], pads[1]:size[1] - pads[3]]


def transposed():
    """Transposed convolutions, of each pair of types, in groups too."""
    seed = 400
    for x_type in (np.uint8, np.int8):
        for w_type, w_zero in ((np.int8, 0), (np.uint8, 128)):
            for group, channels, outputs in ((1, 20, 5), (1, 7, 33), (3, 18, 21)):
                for stride in ((1, 1), (2, 3)):
                    seed += 1
                    yield transposed_layer(seed, x_type, w_type, w_zero, group, channels, outputs, stride)


def transposed_layer(seed, x_type, w_type, w_zero, group, channels, outputs, stride):
    x_zero, more, pads = x_type(9), (0, stride[1] - 1), (1, 0, 1, 1)
    x = spread(seed, np.iinfo(x_type).min, np.iinfo(x_type).max, (2, channels, 5, 6), x_type)
    w = spread(seed + 1, -7, 7, (channels, outputs // group, 3, 2), np.int64)
    is_each = group == 1 and w_zero == 0
    w_scale = (2.0 ** -(np.arange(outputs) % 3 + 3)).astype(F32) if is_each else F32(2 ** -4)
    bias = spread(seed + 2, -40, 40, outputs, np.int64).astype(F32)
    g = Graph()
    src = g.dequantize("x", F32(0.25), x_zero)
    zero = np.full(outputs if is_each else (), w_zero, w_type)
    weight = g.dequantize(g.constant((w + w_zero).astype(w_type)), w_scale, zero, 1 if is_each else None)
    y = g.make("ConvTranspose", [src, weight, g.constant(bias)], group=group, kernel_shape=[3, 2], strides=list(stride),
               pads=list(pads), output_padding=list(more))
    g.quantize(g.make("Relu", [y]), 0.5, np.uint8(20), "y")
    sums = transposed_of(x.astype(np.int64) - int(x_zero), w, group, stride, pads, more)
    real = np.maximum(sums * np.broadcast_to(w_scale, outputs).astype(float).reshape(-1, 1, 1) * 0.25 + bias.reshape(-1, 1, 1), 0)
    return g.part(f"{np.dtype(x_type).name} x {np.dtype(w_type).name}, {group} groups of {channels}, stride {stride}", {"x": x},
                  {"y": rounded(real, 0.5, 20, np.uint8)})


def products():
    """MatMul and Gemm, with biases of constants and of other nodes."""
    seed = 100
    for x_type in (np.uint8, np.int8):
        for trans in (0, 1):
            for has_bias in (0, 1):
                seed += 1
                k, n = 37, 21
                x = spread(seed, np.iinfo(x_type).min, np.iinfo(x_type).max, (9, k), x_type)
                w, x_zero = spread(seed + 1, -9, 9, (k, n), np.int8), x_type(5)
                scale, bias = (2.0 ** -(np.arange(n) % 4 + 1)).astype(F32), spread(seed + 2, -9, 9, n, np.int64).astype(F32)
                g = Graph()
                src = g.dequantize("x", F32(0.125), x_zero)
                weight = g.dequantize(g.constant(w.T.copy() if trans else w), scale, None, 1 - trans)
                if trans:
                    y = g.make("Gemm", [src, weight] + [g.constant(bias)] * has_bias, transB=1)
                else:
                    y = g.make("MatMul", [src, weight])
                    y = g.make("Add", [y, g.constant(bias)]) if has_bias else y
                g.quantize(y, 4, np.uint8(77), "y")
                real = (x.astype(np.int64) - 5) @ w.astype(np.int64) * scale.astype(float) * 0.125 + bias * has_bias
                yield g.part(f"{np.dtype(x_type).name}, {'transposed' if trans else 'plain'}, bias {has_bias}", {"x": x},
                             {"y": rounded(real, 4, 77, np.uint8)})


def dynamic():
    """Sums that the run scales, as dynamic quantization writes them."""
    for seed, (w_type, w_zero) in enumerate(((np.int8, 0), (np.uint8, 128)), 200):
        w = spread(seed, -9, 9, (6, 18, 3, 3), np.int64)
        x, scale = spread(seed + 1, 0, 255, (1, 18, 7, 8), np.uint8), F32(2 ** -6)
        bias = spread(seed + 2, -9, 9, (1, 6, 1, 1), np.int64).astype(F32)
        g = Graph()
        sums = g.make("ConvInteger", ["x", g.constant((w + w_zero).astype(w_type)), "zero", g.constant(w_type(w_zero))],
                      pads=[1, 1, 1, 1])
        y = g.make("Mul", [g.make("Cast", [sums], to=1), "scale"])
        g.make("Relu", [g.make("Add", [y, g.constant(bias)])], "y")
        real = convolved(x.astype(np.int64) - 7, w, 1, stride=(1, 1), pads=(1, 1, 1, 1)) * float(scale) + bias
        yield g.part(f"convolution, weights around {w_zero}", {"x": x, "zero": np.uint8(7), "scale": scale},
                     {"y": np.maximum(real, 0).astype(F32)})
        w = spread(seed + 5, -9, 9, (8, 9, 3, 3), np.int64)
        g = Graph()
        sums = g.make("ConvInteger", ["x", g.constant((w + w_zero).astype(w_type)), "zero", g.constant(w_type(w_zero))], group=2)
        g.make("Mul", [g.make("Cast", [sums], to=1), "scale"], "y")
        real = convolved(x.astype(np.int64) - 7, w, 2, stride=(1, 1), pads=(0, 0, 0, 0)) * float(scale)
        yield g.part(f"convolution in groups, weights around {w_zero}", {"x": x, "zero": np.uint8(7), "scale": scale},
                     {"y": real.astype(F32)})
        m = spread(seed + 3, -9, 9, (31, 20), np.int64)
        x = spread(seed + 4, 0, 255, (2, 5, 31), np.uint8)
        g = Graph()
        sums = g.make("MatMulInteger", ["x", g.constant((m + w_zero).astype(w_type)), "zero", g.constant(w_type(w_zero))])
        g.make("Mul", [g.make("Cast", [sums], to=1), "scale"], "y")
        yield g.part(f"product, weights around {w_zero}", {"x": x, "zero": np.uint8(7), "scale": scale},
                     {"y": ((x.astype(np.int64) - 7) @ m * float(scale)).astype(F32)})


def zero_of(seed, dtype, outputs, kind):
    """A zero point of weights: none, one that is not the middle of the type, or one for each output."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return {"none": None, "odd": dtype(117), "each": spread(seed, low, high, outputs, dtype)}[kind]


def integers():
    """Sums of bytes alone, of each pair of types, with any zero points: convolutions of any kind, and products."""
    pairs = [(x, w, kind) for x in (np.uint8, np.int8) for w in (np.uint8, np.int8) for kind in ("none", "odd", "each")]
    for seed, (x_type, w_type, kind) in enumerate(pairs, 500):
        x_zero = x_type(-3 if x_type == np.int8 else 201)
        for group, channels, outputs in ((1, 3, 5), (1, 20, 33), (17, 17, 17), (5, 20, 30), (2, 36, 64)):
            w = spread(seed, np.iinfo(w_type).min, np.iinfo(w_type).max, (outputs, channels // group, 3, 2), w_type)
            zero = zero_of(seed + 1, w_type, outputs, kind)
            x = spread(seed + 2, np.iinfo(x_type).min, np.iinfo(x_type).max, (1 + seed % 2, channels, 6, 9), x_type)
            how = {"stride": (1 + seed % 2, 1), "pads": (1, 0, 2, 1), "dilation": 1 + seed // 2 % 2}
            g = Graph()
            g.make("ConvInteger", ["x", g.constant(w), "zero"] + ([] if zero is None else [g.constant(zero)]), "y", group=group,
                   strides=list(how["stride"]), pads=list(how["pads"]), dilations=[how["dilation"]] * 2)
            offset = 0 if zero is None else np.broadcast_to(zero, outputs).astype(np.int64).reshape(-1, 1, 1, 1)
            sums = convolved(x.astype(np.int64) - int(x_zero), w.astype(np.int64) - offset, group, **how)
            yield g.part(f"{np.dtype(x_type).name} x {np.dtype(w_type).name}, zero point {kind}, {group} groups of {channels}",
                         {"x": x, "zero": x_zero}, {"y": sums.astype(np.int32)})
        w = spread(seed + 3, np.iinfo(w_type).min, np.iinfo(w_type).max, (45, 35), w_type)
        zero = zero_of(seed + 4, w_type, 35, kind)
        x = spread(seed + 5, np.iinfo(x_type).min, np.iinfo(x_type).max, (2, 19, 45), x_type)
        g = Graph()
        g.make("MatMulInteger", ["x", g.constant(w), "zero"] + ([] if zero is None else [g.constant(zero)]), "y")
        offset = 0 if zero is None else zero.astype(np.int64)
        yield g.part(f"product of {np.dtype(x_type).name} x {np.dtype(w_type).name}, zero point {kind}", {"x": x, "zero": x_zero},
                     {"y": ((x.astype(np.int64) - int(x_zero)) @ (w.astype(np.int64) - offset)).astype(np.int32)})


def whole(seed, dtype, shape):
    """Any integers of a type."""
    return spread(seed, np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype)


def difference(x, zero):
    return x.astype(np.int64) - (0 if zero is None else zero.astype(np.int64))


def convolved_axes(x, w, group):
    """The convolution over 1 to 3 axes, with one element of padding on each side."""
    if x.ndim == 3:
        return convolved(x[:, :, None], w[:, :, None], group, stride=(1, 1), pads=(0, 1, 0, 1))[:, :, 0]
    if x.ndim == 4:
        return convolved(x, w, group, stride=(1, 1), pads=(1, 1, 1, 1))
    wide, taps = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 0), (0, 0))), range(w.shape[2])
    return np.stack([sum(convolved_axes(wide[:, :, at + tap], w[:, :, tap], group) for tap in taps)
                     for at in range(wide.shape[2] - len(taps) + 1)], axis=2)


def other_integers():
    """Sums of lines and volumes, of weights that a run computes, and of batches of matrices."""
    pairs = [(x, w, kind) for x in (np.uint8, np.int8) for w in (np.uint8, np.int8) for kind in ("none", "odd", "each")]
    for seed, (x_type, w_type, kind) in enumerate(pairs, 700):
        name = f"{np.dtype(x_type).name} x {np.dtype(w_type).name}, zero point {kind}"
        x_zero = x_type(np.iinfo(x_type).min if seed % 2 else np.iinfo(x_type).max)
        for form, group, dims, given in (("lines", 2, [4], 0), ("lines, weights of the run", 1, [5], 1), ("volumes", 2, [4, 3, 2], 0),
                                         ("weights of the run", 3, [3, 2], 1), ("depthwise, of the run", 6, [2, 3], 1),
                                         ("volumes, weights of the run", 6, [2, 3, 3], 1)):
            x, w = whole(seed, x_type, (2, 6, *[9] * len(dims))), whole(seed + 1, w_type, (18, 6 // group, *dims))
            zero = zero_of(seed + 2, w_type, 18, kind)
            g = Graph()
            g.make("ConvInteger", ["x", "w" if given else g.constant(w), "zero"] + ([] if zero is None else [g.constant(zero)]), "y",
                   group=group, pads=[1] * 2 * len(dims))
            offset = 0 if zero is None else np.broadcast_to(zero, 18).astype(np.int64).reshape(-1, 1, *[1] * len(dims))
            wanted = convolved_axes(x.astype(np.int64) - int(x_zero), w.astype(np.int64) - offset, group).astype(np.int32)
            yield g.part(f"{form}, {name}", {"x": x, "zero": x_zero, **({"w": w} if given else {})}, {"y": wanted})
        for form, dims, given in (("batch", (3,), 0), ("batch of the run", (3,), 1), ("batch of one", (1,), 0), ("matrix of the run", (), 1)):
            x, w = whole(seed + 3, x_type, (3, 19, 45)), whole(seed + 4, w_type, (*dims, 45, 35))
            zero = zero_of(seed + 5, w_type, 35, kind)
            g = Graph()
            g.make("MatMulInteger", ["x", "w" if given else g.constant(w), "zero"] + ([] if zero is None else [g.constant(zero)]), "y")
            sums = difference(x, x_zero) @ difference(w, zero)
            yield g.part(f"{form}, {name}", {"x": x, "zero": x_zero, **({"w": w} if given else {})}, {"y": sums.astype(np.int32)})


def zeros_of_rows():
    """Products with a zero point for each row; load computes the sums of the columns."""
    pairs = [(x, w, kind) for x in (np.uint8, np.int8) for w in (np.uint8, np.int8) for kind in ("none", "odd", "each")]
    for seed, (x_type, w_type, kind) in enumerate(pairs, 850):
        x, w, rows = whole(seed, x_type, (3, 19, 45)), whole(seed + 1, w_type, (45, 35)), whole(seed + 2, x_type, 19)
        zero = zero_of(seed + 3, w_type, 35, kind)
        g = Graph()
        g.make("MatMulInteger", ["x", g.constant(w), "rows"] + ([] if zero is None else [g.constant(zero)]), "y")
        yield g.part(f"{np.dtype(x_type).name} x {np.dtype(w_type).name}, zero point {kind}", {"x": x, "rows": rows},
                     {"y": (difference(x, rows.reshape(-1, 1)) @ difference(w, zero)).astype(np.int32)})


def zeros_of_a_batch():
    """Zero points with the dimensions of a batch of one matrix. Their product is computed with integers."""
    x, w = whole(880, np.uint8, (3, 19, 45)), whole(881, np.int8, (1, 45, 35))
    rows, zero = whole(882, np.uint8, 19), whole(883, np.int8, (1, 1, 35))
    g = Graph()
    g.make("MatMulInteger", ["x", g.constant(w), "rows", g.constant(zero)], "y")
    yield g.part("a zero point for each row, and one for each column of a batch", {"x": x, "rows": rows},
                 {"y": (difference(x, rows.reshape(-1, 1)) @ difference(w, zero)).astype(np.int32)})


def scaled_lines():
    """Lines between scales: as exporters write them, and requantized."""
    for seed, kind in enumerate(("none", "odd", "each"), 800):
        w, zero = spread(seed, 0, 255, (6, 5, 3), np.uint8), zero_of(seed + 1, np.uint8, 6, kind)
        x, scale = spread(seed + 2, 0, 255, (2, 5, 11), np.uint8), F32(2 ** -6)
        offset = 0 if zero is None else np.broadcast_to(zero, 6).astype(np.int64).reshape(-1, 1, 1, 1)
        sums = convolved(x[:, :, None].astype(np.int64) - 7, w[:, :, None].astype(np.int64) - offset, 1, stride=(1, 1),
                         pads=(0, 1, 0, 1))[:, :, 0]
        scales = (2.0 ** -(np.arange(6) % 3 + 3)).astype(F32)
        for factor in (scales.reshape(6, 1), scales[:1]):
            g = Graph()
            y = g.make("ConvInteger", ["x", g.constant(w), "zero"] + ([] if zero is None else [g.constant(zero)]), pads=[1, 1])
            g.make("Mul", [g.make("Cast", [y], to=1), g.make("Mul", ["scale", g.constant(factor)])], "y")
            yield g.part(f"{factor.size} scales, zero point {kind}", {"x": x, "zero": np.uint8(7), "scale": scale},
                         {"y": (sums * (factor * float(scale))).astype(F32)})
        g = Graph()
        zeros = [g.constant(np.uint8(0) if zero is None else zero)]
        g.make("QLinearConv", ["x", g.constant(scale), g.constant(np.uint8(7)), g.constant(w), g.constant(scales), *zeros,
                               g.constant(F32(1)), g.constant(np.uint8(100))], "y", pads=[1, 1])
        yield g.part(f"QLinearConv, zero point {kind}", {"x": x},
                     {"y": rounded(sums * (scales.reshape(6, 1) * 2.0 ** -6), 1, 100, np.uint8)})


def scaled_integers():
    """The same between scales: one, or one for each output, which the run multiplies by that of the source; and requantized."""
    for seed, kind in enumerate(("none", "odd", "each"), 600):
        w, zero = spread(seed, 0, 255, (6, 5, 3, 3), np.uint8), zero_of(seed + 1, np.uint8, 6, kind)
        x, scale = spread(seed + 2, 0, 255, (2, 5, 7, 8), np.uint8), F32(2 ** -6)
        scales = (2.0 ** -(np.arange(6) % 3 + 3)).astype(F32).reshape(6, 1, 1)
        offset = 0 if zero is None else np.broadcast_to(zero, 6).astype(np.int64).reshape(-1, 1, 1, 1)
        sums = convolved(x.astype(np.int64) - 7, w.astype(np.int64) - offset, 1, stride=(1, 1), pads=(1, 1, 1, 1))
        zeros = lambda g: [] if zero is None else [g.constant(zero)]
        g = Graph()
        y = g.make("ConvInteger", ["x", g.constant(w), "zero", *zeros(g)], pads=[1, 1, 1, 1])
        g.make("Mul", [g.make("Cast", [y], to=1), g.make("Mul", ["scale", g.constant(scales)])], "y")
        yield g.part(f"convolution, a scale for each channel, zero point {kind}", {"x": x, "zero": np.uint8(7), "scale": scale},
                     {"y": (sums * (scales * float(scale))).astype(F32)})
        g = Graph()
        zeros = zeros(g) or [g.constant(np.uint8(0))]
        g.make("QLinearConv", ["x", g.constant(scale), g.constant(np.uint8(7)), g.constant(w), g.constant(F32(2 ** -3)), *zeros,
                               g.constant(F32(1)), g.constant(np.uint8(100))], "y", pads=[1, 1, 1, 1])
        yield g.part(f"QLinearConv, zero point {kind}", {"x": x}, {"y": rounded(sums * 2.0 ** -9, 1, 100, np.uint8)})
        m, zero = spread(seed + 3, 0, 255, (31, 20), np.uint8), zero_of(seed + 4, np.uint8, 20, kind)
        x, scales = spread(seed + 5, 0, 255, (2, 5, 31), np.uint8), (2.0 ** -(np.arange(20) % 3 + 3)).astype(F32)
        sums = (x.astype(np.int64) - 7) @ (m.astype(np.int64) - (0 if zero is None else zero.astype(np.int64)))
        for is_each in (0, 1):
            g = Graph()
            y = g.make("MatMulInteger", ["x", g.constant(m), "zero"] + ([] if zero is None else [g.constant(zero)]))
            factor = scales if is_each else scales[:1]
            g.make("Mul", [g.make("Cast", [y], to=1), g.make("Mul", ["scale", g.constant(factor)])], "y")
            yield g.part(f"product, scales {factor.size}, zero point {kind}", {"x": x, "zero": np.uint8(7), "scale": scale},
                         {"y": (sums * (factor * float(scale))).astype(F32)})
        if kind != "each":
            g = Graph()
            g.make("QLinearMatMul", ["x", g.constant(scale), g.constant(np.uint8(7)), g.constant(m), g.constant(F32(2 ** -3)),
                                     g.constant(np.uint8(0) if zero is None else zero), g.constant(F32(1)), g.constant(np.uint8(100))], "y")
            yield g.part(f"QLinearMatMul, zero point {kind}", {"x": x}, {"y": rounded(sums * 2.0 ** -9, 1, 100, np.uint8)})


def networks():
    """Bytes stay bytes from layer to layer: through pools, joins, transposes."""
    x = spread(300, 0, 255, (1, 16, 8, 8), np.uint8)
    w = spread(301, -5, 5, (16, 16, 1, 1), np.int8)
    g = Graph()
    src = g.dequantize("x", F32(0.5), np.uint8(10))

    def layer(src, scale):
        weight = g.dequantize(g.constant(w), F32(2 ** -3), None)
        y = g.make("Conv", [src, weight, g.constant(np.zeros(16, F32))])
        return y if scale is None else g.dequantize(g.quantize(y, scale, np.uint8(128)), F32(scale), np.uint8(128))
    left, right = layer(src, None), layer(g.make("MaxPool", [src], kernel_shape=[3, 3], pads=[1, 1, 1, 1]), None)
    both = g.make("Concat", [left, right], axis=1)
    g.make("Transpose", [g.quantize(both, 1, np.uint8(128))], "y", perm=[0, 2, 3, 1])
    a = x.astype(np.int64) - 10
    pooled = windows(x.astype(np.int64), (3, 3), (1, 1), (1, 1, 1, 1)).max((4, 5)) - 10
    real = np.concatenate([convolved(v, w.astype(np.int64), 1, stride=(1, 1), pads=(0, 0, 0, 0)) for v in (a, pooled)], 1) / 16
    yield g.part("two branches", {"x": x}, {"y": rounded(real, 1, 128, np.uint8).transpose(0, 2, 3, 1)})


KINDS = (convolutions, transposed, products, dynamic, integers, other_integers, zeros_of_rows,
         zeros_of_a_batch, scaled_lines, scaled_integers, networks)
# Operators that compute a layer in floats, or in plain C.
SLOW = {"conv2d_cpu", "conv2d_blocked_cpu", "conv2d_grouped_cpu", "conv2d_depthwise_cpu", "conv2d_winograd_cpu", "conv_int_cpu",
        "deconv2d_cpu", "deconv2d_blocked_cpu", "matmul_cpu", "matmul_packed_cpu", "matmul_int_cpu"}


def missed(kind, ops):
    """Operators that should not be there or, of products that load computes, that should be."""
    if kind == zeros_of_a_batch:
        return []
    return sorted({"matmul_quantized_cpu"} - ops if kind == zeros_of_rows else SLOW & ops)


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    parts = {kind: list(kind()) for kind in KINDS}
    for kind, each in parts.items():
        found = [f"{part.sentence}: {missed(kind, set(ops_of(lightnet, joined([part])[0])))}" for part in each]
        tap.check(f"{kind.__name__} are computed with bytes", [text for text in found if not text.endswith("[]")])
    for isa in ISAS:
        os.environ["LIGHTNET_MAX_ISA"] = isa if isa != "best" else ""
        for kind, each in parts.items():
            faults = faults_of_parts(lightnet, each, lambda part: 0)
            tap.check(f"{kind.__name__}, with {isa}",
                      [f"{part.sentence}: {fault}" for part, found in zip(each, faults) for fault in found])
    tap.end()


if __name__ == "__main__":
    main()
