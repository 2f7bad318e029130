#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: ties.py LIGHTNET. Exact ties, borders and empty sizes of every operator that has a rule for them, in each of its
forms: numbers of axes, types, layouts, at each instruction set, optimized and as the reference program.

Expected results are computed here from ONNX's text alone, in fractions where a number of floats could hide a tie.
docs/dev/rounding.md lists which function holds which rule.
"""
import itertools
import os
import sys
from fractions import Fraction
from math import ceil, floor

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import INTEGERS, Part, elements, faults_of_parts, joined, one_node as case, ops_of
from onnx_writer import node
from tap import Tap

F32, I64 = np.float32, np.int64
LIMIT = {t: np.iinfo(t) for t in INTEGERS.values()}
HALVES = np.arange(-37, 38) / 2  # 75 elements: whole vectors of every width, and a rest
# The most that kernels may use, where the CPU has it. Under sanitizers, one.
ISAS = os.environ.get("LN_TEST_ISAS", "c avx2 best").split()


def ints(*values):
    return np.array(values, I64)


def f32(*values):
    return np.array(values, F32)


def saturated(values, dtype):
    return np.clip(values, LIMIT[dtype].min, LIMIT[dtype].max).astype(dtype)


def ramp(dtype, *shape):
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


def cube(n, side):
    return [side] * n


# ---- numbers ----

def rounding_to_integers():
    """Round: to even. The others have no ties, but -0.5 and 0.5 around 0."""
    for dtype in (F32, np.float64, np.float16):
        x = np.concatenate([HALVES, [1023.5, -1022.5, 0.49999997, np.inf, -np.inf, np.nan]]).astype(dtype)
        yield case(f"{dtype.__name__}, ties to even", "Round", [x], np.rint(x), 22)
        yield case(dtype.__name__, "Floor", [x], np.floor(x), 13)
        yield case(dtype.__name__, "Ceil", [x], np.ceil(x), 13)
        chained = np.rint(np.maximum(x, dtype(-2.5)) * dtype(0.5) + dtype(0.5))
        yield Part(f"Round 22: in a chain, {dtype.__name__}", 22, [
            node("Max", ["x", "low"], ["a"]), node("Mul", ["a", "half"], ["b"]), node("Add", ["b", "half"], ["c"]),
            node("Round", ["c"], ["y"])], {"x": x}, {"y": chained},
            {"low": elements(dtype(-2.5)), "half": elements(dtype(0.5))})


def conversions():
    """To integers toward 0, beyond the limits to them, NaN to 0; to fewer digits half to even."""
    code = {np.dtype(t).name: k for k, t in (
        (1, F32), (2, np.uint8), (3, np.int8), (4, np.uint16), (5, np.int16), (6, np.int32), (7, I64), (10, np.float16),
        (11, np.float64), (12, np.uint32), (13, np.uint64))}

    def cast(sentence, x, expected):
        return case(f"{x.dtype} to {expected.dtype}, {sentence}", "Cast", [x], expected, 19, to=code[expected.dtype.name])
    for dtype in LIMIT:
        for source in (F32, np.float64, np.float16):
            inside = HALVES[(HALVES >= LIMIT[dtype].min) & (np.abs(HALVES) < 100)].astype(source)
            yield cast("truncated", inside, np.trunc(inside).astype(dtype))
            yield cast("saturated", np.array([np.inf, -np.inf, np.nan], source),
                       np.array([LIMIT[dtype].max, LIMIT[dtype].min, 0], dtype))
    for dtype in (I64, np.uint64, np.int32, np.uint32):
        ties = np.array([2**24 + 1, 2**24 + 3, 2**24 + 2, 2**31 - 65, 2**31 - 64, 2**31 - 63], dtype)
        yield cast("ties to even", ties, ties.astype(F32))
    wide = np.array([2**53 + 1, 2**53 + 3, 2**62 + 2**38, 2**62 + 2**38 + 1, 2**62 + 3 * 2**38], I64)
    for dtype in (I64, np.uint64):
        yield cast("ties to even", wide.astype(dtype), wide.astype(dtype).astype(F32))
        yield cast("ties to even", wide.astype(dtype), wide.astype(dtype).astype(np.float64))
    digits = np.array([1 + 2**-11, 1 + 3 * 2**-11, 2049, 2051, 2**-25, 3 * 2**-25, 1.5 * 2**-24, 2.0**-14 - 2.0**-25,
                       65504])
    for source in (F32, np.float64):
        x = np.concatenate([digits, -digits, digits[:3]]).astype(source)
        yield cast("ties to even", x, x.astype(np.float16))
    twice = np.array([1 + 2**-11 + 2**-30, 1 + 2**-11 - 2**-40, 1 + 3 * 2**-11 - 2**-40, 2**-25 + 2**-60])
    yield cast("rounded once", twice, twice.astype(np.float16))  # by way of a float they would be ties
    doubles = np.array([1 + 2**-24, 1 + 3 * 2**-24, 1 + 2**-24 + 2**-50, 2**-150, 3 * 2**-150])
    yield cast("ties to even", doubles, doubles.astype(F32))


def division():
    """Div toward 0; Mod with the sign of the divisor, with fmod of the dividend; shifts by the whole width."""
    for dtype in LIMIT:
        values = np.array([-7, -3, -1, 0, 1, 3, 7] if LIMIT[dtype].min < 0 else [0, 1, 3, 7, 200])
        a, b = (x.ravel() for x in np.meshgrid(values, values[values != 0]))
        toward_0 = np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))
        a, b, toward_0 = a.astype(dtype), b.astype(dtype), toward_0.astype(dtype)
        yield case(np.dtype(dtype).name, "Div", [a, b], toward_0, 14)
        yield case(np.dtype(dtype).name, "Mod", [a, b], np.mod(a, b), 13)
        yield case(np.dtype(dtype).name, "Mod", [a, b], np.fmod(a, b), 13, fmod=1)
        clipped = ramp(dtype, 40)
        yield case(f"bounds the wrong way round, {np.dtype(dtype).name}", "Clip", [clipped, dtype(30), dtype(20)],
                   clipped * 0 + dtype(20), 13)
    lowest = np.array([-2**31], np.int32)
    yield case("the lowest by -1 wraps", "Div", [lowest, np.array([-1], np.int32)], lowest, 14)
    for dtype in (np.uint8, np.uint16, np.uint32, np.uint64):
        width, most = LIMIT[dtype].bits, LIMIT[dtype].max
        x, by = np.full(4, most, dtype), np.array([0, 1, width - 1, width], dtype)
        left, right = np.array([most, most - 1, 2**(width - 1), 0], dtype), np.array([most, most // 2, 1, 0], dtype)
        yield case(np.dtype(dtype).name, "BitShift", [x, by], left, 11, direction="LEFT")
        yield case(np.dtype(dtype).name, "BitShift", [x, by], right, 11, direction="RIGHT")
    x = f32(-7, -3, -0.0, 3, 7.5, -7.5, 5)
    yield case("floats", "Mod", [x, f32(2)], np.fmod(x, f32(2)), 13, fmod=1)
    a, b = f32(np.nan, 1, np.nan, 1, -np.inf), f32(1, np.nan, np.nan, 2, 0)
    yield case("NaN stays", "Max", [a, b], np.maximum(a, b), 13)
    yield case("NaN stays", "Min", [a, b], np.minimum(a, b), 13)


# ---- quantization ----

def quantized(x, scale, zero, dtype):
    return saturated(np.rint(np.asarray(x, float) / scale) + zero, dtype)


def quantization():
    """Half to even before the zero point is added, then saturated."""
    for dtype, zero in itertools.product((np.uint8, np.int8, np.uint16, np.int16), (0, 3)):
        x = np.concatenate([HALVES, [600, -600, 126.5, 127.5, 254.5, 255.5, -128.5, -129.5, 65534.5, 32766.5, 1e9, -1e9]])
        for source, scale in itertools.product((F32, np.float16), (1, 2, 0.5)):
            with np.errstate(over="ignore"):
                given = x.astype(source)
            yield case(f"{np.dtype(dtype).name} from {source.__name__}, scale {scale}, zero point {zero}", "QuantizeLinear",
                       [given, source(scale), dtype(zero)], quantized(given, scale, zero, dtype), 21)
        rows = np.stack([HALVES, HALVES * 2, HALVES * 4]).astype(F32)
        yield case(f"{np.dtype(dtype).name}, a scale for each row", "QuantizeLinear",
                   [rows, f32(1, 2, 4), np.array([0, 1, 2], dtype)],
                       saturated(np.rint(HALVES) + np.array([[0], [1], [2]]), dtype), 21, axis=0)
    for dtype in (np.uint8, np.int8, np.uint16, np.int16, np.int32):
        x = np.array([LIMIT[dtype].min, LIMIT[dtype].max, 0, 1, 2] * 7, dtype)
        zero = 0 if dtype == np.int32 else 3
        yield case(f"{np.dtype(dtype).name} is exact", "DequantizeLinear", [x, F32(0.5), dtype(zero)],
                   ((x.astype(float) - zero) * 0.5).astype(F32), 21)
    # The range of -1.5 .. 253.5 is 255 steps of 1, and the zero point 1.5: to even, 2.
    x = np.concatenate([HALVES[37:], [-1.5, 253.5, 0.5, 1.5, 2.5]]).astype(F32)
    yield case("ties of values and of the zero point", "DynamicQuantizeLinear", [x],
               [quantized(x, 1, 2, np.uint8), F32(1), np.uint8(2)], 11)
    yield case("0 is in the range", "DynamicQuantizeLinear", [f32(255, 127.5, 128.5)],
               [np.array([255, 128, 128], np.uint8), F32(1), np.uint8(0)], 11)


def quantized_products():
    """Sums times 0.5, half of which are ties, over vectors, matrices, batches, and windows over one to three axes."""
    for dtype in (np.uint8, np.int8):
        for a_shape, b_shape in (((5,), (5,)), ((5,), (5, 3)), ((3, 5), (5,)), ((7, 5), (5, 19)), ((2, 3, 5), (5, 4)),
                                 ((5,), (2, 5, 3)), ((2, 3, 5), (5,)), ((1, 1), (1, 1)), ((2, 0), (0, 3))):
            a = (ramp(I64, *a_shape) * 7 % 11).astype(np.uint8)
            b = (ramp(I64, *b_shape) * 5 % 9).astype(dtype)
            sums = np.matmul(a.astype(I64) - 2, b.astype(I64) - 1)
            sentence = f"{a_shape} x {b_shape} of {np.dtype(dtype).name}"
            operands = [a, F32(0.5), np.uint8(2), b, F32(1), dtype(1), F32(1), np.uint8(100)]
            yield case(sentence, "QLinearMatMul", operands, quantized(sums, 2, 100, np.uint8), 21, const=(1, 2, 4, 5, 6, 7))
            yield case(sentence, "MatMulInteger", [a, b, np.uint8(2), dtype(1)], sums.astype(np.int32), 10)
    for n in (1, 2, 3):
        x = (ramp(I64, 1, 2, *cube(n, 5)) % 13).astype(np.uint8)
        weight = (ramp(I64, 3, 2, *cube(n, 3)) % 5 - 2).astype(np.int8)
        sums = window_sums(x.astype(I64) - 3, weight.astype(I64))  # padding is the zero point, which adds nothing
        operands = [x, F32(0.5), np.uint8(3), weight, F32(1), np.int8(0), F32(2), np.uint8(100)]
        yield case(f"{n} axes", "QLinearConv", operands, quantized(sums, 4, 100, np.uint8), 10, const=(1, 2, 3, 4, 5, 6, 7),
                   pads=[1] * 2 * n)
        yield case(f"{n} axes", "ConvInteger", [x, weight, np.uint8(3)], sums.astype(np.int32), 10, pads=[1] * 2 * n)


def window_sums(x, weight):
    """A convolution with one element of padding around, strides of 1."""
    n = weight.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0)] + [(1, 1)] * n)
    views = np.lib.stride_tricks.sliding_window_view(x, weight.shape[2:], tuple(range(2, 2 + n)))
    axes = list(range(2 + n, 2 + 2 * n))
    return np.moveaxis(np.tensordot(views, weight, ([1] + axes, list(range(1, 2 + n)))), -1, 1)


# ---- resizing ----

HALF = Fraction(1, 2)
ROUNDINGS = {"round_prefer_floor": lambda x: ceil(x - HALF), "round_prefer_ceil": lambda x: floor(x + HALF), "floor": floor,
             "ceil": ceil}


def position(mode, i, length, out, begin=Fraction(0), end=Fraction(1)):
    """Where index `i` of `out` looks; lengths are those of the scale, without a fraction."""
    if mode == "align_corners":
        return Fraction(i * (length - 1), out - 1) if out > 1 else Fraction(0)
    if mode == "asymmetric":
        return Fraction(i * length, out)
    if mode == "tf_crop_and_resize":
        step = (end - begin) * (length - 1) / (out - 1) if out > 1 else None
        return begin * (length - 1) + i * step if out > 1 else (begin + end) * (length - 1) / 2
    if mode == "pytorch_half_pixel" and out == 1:
        return Fraction(0)
    return Fraction((2 * i + 1) * length, 2 * out) - Fraction(1, 2)


TRANSFORMS = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "asymmetric", "align_corners",
              "tf_crop_and_resize"]
LENGTHS = [(4, 2), (3, 6), (4, 6), (2, 5), (6, 3), (4, 1), (1, 3), (5, 3)]


def sizing(transform, n, length, out, by_scale):
    """Inputs 1 to 3 of Resize, over the last n of n + 2 axes."""
    roi = f32(0, 0, *cube(n, 0.25), 1, 1, *cube(n, 0.75)) if transform == "tf_crop_and_resize" else None
    scales, sizes = f32(1, 1, *cube(n, out / length)), ints(1, 1, *cube(n, out))
    return [roi, scales] if by_scale else [roi, None, sizes]


def resizing_to_the_nearest():
    """Every way to map coordinates and to round, over one to three axes, at positions that are mostly exact halves."""
    for transform, rounding, (length, out), n in itertools.product(TRANSFORMS, ROUNDINGS, LENGTHS, (1, 2, 3)):
        roi = (Fraction(1, 4), Fraction(3, 4))
        nearest = [ROUNDINGS[rounding](position(transform, i, length, out, *roi)) for i in range(out)]
        x = ramp([F32, np.uint8, I64][n - 1], 1, 1, *cube(n, length))
        expected = x[np.ix_([0], [0], *[np.clip(nearest, 0, length - 1)] * n)]
        for by_scale in (False, True):
            yield case(f"{transform}, {rounding}, {length} to {out}, {n} axes", "Resize",
                       [x, *sizing(transform, n, length, out, by_scale)], expected, 19, const=(1, 2, 3), mode="nearest",
                       coordinate_transformation_mode=transform, nearest_mode=rounding)


def mixing(transform, length, out, begin=Fraction(1, 4), end=Fraction(3, 4)):
    """The matrix [out, length] of linear weights."""
    matrix = np.full((out, length), Fraction(0), object)
    for i in range(out):
        x = position(transform, i, length, out, begin, end)
        low = floor(x)
        for index, weight in ((low, 1 - (x - low)), (low + 1, x - low)):
            matrix[i, min(max(index, 0), length - 1)] += weight
    return matrix


def resized_linearly(x, matrix):
    for axis in range(2, x.ndim):
        x = np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)
    return x


def resizing_of_integers():
    """Linear: truncated toward 0, but a sum that is whole stays so, as in an image of one color."""
    for dtype, (length, out), n in itertools.product((np.uint8, np.int8, np.uint16, np.int16, np.int32, I64),
                                                     LENGTHS + [(5, 7)], (1, 2, 3)):
        signs = 1 if LIMIT[dtype].min == 0 else -1
        numbers = ramp(I64, 1, 1, *cube(n, length)) * 37 % 101
        varied = numbers if signs > 0 else 50 - numbers
        for name, x in (("", varied), (" of one color", varied * 0 + 93)):
            exact = resized_linearly(x.astype(object), mixing("half_pixel", length, out))
            expected = np.array([int(value) for value in exact.ravel()]).reshape(exact.shape).astype(dtype)
            yield case(f"{np.dtype(dtype).name}{name}, {length} to {out}, {n} axes", "Resize",
                       [x.astype(dtype), None, None, ints(1, 1, *cube(n, out))],
                           expected, 19, const=(3,), mode="linear")


def resizing_by_an_inexact_scale():
    """5 times the float 0.6 is 3, so align_corners meets elements: floor must not take the one before."""
    x = ramp(F32, 1, 1, 5)
    for rounding in ROUNDINGS:
        yield case(f"5 to 3, {rounding}", "Resize", [x, None, f32(1, 1, 0.6)], x[..., ::2], 19, const=(2,), mode="nearest",
                   coordinate_transformation_mode="align_corners", nearest_mode=rounding)


# ---- sampling ----

def sampled(x, outside, aligned, mode, positions):
    """x [side..] at positions [p, n], first axis first, exact in floats."""
    side, n = x.shape[0], x.ndim
    low, high = (0, side - 1) if aligned else (-0.5, side - 0.5)

    def element(at):
        at = list(at)
        for k, i in enumerate(at):
            if outside == "border":
                at[k] = min(max(i, 0), side - 1)
            while outside == "reflection" and not low <= at[k] <= high:
                at[k] = 2 * low - at[k] if at[k] < low else 2 * high - at[k]
            if not 0 <= at[k] < side:
                return 0
        return x[tuple(int(i) for i in at)]
    result = []
    for p in positions:
        if mode == "nearest":
            result.append(element([round(float(c)) for c in p]))  # Python rounds half to even
            continue
        base = [floor(c) for c in p]
        value = 0
        for corner in itertools.product((0, 1), repeat=n):
            weight = np.prod([c - b if k else b + 1 - c for b, c, k in zip(base, p, corner)])
            value += weight * element([b + k for b, k in zip(base, corner)])
        result.append(value)
    return np.array(result)


def sampling_at_halves():
    """GridSample, to the nearest half to even, linear at exact middles, over two and three axes."""
    for n, aligned, outside, mode in itertools.product((2, 3), (0, 1), ("zeros", "border", "reflection"),
                                                       ("nearest", "linear")):
        side = 5 if aligned else 4  # positions and coordinates are exact
        along = np.arange(-3, 2 * side + 2) / 2
        coordinates = along * 2 / (side - 1) - 1 if aligned else (2 * along + 1) / side - 1
        positions = list(itertools.product(along, repeat=n))
        grid = np.stack(np.meshgrid(*[coordinates] * n, indexing="ij")[::-1], -1)[None]
        x = ramp(F32, *cube(n, side)) + 1
        expected = sampled(x, outside, aligned, mode, positions).reshape(1, 1, *cube(n, len(along)))
        for dtype in (F32, np.float64):
            yield case(f"{n} axes, {mode}, {outside}, align_corners {aligned}, {dtype.__name__}", "GridSample",
                       [x[None, None].astype(dtype), grid.astype(dtype)], expected.astype(dtype), 20, mode=mode,
                       padding_mode=outside, align_corners=aligned)
    along = np.linspace(-1, 1, 5)
    grid = np.stack(np.meshgrid(along, along, along, indexing="ij")[::-1], -1)[None].astype(F32)
    for side in (2, 4):  # 125 points each, with positions -0.5, 0, .. 1.5, and -0.5, 0.5, .. 3.5
        positions = itertools.product(((along + 1) * side - 1) / 2, repeat=3)
        volume = ramp(F32, side, side, side) + 1
        expected = sampled(volume, "zeros", 0, "nearest", positions).reshape(1, 1, 5, 5, 5).astype(F32)
        yield case(f"a grid of 125 halves over {side} elements", "GridSample", [volume[None, None], grid], expected, 20,
                   mode="nearest")


def regions():
    """RoiAlign: samples up to one element outside count, farther ones are 0. MaxRoiPool: corners round half away from 0."""
    x = ramp(F32, 1, 1, 4, 4)
    for low, expected in ((-1, 0), (-1.5, None), (3, 15), (4, 15)):  # one sample at (low, low)
        roi = f32(low, low, low, low).reshape(1, 4) + f32(0, 0, 1, 1) - F32(0.5)
        value = 0 if expected is None else expected
        yield case(f"a sample at {low}", "RoiAlign", [x, roi, ints(0)], np.full((1, 1, 1, 1), value, F32), 10,
                   sampling_ratio=1)
    yield case("a sample beyond", "RoiAlign", [x, f32(4, 4, 5, 5).reshape(1, 4), ints(0)], np.zeros((1, 1, 1, 1), F32), 10,
               sampling_ratio=1)
    row = np.arange(7, dtype=F32).reshape(1, 1, 1, 7)  # samples at 5.4, 6.2, 7, which in floats is the border, and beyond
    yield case("a sample at the border by floats", "RoiAlign", [row, f32(5, 0, 9, 1).reshape(1, 4), ints(0)],
               f32(5.4, 6, 6, 0, 0).reshape(1, 1, 1, 5), 10, output_width=5, sampling_ratio=1)
    yield case("a maximum of middles", "RoiAlign", [x, f32(0, 0, 1, 1).reshape(1, 4), ints(0)],
               np.full((1, 1, 1, 1), 1.25, F32), 10,
                   sampling_ratio=1, mode="max")
    rois = f32(0, 0.5, 0.5, 1.5, 1.5, 0, 1.5, 0.5, 2.5, 2.5).reshape(2, 5)
    yield case("corners at halves", "MaxRoiPool", [x, rois], f32(10, 15).reshape(2, 1, 1, 1), 1, pooled_shape=[1, 1])


# ---- windows ----

def windows_along(length, size, stride, dilation, pads, is_ceil):
    """The taps of each window along one axis; a window that begins after the end of src is left out."""
    span = dilation * (size - 1) + 1
    exact = Fraction(length + sum(pads) - span, stride)
    count = (ceil(exact) if is_ceil else floor(exact)) + 1
    if is_ceil and (count - 1) * stride >= length + pads[0]:
        count -= 1
    return [[w * stride - pads[0] + k * dilation for k in range(size)] for w in range(count)]


def pooled(x, axes, kind, pads, counts_padding=False):
    """x [1, channels, ..]; axes: the windows of each; returns values and the indices of maxima."""
    side, n = x.shape[2], x.ndim - 2
    shape = x.shape[:2] + tuple(len(windows) for windows in axes)
    values, places = np.zeros(shape, x.dtype), np.zeros(shape, I64)
    for c, at in itertools.product(range(x.shape[1]), itertools.product(*[range(len(windows)) for windows in axes])):
        taps = list(itertools.product(*[windows[i] for windows, i in zip(axes, at)]))
        inside = [t for t in taps if all(0 <= i < side for i in t)]
        numbers = [x[(0, c) + t] for t in inside]
        if kind == "MaxPool":
            best = next(k for k, number in enumerate(numbers) if number == max(numbers))  # the first
            values[(0, c) + at] = numbers[best]
            places[(0, c) + at] = np.ravel_multi_index((c,) + inside[best], (x.shape[1],) + (side,) * n)
        else:
            padded = [t for t in taps if all(-pads[0] <= i < side + pads[1] for i in t)]
            divisor = len(padded if counts_padding else inside) if kind == "AveragePool" else 1
            values[(0, c) + at] = sum(map(float, np.abs(numbers) if kind == "LpPool" else numbers)) / divisor
    return values, places


# Length, size, stride, dilation, pads, ceil_mode: windows that end before, at, and after the border.
WINDOWS = [(5, 2, 2, 1, (0, 0), 1), (5, 3, 2, 1, (1, 1), 1), (6, 3, 2, 1, (0, 1), 1), (6, 3, 2, 1, (1, 0), 0),
           (7, 2, 3, 1, (1, 1), 1), (7, 2, 2, 3, (0, 0), 1), (4, 3, 3, 1, (1, 1), 1), (4, 2, 4, 1, (1, 1), 1),
           (5, 3, 2, 2, (2, 1), 1), (2, 1, 2, 1, (0, 0), 1)]


def pooling():
    """Over one to three axes: the first of equal maxima, counting of padding and of windows beyond the border."""
    for n, (side, size, stride, dilation, pads, is_ceil) in itertools.product((1, 2, 3), WINDOWS):
        axes = [windows_along(side, size, stride, dilation, pads, is_ceil)] * n
        same = dict(kernel_shape=cube(n, size), strides=cube(n, stride), pads=cube(n, pads[0]) + cube(n, pads[1]),
                    ceil_mode=is_ceil,
                    dilations=cube(n, dilation))
        sentence = f"{n} axes of {side}, {size} by {stride}, dilation {dilation}, pads {pads}, ceil_mode {is_ceil}"
        x = (ramp(I64, 1, 2, *cube(n, side)) * 7 % 4).astype(F32)
        values, places = pooled(x, axes, "MaxPool", pads)
        yield case(sentence, "MaxPool", [x], [values, places], 12, **same)
        yield case(sentence + ", below 0", "MaxPool", [x - 9], values - 9, 12, **same)
        for dtype, shift in ((np.int8, 128), (np.uint8, 0)):
            yield case(sentence, "MaxPool", [(x - shift).astype(dtype)], (values - shift).astype(dtype), 12, **same)
        for counts in (0, 1):
            mean, _ = pooled(x, axes, "AveragePool", pads, counts)
            yield case(f"{sentence}, count_include_pad {counts}", "AveragePool", [x], mean, 19, count_include_pad=counts,
                       **same)
        yield case(sentence, "LpPool", [x - 2], pooled(x - 2, axes, "LpPool", pads)[0], 18, p=1, **same)


def pooling_in_blocks():
    """The same after a convolution, whose channels lie in blocks: 20 of them, which fill no whole number of blocks."""
    for side, size, stride, dilation, pads, is_ceil in WINDOWS:
        if dilation > 1:
            continue
        axes = [windows_along(side, size, stride, dilation, pads, is_ceil)] * 2
        same = dict(kernel_shape=[size] * 2, strides=[stride] * 2, pads=[pads[0]] * 2 + [pads[1]] * 2, ceil_mode=is_ceil)
        x = (ramp(I64, 1, 20, side, side) * 7 % 5 - 7).astype(F32)
        for op_type, counts in (("MaxPool", 0), ("AveragePool", 0), ("AveragePool", 1)):
            extra = dict(count_include_pad=counts) if op_type == "AveragePool" else {}
            nodes = [node("Conv", ["x", "w"], ["t"]), node(op_type, ["t"], ["y"], **same, **extra)]
            yield Part(f"{op_type} 11: {side}, {size} by {stride}, pads {pads}, {extra}", 11, nodes, {"x": x},
                       {"y": pooled(x, axes, op_type, pads, counts)[0]},
                       {"w": elements(np.eye(20, dtype=F32).reshape(20, 20, 1, 1))})


def automatic_padding():
    """SAME: ceil(length / stride) windows, the odd element at the end or the begin, and never less than none."""
    windows = ((4, 1, 2), (4, 1, 4), (5, 2, 2), (5, 3, 2), (4, 2, 4), (6, 3, 1), (7, 2, 4))
    for n, (side, size, stride), upper in itertools.product((1, 2, 3), windows, (0, 1)):
        total = max((-(-side // stride) - 1) * stride + size - side, 0)
        pads = (total // 2, total - total // 2) if upper else (total - total // 2, total // 2)
        axes = [windows_along(side, size, stride, 1, pads, 0)] * n
        same = dict(strides=cube(n, stride), auto_pad="SAME_UPPER" if upper else "SAME_LOWER")
        x = ramp(F32, 1, 1, *cube(n, side)) + 1
        sentence = f"{n} axes of {side}, {size} by {stride}, {same['auto_pad']}"
        yield case(sentence, "MaxPool", [x], pooled(x, axes, "MaxPool", pads)[0], 12, kernel_shape=cube(n, size), **same)
        yield case(sentence, "AveragePool", [x], pooled(x, axes, "AveragePool", pads)[0], 11, kernel_shape=cube(n, size),
                   **same)
        sums = pooled(x, axes, "LpPool", pads)[0]
        yield case(sentence, "LpPool", [x], sums, 18, kernel_shape=cube(n, size), p=1, **same)
        yield case(sentence, "Conv", [x, np.ones([1, 1] + cube(n, size), F32)], sums, 11, const=(1,), **same)


# ---- shapes and indices ----

def padded(x, begins, ends, mode, value):
    for axis, (begin, end) in enumerate(zip(begins, ends)):
        x = np.take(x, range(max(-begin, 0), x.shape[axis] - max(-end, 0)), axis)  # negative padding crops first
    added = [(max(b, 0), max(e, 0)) for b, e in zip(begins, ends)]
    return np.pad(x, added, "constant", constant_values=value) if mode == "constant" else np.pad(x, added, mode)


def padding():
    """Every mode, from one element to five axes, negative padding, and padding beyond the length."""
    for n, dtype, mode in itertools.product((1, 2, 3, 4, 5), (F32, np.uint8, I64), ("constant", "reflect", "edge", "wrap")):
        x = ramp(dtype, *cube(n, 3))
        for one, other in ((1, 2), (-1, 1), (-1, -1), (2, 2)):
            begins, ends = [one, other] * 3, [other, one] * 3
            yield case(f"{mode} of {n} axes by {one} and {other}", "Pad", [x, ints(*begins[:n], *ends[:n]), dtype(7)],
                       padded(x, begins[:n], ends[:n], mode, 7), 19, const=(1, 2), mode=mode)
    for mode in ("reflect", "edge", "wrap"):
        yield case(f"{mode} of one element", "Pad", [f32(5), ints(2, 3)], np.full(6, 5, F32), 19, const=(1,), mode=mode)
        yield case(f"{mode} by more than the length", "Pad", [f32(5, 6, 7), ints(7, 8)], np.pad(f32(5, 6, 7), (7, 8), mode),
                   19, const=(1,), mode=mode)
        yield case(f"{mode} of nothing, along another axis", "Pad", [np.zeros((0, 3), F32), ints(0, 1, 0, 1)],
                   np.zeros((0, 5), F32), 19,
                       const=(1,), mode=mode)


def sliced(x, start, end, step):
    """By the text of Slice-13."""
    n = len(x)
    start, end = (start + n if start < 0 else start), (end + n if end < 0 else end)
    start = min(max(start, 0), n if step > 0 else n - 1)
    end = min(max(end, 0 if step > 0 else -1), n if step > 0 else n - 1)
    return x[np.arange(start, end, step)] if n else x


def slicing():
    """Starts and ends at, before and after both borders, known when compiling and only when running."""
    most, least = 2**63 - 1, -2**63
    x = ramp(F32, 10)
    bounds = (0, 1, -1, 9, 10, 11, -10, -11, most, least)
    for start, end, step in itertools.product(bounds, bounds, (1, 3, -1, -3)):
        expected = sliced(x, start, end, step)
        yield case(f"{start}:{end}:{step}", "Slice", [x, ints(start), ints(end), ints(0), ints(step)], expected, 13,
                   const=(1, 2, 3, 4))
        if start in (-11, least, 11) or end in (-11, least, most):
            yield case(f"{start}:{end}:{step} when running", "Slice", [x, ints(start), ints(end), ints(0), ints(step)],
                       expected, 13, const=(3, 4))
    for step in (1, -1):
        yield case(f"nothing by {step}", "Slice", [x[:0], ints(least), ints(most if step > 0 else least), ints(0),
                                                   ints(step)], x[:0], 13, const=(1, 2, 3, 4))


def equal_elements():
    """The first of equal ones, or the last where that is requested; lower indices first."""
    for dtype in (F32, np.float64, np.float16, np.int32, I64, np.uint8, np.int8):
        x = np.array([[1, 3, 3, 1, 0, 0], [2, 2, 2, 2, 2, 2], [5, 1, 1, 1, 5, 0]], dtype)
        name = np.dtype(dtype).name
        for axis in (0, 1):
            for op_type, first in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
                last = x.shape[axis] - 1 - first(np.flip(x, axis), axis)
                yield case(f"{name}, axis {axis}", op_type, [x], np.expand_dims(first(x, axis), axis), 13, axis=axis)
                yield case(f"{name}, axis {axis}, the last", op_type, [x], np.expand_dims(last, axis), 13, axis=axis,
                           select_last_index=1)
        for k, largest in itertools.product((0, 1, 3, 6), (0, 1)):
            order = np.argsort(-x.astype(float) if largest else x.astype(float), 1, "stable")[:, :k]
            yield case(f"{name}, {k}, largest {largest}", "TopK", [x, ints(k)], [np.take_along_axis(x, order, 1), order],
                       11, const=(1,), largest=largest)
    long = np.zeros((1, 75), F32)
    long[0, [20, 37, 74]] = 1
    yield case("a long row", "ArgMax", [long], ints(20)[None], 13, axis=1)
    yield case("a long row, the last", "ArgMax", [long], ints(74)[None], 13, axis=1, select_last_index=1)
    yield case("equal ones", "Hardmax", [f32(1, 3, 3, 0, 0, 0).reshape(2, 3)], f32(0, 1, 0, 1, 0, 0).reshape(2, 3), 13,
               axis=1)
    yield case("0 and -0", "ArgMax", [f32(-0.0, 0.0)], ints(0), 13, axis=0)
    yield case("a NaN", "ArgMax", [f32(1, np.nan, 3)], ints(1), 13, axis=0)
    yield case("in order", "Unique", [f32(2, 1, 1, 3, 2)],
               [f32(1, 2, 3), ints(1, 0, 3), ints(1, 0, 0, 2, 1), ints(2, 2, 1)], 11)
    # Overlaps of 1/3, 1/2 and 1 with the first box: one as large as the threshold stays.
    boxes = f32([0, 0, 2, 2], [0, 1, 2, 3], [0, 0, 2, 1], [0, 0, 2, 2]).reshape(1, 4, 4)
    for threshold, scores, kept in ((0.5, (4, 3, 2, 1), (0, 1, 2)), (1, (4, 3, 2, 1), (0, 1, 2, 3)),
                                    (0, (4, 3, 2, 1), (0,)),
                                    (0.25, (4, 3, 2, 1), (0,)), (0.5, (1, 1, 1, 1), (0, 1, 2))):
        yield case(f"an overlap of the threshold {threshold}, scores {scores}", "NonMaxSuppression", [
            boxes, f32(*scores).reshape(1, 1, 4), ints(9), f32(threshold)], np.array([[0, 0, k] for k in kept], I64), 11)
    scores = f32(4, 3).reshape(1, 1, 2)
    yield case("a score of the threshold", "NonMaxSuppression", [boxes[:, :2], scores, ints(9), f32(0.5), f32(3)],
               np.array([[0, 0, 0]], I64), 11)


def empty_reductions():
    """Reductions over no elements give the neutral one; products over no elements are 0, or the bias."""
    x = np.zeros((2, 0, 3), F32)
    for op_type, value in (("ReduceSum", 0), ("ReduceProd", 1), ("ReduceMax", -np.inf), ("ReduceMin", np.inf),
                           ("ReduceL1", 0), ("ReduceL2", 0),
                           ("ReduceSumSquare", 0), ("ReduceLogSum", -np.inf), ("ReduceLogSumExp", -np.inf)):
        for axes in ((1,), (0, 1, 2), (0,)):
            shape = [1 if i in axes else length for i, length in enumerate(x.shape)]
            yield case(f"axes {axes}", op_type, [x, ints(*axes)], np.full(shape, value, F32), 18, const=(1,))
    for dtype in (np.int32, I64, np.uint8, np.int8):
        for op_type, value in (("ReduceMax", LIMIT[dtype].min), ("ReduceMin", LIMIT[dtype].max)):
            yield case(np.dtype(dtype).name, op_type, [x.astype(dtype), ints(1)], np.full((2, 1, 3), value, dtype), 20,
                       const=(1,))
    for dtype in (np.int32, I64):
        means = np.array([[-3, 2], [5, -8], [-1, 0], [1, 2]], dtype)
        yield case(f"{np.dtype(dtype).name} toward 0", "ReduceMean", [means, ints(1)],
                   np.array([[0], [-1], [0], [1]], dtype), 18, const=(1,))
    for dtype in (F32, np.int32):
        yield case(f"{dtype.__name__} of nothing", "MatMul", [np.zeros((2, 0), dtype), np.zeros((0, 3), dtype)],
                   np.zeros((2, 3), dtype), 13)
        yield case(f"{dtype.__name__} of no rows", "MatMul", [np.zeros((0, 2), dtype), np.zeros((2, 3), dtype)],
                   np.zeros((0, 3), dtype), 13)
    yield case("two empty vectors", "MatMul", [x[0, :, 0], x[0, :, 0]], F32(0), 13)
    bias = f32(1, 2, 3)
    yield case("of nothing", "Gemm", [np.zeros((2, 0), F32), np.zeros((0, 3), F32), bias], np.stack([bias, bias]), 13)
    yield case("of nothing", "Einsum", [np.zeros((2, 0), F32), np.zeros((0, 3), F32)], np.zeros((2, 3), F32), 12,
               equation="ij,jk->ik")
    yield case("no channels", "Conv", [np.zeros((1, 0, 4, 4), F32), np.zeros((3, 0, 3, 3), F32), bias],
               np.broadcast_to(bias[None, :, None, None], (1, 3, 2, 2)), 11)
    for n in (1, 2, 3):
        empty = np.zeros([0, 2] + cube(n, 4), F32)
        yield case(f"no images of {n} axes", "Conv", [empty, np.ones([3, 2] + cube(n, 3), F32)],
                   np.zeros([0, 3] + cube(n, 2), F32), 11)
        yield case(f"no images of {n} axes", "MaxPool", [empty], np.zeros([0, 2] + cube(n, 3), F32), 12,
                   kernel_shape=cube(n, 2))
        yield case(f"no images of {n} axes", "AveragePool", [empty], np.zeros([0, 2] + cube(n, 3), F32), 11,
                   kernel_shape=cube(n, 2))
    for op_type, shape in itertools.product(("Softmax", "LogSoftmax", "Hardmax"), ((2, 0), (0, 2))):
        yield case(f"{shape}", op_type, [np.zeros(shape, F32)], np.zeros(shape, F32), 13, axis=1)
        yield case(f"{shape}", op_type, [np.zeros(shape, F32)], np.zeros(shape, F32), 11, axis=1)
    for exclusive, reverse in itertools.product((0, 1), (0, 1)):
        row = f32(1, 2, 4)
        sums = {(0, 0): f32(1, 3, 7), (1, 0): f32(0, 1, 3), (0, 1): f32(7, 6, 4), (1, 1): f32(6, 4, 0)}[exclusive, reverse]
        for given, expected in ((row, sums), (row[:1], row[:1] * (1 - exclusive)), (row[:0], row[:0])):
            yield case(f"{len(given)} elements, exclusive {exclusive}, reverse {reverse}", "CumSum", [given, np.int64(0)],
                       expected, 14, const=(1,),
                           exclusive=exclusive, reverse=reverse)


def indices_at_the_border():
    """The lowest and the highest index there is, and those next to them."""
    yield case("out of range", "OneHot", [ints(0, 2, 3, -1, -3, -4), ints(3), f32(0, 1)],
               f32(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0).reshape(6, 3), 11, const=(1,))
    x = ramp(F32, 2, 3) + 1
    for k in (-3, -2, -1, 0, 1, 2, 3, 4, 2**40, -2**40):
        near = int(np.clip(k, -9, 9))
        yield case(f"above {k}", "Trilu", [x, np.int64(k)], np.triu(x, near), 14, const=(1,), upper=1)
        yield case(f"below {k}", "Trilu", [x, np.int64(k)], np.tril(x, near), 14, const=(1,), upper=0)
        yield case(f"{k}", "EyeLike", [x], np.eye(2, 3, near, F32), 9, k=k)
    for reduction, expected in (("none", (2, 3, 3, 4, 4)), ("add", (3, 3, 3, 4, 14)), ("mul", (2, 2, 3, 4, 45)),
                                ("max", (2, 2, 3, 4, 9)), ("min", (1, 1, 3, 4, 5))):
        data, at, updates = f32(1, 2, 3, 4, 5), ints(-1, 1, -5), f32(9, 1, 2)
        where = {"none": f32(2, 1, 3, 4, 9)}.get(reduction, f32(*expected))
        yield case(reduction, "ScatterElements", [data, at, updates], where, 18, reduction=reduction)
        yield case(reduction, "ScatterND", [data, at.reshape(3, 1), updates], where, 18, reduction=reduction)
    yield case("negative ones", "GatherElements", [f32(1, 2, 3), ints(-1, -3, 0)], f32(3, 1, 1), 13)
    for start, limit, delta in ((0, 1, 0.25), (0, 1, 0.3), (1, 0, -0.25), (2, 5, 1.5), (0, 0, 1), (0, 1, -1)):
        count = max(ceil((Fraction(limit) - Fraction(start)) / Fraction(float(F32(delta)))), 0)
        expected = (F32(start) + np.arange(count, dtype=F32) * F32(delta)).astype(F32)
        yield case(f"{start} to {limit} by {delta}", "Range", [F32(start), F32(limit), F32(delta)], expected, 11,
                   const=(0, 1, 2))
    yield case("parts of nothing", "Concat", [x[:, :0], x, x[:, :0]], x, 13, axis=1)
    yield case("parts of nothing", "Split", [x, ints(0, 3, 0)], [x[:, :0], x, x[:, :0]], 13, const=(1,), axis=1)
    yield case("a shorter last part", "Split", [f32(1, 2, 3, 4, 5, 6, 7)], [f32(1, 2, 3), f32(4, 5, 6), f32(7)], 18, axis=0,
               num_outputs=3)


KINDS = [rounding_to_integers, conversions, division, quantization, quantized_products, resizing_to_the_nearest,
         resizing_of_integers, resizing_by_an_inexact_scale, sampling_at_halves, regions, pooling, pooling_in_blocks,
         automatic_padding, padding, slicing, equal_elements, empty_reductions, indices_at_the_border]

# Means and ranges, whose fractions floats do not express.
TOLERANCE = {"AveragePool": 1e-6, "Range": 1e-6}


def tolerance(part):
    return next((value for op_type, value in TOLERANCE.items() if part.sentence.startswith(op_type)), 0)


def check_blocks(tap, lightnet):
    """pooling_in_blocks would test nothing else than pooling, did its images not lie in blocks."""
    kinds = ops_of(lightnet, joined(list(pooling_in_blocks()))[0])
    plain = [kind for kind in kinds if "pool2d" in kind and "blocked" not in kind]
    tap.check("pools behind convolutions work in blocks", plain if "pool2d_blocked_cpu" in kinds else kinds)


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    check_blocks(tap, lightnet)
    parts = {kind: list(kind()) for kind in KINDS}
    for isa in ISAS:
        os.environ["LIGHTNET_MAX_ISA"] = isa if isa != "best" else ""
        for kind, each in parts.items():
            faults = faults_of_parts(lightnet, each, tolerance)
            tap.check(f"{kind.__name__.replace('_', ' ')}, with {isa}",
                      [f"{part.sentence}: {fault}" for part, found in zip(each, faults) for fault in found])
    tap.end()


if __name__ == "__main__":
    main()
