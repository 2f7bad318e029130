#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: contrib_quantized.py LIGHTNET. Quantized operators of ONNX Runtime's domain com.microsoft, and dropped ones of
ONNX, agree with formulas in double precision. Scales are powers of two, so floats before the last rounding are exact, or
far from a half."""
import os
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import CONTRIB, FLOATS, check_kinds, check_rejected, contrib, joined, one_node, ops_of
from onnx_writer import node, packed
from tap import Tap

# Sums of a few dozen products; integers must be equal.
TOLERANCE = {"float": 2e-5, "float16": 5e-3}
F32 = np.float32
rng = np.random.default_rng(20261128)


def spread(kind, *dims, low=None, high=None):
    info = np.iinfo(kind)
    return rng.integers(info.min if low is None else low, (info.max if high is None else high) + 1, dims).astype(kind)


def real(*dims, kind="float", low=-1.0, high=1.0):
    return rng.uniform(low, high, dims).astype(FLOATS[kind])


def dequantized(x, scale, zero):
    return (x.astype(float) - (0 if zero is None else np.asarray(zero, float))) * np.asarray(scale, float)


def quantized(x, scale, zero, kind):
    info = np.iinfo(kind)
    return np.clip(np.rint(x / float(scale)) + (0 if zero is None else float(zero)), info.min, info.max).astype(kind)


# ---- between DequantizeLinear and QuantizeLinear ----

def binary():
    for kind in (np.uint8, np.int8):
        for dims_a, dims_b in (((2, 3, 5), (2, 3, 5)), ((2, 3, 5), (3, 1)), ((), (4,)), ((0, 3), (3,))):
            for has_zeros in (0, 1):
                a, b = spread(kind, *dims_a), spread(kind, *dims_b)
                zeros = [kind(7), kind(100), kind(11)] if has_zeros else [None] * 3
                x, y = dequantized(a, 0.25, zeros[0]), dequantized(b, 0.125, zeros[1])
                for op_type, z, scale in (("QLinearAdd", x + y, 0.5), ("QLinearMul", x * y, 4)):
                    yield contrib(f"{np.dtype(kind).name}, {dims_a} with {dims_b}, zeros {has_zeros}", op_type,
                                  [a, F32(0.25), zeros[0], b, F32(0.125), zeros[1], F32(scale), zeros[2]],
                                  quantized(z, scale, zeros[2], kind), (1, 2, 4, 5, 6, 7))


def away_from_halves(x, scale):
    """Whether roundings of functions that are not exact cannot matter."""
    return np.abs(np.abs(x / scale) % 1 - 0.5) > 1e-4


def of_one():
    """Functions of each element, along an axis, and pools."""
    for kind in (np.uint8, np.int8):
        x = spread(kind, 2, 3, 6, 4)
        zero, after = kind(20), kind(-5 if kind == np.int8 else 3)
        given = [x, F32(1 / 32), zero]
        v = dequantized(x, 1 / 32, zero)
        e = np.exp(v - v.max(-1, keepdims=True))
        flat = np.exp(v.reshape(2, -1))
        what = np.dtype(kind).name
        mean = v.mean((2, 3), keepdims=True)
        for sentence, op_type, y, scale, how in (
                ("", "QLinearLeakyRelu", np.where(v < 0, v * 0.25, v), 1 / 16, {"alpha": 0.25}),
                ("", "QLinearSigmoid", 1 / (1 + np.exp(-v)), 1 / 256, {}),
                ("opset 13", "QLinearSoftmax", e / e.sum(-1, keepdims=True), 1 / 256, {"opset": 13}),
                ("opset 12, the last axis by default", "QLinearSoftmax", e / e.sum(-1, keepdims=True), 1 / 256, {"opset": 12}),
                ("opset 12", "QLinearSoftmax", (flat / flat.sum(-1, keepdims=True)).reshape(v.shape), 1 / 1024, {"opset": 12,
                        "axis": 1}),
                ("", "QLinearGlobalAveragePool", mean, 1 / 64, {}),
                ("axes", "QLinearReduceMean", v.mean((1, -1)), 1 / 64, {"axes": [1, -1], "keepdims": 0}),
                ("kept axes", "QLinearReduceMean", v.mean(2, keepdims=True), 1 / 64, {"axes": [2], "keepdims": 1}),
                ("", "QLinearAveragePool", (v[:, :, ::2, ::2] + v[:, :, 1::2, ::2] + v[:, :, ::2, 1::2] + v[:, :, 1::2,
                        1::2]) / 4, 1 / 64,
                 {"kernel_shape": [2, 2], "strides": [2, 2]})):
            fixed = np.where(away_from_halves(y, scale), y, y + scale * 0.1)  # a wrong one is found as such
            if np.array_equal(fixed, y):
                part = contrib(f"{what}, {sentence}", op_type, [*given, F32(scale), after], quantized(y, scale, after, kind), (1,
                        2, 3, 4))
                part.nodes = [node(op_type, [f"x{i}" for i in range(5)], ["y0"], domain=CONTRIB, **how)]
                yield part
        last = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
        yield contrib(f"{what}, channels last", "QLinearGlobalAveragePool", [last, *given[1:], F32(1 / 32), after],
                      quantized(mean, 1 / 32, after, kind).transpose(0, 2, 3, 1), (1, 2, 3, 4), channels_last=1)
        yield contrib(f"{what}, one row, channels last", "QLinearAveragePool", [last, *given[1:], F32(1 / 32), after],
                      quantized((v[:, :, :, :-1] + v[:, :, :, 1:]) / 2, 1 / 32, after, kind).transpose(0, 2, 3, 1), (1, 2, 3, 4),
                      kernel_shape=[1, 2], channels_last=1)
        yield contrib(f"{what}, without zero points", "QLinearLeakyRelu", [x, F32(0.5), None, F32(0.5)],
                      quantized(np.where(x < 0, x / 128, x) * 0.5, 0.5, None, kind), (1, 3), alpha=1 / 128)
        condition = rng.integers(0, 2, (3, 1, 4)).astype(bool)
        y = spread(kind, 2, 1, 6, 1)
        yield contrib(what, "QLinearWhere", [condition, x, F32(1 / 32), zero, y, F32(1 / 8), after, F32(1 / 4), kind(1)],
                      quantized(np.where(condition, v, dequantized(y, 1 / 8, after)), 1 / 4, 1, kind), (2, 3, 5, 6, 7, 8))
        y = spread(kind, 2, 1, 6, 4)
        whole = np.concatenate([v, dequantized(y, 1 / 8, after), v], 1)
        yield contrib(what, "QLinearConcat", [F32(1 / 4), kind(1), *given, y, F32(1 / 8), after, *given], quantized(whole, 1 / 4,
                1, kind),
                      (0, 1, 3, 4, 6, 7, 9, 10), axis=1)
        yield contrib(f"{what}, one", "QLinearConcat", [F32(1 / 4), kind(1), *given], quantized(v, 1 / 4, 1, kind), (0, 1, 3, 4),
                      axis=-1)
        windows = np.lib.stride_tricks.sliding_window_view(x, (3, 2), (2, 3)).max((4, 5))
        yield contrib(what, "NhwcMaxPool", [last], windows.transpose(0, 2, 3, 1), kernel_shape=[3, 2])
        yield contrib(f"{what}, steps", "NhwcMaxPool", [last], x[:, :, ::2, ::3].transpose(0, 2, 3, 1), kernel_shape=[1, 1],
                      strides=[2, 3])
        w, bias = spread(kind, 4, 3, 1, 1, low=0, high=6), spread(np.int32, 4, low=-40, high=40)
        sums = np.einsum("nchw,oc->nohw", x.astype(float) - float(zero), w[:, :, 0, 0].astype(float)) + bias.reshape(-1, 1, 1)
        for is_last in (0, 1):
            yield contrib(f"{what}, channels last {is_last}", "QLinearConv",
                          [last if is_last else x, *given[1:], w, F32(1 / 8), kind(0), F32(1 / 4), after, bias],
                          quantized(sums / 256, 1 / 4, after, kind).transpose(0, 2, 3, 1) if is_last else quantized(sums / 256,
                                  1 / 4, after, kind),
                          range(1, 9), **({"channels_last": 1} if is_last else {}))
        floats = real(3, 5, low=-30, high=30)
        yield contrib(what, "QuantizeLinear", [floats, F32(0.25), zero], quantized(floats, 0.25, zero, kind), (1, 2))
        scales, zeros = F32([0.5, 0.25, 2]), np.array([1, 2, 3], kind)
        yield contrib(f"{what}, an axis", "QuantizeLinear", [floats, scales, zeros],
                      np.stack([quantized(*row, kind) for row in zip(floats, scales, zeros)]), (1, 2), axis=0)
        yield contrib(f"{what}, an axis", "DequantizeLinear", [x, scales, zeros],
                      dequantized(x, scales.reshape(-1, 1, 1), zeros.reshape(-1, 1, 1)).astype(F32), (1, 2), axis=1)


# ---- products ----

def products():
    for a_kind in (np.uint8, np.int8):
        for b_kind in (np.uint8, np.int8):
            for is_each in (0, 1):
                a, b = spread(a_kind, 2, 5, 7), spread(b_kind, 7, 4, high=20)
                b_scale = F32([0.5, 0.25, 0.125, 1]) if is_each else F32(0.25)
                b_zero = np.array([1, 2, 3, 4], b_kind) if is_each else b_kind(5)
                bias = real(4)
                y = dequantized(a, 0.125, a_kind(9)) @ dequantized(b, b_scale, b_zero)
                what = f"{np.dtype(a_kind).name} x {np.dtype(b_kind).name}, each column {is_each}"
                yield contrib(what, "MatMulIntegerToFloat", [a, b, F32(0.125), b_scale, a_kind(9), b_zero, bias],
                              (y + bias).astype(F32), range(1, 7))
                yield contrib(f"{what}, neither zeros nor bias", "MatMulIntegerToFloat", [a, b, F32(0.125), b_scale],
                              (dequantized(a, 0.125, None) @ dequantized(b, b_scale, None)).astype(F32), (1, 2, 3))
                c = spread(np.int32, 4, low=-90, high=90)
                y = dequantized(a[0], 0.125, a_kind(9)) @ dequantized(b, b_scale, b_zero) + c * 0.125 * b_scale.astype(float)
                for ta, tb in ((0, 0), (1, 0), (0, 1), (1, 1)):
                    given = [a[0].T.copy() if ta else a[0], F32(0.125), a_kind(9), b.T.copy() if tb else b, b_scale, b_zero, c]
                    turns = {"transA": ta, "transB": tb}
                    yield contrib(f"{what}, {ta}, {tb}", "QGemm", given, (0.5 * y).astype(F32), range(1, 7), alpha=0.5, **turns)
                    yield contrib(f"{what}, {ta}, {tb}, quantized", "QGemm", [*given, F32(4), a_kind(100)], quantized(y, 4, 100,
                            a_kind), range(1, 9), **turns)
                    yield contrib(f"{what}, {ta}, {tb}, floats without a zero point", "QGemm", [*given, F32(4)], y.astype(F32), range(1, 8),
                                  **turns)
                yield contrib(f"{what}, no C", "QGemm", given[:2] + [a_kind(9)] + given[3:6],
                              (dequantized(a[0], 0.125, a_kind(9)) @ dequantized(b, b_scale, b_zero)).astype(F32), range(1, 6),
                              **turns)


def dynamic_products():
    """Elements of the source are whole numbers from 0 to 255, so that their scale is 1."""
    for kind in (np.uint8, np.int8):
        for is_each in (0, 1):
            a, b = spread(np.int64, 2, 5, 7, low=-100, high=150).astype(F32), spread(kind, 7, 4, high=20)
            a[0, 0, :2] = -100, 155
            b_scale = F32([0.5, 0.25, 0.125, 1]) if is_each else F32(0.25)
            b_zero = np.array([1, 2, 3, 4], kind) if is_each else kind(5)
            bias = real(4)
            y = a.astype(float) @ dequantized(b, b_scale, b_zero)
            what = f"{np.dtype(kind).name}, each column {is_each}"
            yield contrib(what, "DynamicQuantizeMatMul", [a, b, b_scale, b_zero, bias], (y + bias).astype(F32), (1, 2, 3, 4))
            yield contrib(f"{what}, neither zeros nor bias", "DynamicQuantizeMatMul", [a, b, b_scale],
                          (a.astype(float) @ dequantized(b, b_scale, None)).astype(F32), (1, 2))


# ---- integers of few bits ----

def packed_rows(w, bits):
    """Each row with bytes of its own."""
    return np.array([list(packed(row.tolist(), bits)) for row in w], np.uint8)


def matmul_nbits():
    for bits in (2, 4, 8):
        for k, n, block in ((64, 5, 32), (40, 7, 16), (33, 3, 64)):
            blocks, most = -(-k // block), (1 << bits) - 1
            w, zero = rng.integers(0, most + 1, (n, blocks * block)), rng.integers(0, most + 1, (n, blocks))
            scale = 2.0 ** -rng.integers(2, 5, (n, blocks))
            rows = packed_rows(w, bits).reshape(n, blocks, -1)
            for kind in ("float", "float16"):
                x, bias = rng.integers(-4, 5, (2, 3, k)).astype(FLOATS[kind]), rng.integers(-9, 10, n).astype(FLOATS[kind])
                if bits == 8 and kind == "float16":
                    x = x // 4
                floats = (zero + 0.5).astype(FLOATS[kind])
                for sentence, zeros, given in (("no zeros", np.full(zero.shape, (most + 1) // 2), None), ("zeros", zero,
                        packed_rows(zero, bits).ravel()),
                                               ("zeros as floats", floats.astype(float), floats)):
                    v = (w - np.repeat(zeros, block, 1)) * np.repeat(scale, block, 1)
                    for b in (None, bias):
                        y = x.astype(float) @ v[:, :k].T + (0 if b is None else b.astype(float))
                        what = f"{bits} bits, {kind}, {n} x {k} in blocks of {block}, {sentence}"
                        yield contrib(f"{what}, {'no bias' if b is None else 'a bias'}", "MatMulNBits",
                                      [x, rows, scale.astype(FLOATS[kind]).ravel(), given, None, b], y.astype(FLOATS[kind]), (1,
                                              2, 3, 5),
                                      K=k, N=n, bits=bits, block_size=block)
                        yield contrib(f"{what}, {'no bias' if b is None else 'a bias'}, a vector", "MatMulNBits",
                                      [x[1, 2], rows, scale.astype(FLOATS[kind]).ravel(), given, None, b],
                                      y[1, 2].astype(FLOATS[kind]), (1, 2, 3, 5), K=k, N=n, bits=bits, block_size=block)


def gathered_blocks():
    for bits in (2, 4, 8):
        most = (1 << bits) - 1
        w, zero = rng.integers(0, most + 1, (9, 64)), rng.integers(0, most + 1, (9, 4))
        for kind in ("float", "float16"):
            scale = (2.0 ** -rng.integers(1, 5, (9, 4))).astype(FLOATS[kind])
            for index in (np.int64([[1, -1, 8], [0, 0, 5]]), np.int32(4), np.zeros((0, 2), np.int64)):
                for zeros in (None, zero):
                    v = (w - np.repeat(np.full((9, 4), (most + 1) // 2) if zeros is None else zeros, 16,
                                       1)) * np.repeat(scale.astype(float), 16, 1)
                    given = [packed_rows(w, bits), index, scale, None if zeros is None else packed_rows(zeros, bits)]
                    yield contrib(f"{bits} bits, {kind}, indices {list(index.shape)}, zeros {zeros is not None}",
                                  "GatherBlockQuantized", given,
                                  v[index].astype(FLOATS[kind]), (0, 2, 3), bits=bits, block_size=16, quantize_axis=1)
    scale = (2.0 ** -rng.integers(1, 5, (2, 9))).astype(F32)
    for kind, low, high in (("int4", -8, 7), ("uint4", 0, 15)):
        w, index = rng.integers(low, high + 1, (32, 9)), np.int64([8, 0])
        v = w * np.repeat(scale.astype(float), 16, 0)
        part = contrib(f"{kind}, blocks of the first axis", "GatherBlockQuantized", [w, index, scale], v[:, index].astype(F32),
                       (0, 2),
                       gather_axis=1, quantize_axis=0, block_size=16)
        part.constants["x0"] = (kind, [32, 9], w.ravel().tolist())
        yield part


# ---- dropped from ONNX ----

def dropped():
    for kind in FLOATS:
        x = real(2, 3, 5, 4, kind=kind)
        v = x.astype(float)
        yield one_node(kind, "Affine", [x], (2.5 * v - 0.5).astype(FLOATS[kind]), 7, alpha=2.5, beta=-0.5)
        yield one_node(f"{kind}, defaults", "Affine", [x], x, 7)
        yield one_node(kind, "ImageScaler", [x], (0.5 * v + np.reshape([1, -2, 0.25], (3, 1, 1))).astype(FLOATS[kind]), 7,
                       scale=0.5,
                       bias=[1.0, -2.0, 0.25])
        yield one_node(f"{kind}, no bias", "ImageScaler", [x], (0.5 * v).astype(FLOATS[kind]), 7, scale=0.5)
        yield one_node(f"{kind}, a border", "Crop", [x], x[:, :, 2:4, 1:4], 7, border=[1, 2, 0, 1])
        yield one_node(f"{kind}, a size", "Crop", [x], x[:, :, 1:3, 2:3], 7, border=[2, 1, 0, 0], scale=[2, 1])


KINDS = (binary, of_one, products, dynamic_products, matmul_nbits, gathered_blocks, dropped)
A, S, Z = spread(np.uint8, 2, 3), F32(0.5), np.uint8(3)
IMAGE = real(1, 2, 3, 4)
WRONG = [
    ("QLinearAdd", [A, F32([1, 2]), Z, A, S, Z, S, Z], {}, "input 1 has 2 elements, expected 1"),
    ("QLinearAdd", [A, S, np.int8(3), A, S, Z, S, Z], {}, "TL_INT8, expected TL_UINT8"),
    ("QLinearAdd", [A, S, Z, A, S, Z], {}, "input 6 is missing"),
    ("QLinearMul", [A, S, Z, A[:, :2].copy(), S, Z, S, Z], {}, "shapes [2, 3] and [2, 2], expected ones that broadcast"),
    ("QLinearConcat", [S, Z, A, S], {"axis": 0}, "4 inputs, expected 2, and 3 for each"),
    ("QLinearConcat", [S, Z, A, S, Z], {}, "attribute 'axis' is missing"),
    ("QLinearSoftmax", [A, S, Z, S, Z], {}, "attribute 'opset' is missing"),
    ("QLinearWhere", [A, A, S, Z, A, S, Z, S, Z], {}, "input 0 has type TL_UINT8, expected TL_BOOL"),
    ("QLinearAveragePool", [A, S, Z, S, Z], {"kernel_shape": [1]}, "its input has 2 dimensions, expected 3 to"),
    ("QGemm", [A[0], S, Z, A, S, Z], {}, "input 0 has 1 dimensions, expected 2"),
    ("QGemm", [A, S, Z, A, S, Z, None, None, Z], {"transB": 1}, "input 7 is missing"),
    ("MatMulIntegerToFloat", [A, A, S, S], {}, "[2, 3] and [2, 3], expected [.., m, k] and [.., k, n]"),
    ("DynamicQuantizeMatMul", [A.astype(F32), A], {}, "input 2 is missing"),
    ("GatherBlockQuantized", [A, np.int64(0), real(2)], {"block_size": 16},
     "'scales', has 1 dimensions, expected 2"),
    ("GatherBlockQuantized", [A, np.int64([0]), real(2, 1)], {"bits": 3}, "'bits' is 3, expected 2, 4 or 8"),
    ("GatherBlockQuantized", [A, np.int64([0]), real(2, 1)], {"block_size": 24}, "'block_size' is 24, expected a power of 2"),
    ("GatherBlockQuantized", [A, np.int64([0]), real(2, 1)], {"quantize_axis": 0}, "are both 0, expected different axes"),
    ("GatherBlockQuantized", [A, np.int64([0]), real(2, 1)], {"gather_axis": 1, "quantize_axis": 0},
     "the axis of packed elements"),
]
WRONG_DROPPED = [
    ("Crop", [IMAGE], {"border": [1, 1]}, "attribute 'border' has 2 numbers, expected 4"),
    ("Crop", [IMAGE], {"border": [2, 0, 2, 0]}, "axis 3, of length 4, is cropped to 0 from 2 on"),
    ("Crop", [IMAGE], {"border": [2, 0, 0, 0], "scale": [1, 3]}, "axis 3, of length 4, is cropped to 3 from 2 on"),
    ("Crop", [IMAGE], {"border": [-1, 0, 0, 0]}, "axis 3, of length 4, is cropped to"),
    ("ImageScaler", [IMAGE], {"bias": [1.0]}, "attribute 'bias' has 1 numbers, expected one for each of 2 channels"),
    ("ImageScaler", [IMAGE[0]], {}, "input 0 has 3 dimensions, expected 4"),
]


def by_bytes():
    """Products whose weights are around 0, as quantizers write them."""
    a, b, bias = spread(np.uint8, 5, 64), spread(np.int8, 64, 16), spread(np.int32, 16, low=-90, high=90)
    yield contrib("", "MatMulIntegerToFloat", [a, b, F32(0.5), F32(0.5), np.uint8(9), np.int8(0), real(16)], real(5, 16), range(1,
            7))
    yield contrib("", "DynamicQuantizeMatMul", [real(5, 64), b, F32(0.5), np.int8(0), real(16)], real(5, 16), range(1, 5))
    yield contrib("", "QGemm", [a, F32(0.5), np.uint8(9), b, F32(0.5), np.int8(0), bias], real(5, 16), range(1, 7))


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    check_kinds(tap, lightnet, KINDS, TOLERANCE, is_written=True)
    for part in by_bytes():
        ops = ops_of(lightnet, joined([part])[0])
        tap.check(f"{part.sentence.split()[0]} is computed with bytes", [] if "matmul_quantized_cpu" in ops else [str(ops)])
    for op_type, arrays, attributes, message in WRONG:
        check_rejected(tap, lightnet, contrib("", op_type, arrays, A, range(1, 9), **attributes),
                       f"{op_type} is rejected: {message}", message)
    for op_type, arrays, attributes, message in WRONG_DROPPED:
        check_rejected(tap, lightnet, one_node("", op_type, arrays, IMAGE, 7, **attributes), f"{op_type} is rejected: {message}",
                       message)
    tap.end()


if __name__ == "__main__":
    main()
