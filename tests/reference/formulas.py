# SPDX-License-Identifier: Apache-2.0
"""The operators of the catalogue in plain numpy: written from its text, in its order, without a look at the C code.

Functions named `*_sum` return the result in double precision and the sum of the absolute values of its terms, by which
`dtypes.tolerance` computes the tolerance. All others return the result itself.
"""
import math

import numpy as np

from dtypes import FLT, NUMPY, as_numbers, convert, convert_one, limits, rounded

# Section 5.1 and 5.2: padding and sizes


def extent(size, dilation):
    return (size - 1) * dilation + 1


def split_padding(total, autopad):
    """(begin, end); the odd unit goes to the end for SAME_UPPER. Halves are truncated toward zero."""
    half = int(total / 2)
    return (half, total - half) if autopad == "SAME_UPPER" else (total - half, half)


def effective_padding(dims, size, stride, dilation, padding, autopad):
    """[top, left, bottom, right] of a convolution or pooling."""
    if autopad == "NOTSET":
        return list(padding)
    if autopad == "VALID":
        return [0, 0, 0, 0]
    pads = []
    for n, k, s, d in zip(dims, size, stride, dilation):
        out = -(-n // s)
        pads.append(split_padding(max(0, (out - 1) * s + extent(k, d) - n), autopad))
    return [pads[0][0], pads[1][0], pads[0][1], pads[1][1]]


def output_length(n, begin, end, size, stride, dilation):
    return (n + begin + end - extent(size, dilation)) // stride + 1


def transposed_padding(dims, size, stride, dilation, padding, output_padding, output_dims, autopad):
    if autopad == "NOTSET":
        return list(padding)
    if autopad == "VALID":
        return [0, 0, 0, 0]
    pads = [split_padding(s * (n - 1) + more + extent(k, d) - out, autopad)
            for n, k, s, d, more, out in zip(dims, size, stride, dilation, output_padding, output_dims[2:])]
    return [pads[0][0], pads[1][0], pads[0][1], pads[1][1]]


# Section 5.5: one pair of elements


def power(a, b):
    """pow of the C library in double precision, in which large odd exponents become even."""
    a, b = float(a), float(b)
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and b % 2 else math.inf
    except ValueError:
        return math.inf if a == 0 else math.nan


def wrapped(dtype, value):
    bits = 8 * np.dtype(NUMPY[dtype]).itemsize
    value &= (1 << bits) - 1
    return value - (1 << bits) if limits(dtype)[0] < 0 and value >> (bits - 1) else value


WHOLE = {
    "TL_MUL": lambda a, b: a * b,
    "TL_DIV": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "TL_SUM": lambda a, b: a + b,
    "TL_SUB": lambda a, b: a - b,
    "TL_MAX": lambda a, b: a if a > b else b,
    "TL_MIN": lambda a, b: a if a < b else b,
}
LOGICAL = {
    "TL_MUL": lambda a, b: a and b, "TL_DIV": lambda a, b: a, "TL_SUM": lambda a, b: a or b,
    "TL_SUB": lambda a, b: a != b, "TL_MAX": lambda a, b: a or b, "TL_MIN": lambda a, b: a and b,
    "TL_POW": lambda a, b: a or not b,
}
REAL = {
    "TL_MUL": np.multiply, "TL_DIV": np.divide, "TL_SUM": np.add, "TL_SUB": np.subtract,
    "TL_MAX": lambda a, b: np.where(a > b, a, b), "TL_MIN": lambda a, b: np.where(a < b, a, b), "TL_POW": np.power,
}


def working(dtype, array):
    """In the type that computes `dtype`."""
    return array if dtype == "TL_DOUBLE" else array.astype(np.float32)


def elew(dtype, op, a, b):
    if dtype in FLT:
        with np.errstate(all="ignore"):
            return rounded(dtype, REAL[op](working(dtype, a), working(dtype, b)))
    pairs = zip(as_numbers(a), as_numbers(b))
    if dtype == "TL_BOOL":
        values = [LOGICAL[op](x, y) for x, y in pairs]
    elif op == "TL_POW":
        values = [convert_one(dtype, power(x, y)) for x, y in pairs]
    else:
        values = [wrapped(dtype, WHOLE[op](x, y)) for x, y in pairs]
    return np.array(values, NUMPY[dtype]).reshape(a.shape)


# Section 6, in its order


def arange(dtype, start, stop, step):
    return convert(dtype, np.array([start + step * i for i in range(math.ceil((stop - start) / step))]))


def windows(src, size, stride, padding, autopad):
    """For each window: the output's height and width, its place there, its elements inside the image."""
    pads = effective_padding(src.shape[2:], size, stride, (1, 1), padding, autopad)
    out = [output_length(src.shape[2 + k], pads[k], pads[2 + k], size[k], stride[k], 1) for k in (0, 1)]
    for y, x in np.ndindex(*out):
        top, left = y * stride[0] - pads[0], x * stride[1] - pads[1]
        yield out, y, x, src[:, :, max(top, 0):top + size[0], max(left, 0):left + size[1]]


def pool(src, reduce, size, stride, padding, autopad):
    dst = None
    for out, y, x, window in windows(src, size, stride, padding, autopad):
        if dst is None:
            dst = np.empty([*src.shape[:2], *out], src.dtype)
        dst[:, :, y, x] = reduce(window.reshape(*src.shape[:2], -1))
    return dst


def avgpool2d_sum(src, **params):
    src = src.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return (pool(src, lambda window: window.mean(axis=-1), **params),
                pool(np.abs(src), lambda window: window.mean(axis=-1), **params))


def maxpool2d(src, **params):
    return pool(src, lambda window: window.max(axis=-1), **params)


def batchnorm_sum(src, scale, offset, mean, var, epsilon):
    """The epsilon is a float parameter."""
    src, scale, offset, mean, var = (a.astype(np.float64) for a in (src, scale, offset, mean, var))
    along = (None, slice(None), None, None)
    with np.errstate(invalid="ignore"):
        factor = (scale / np.sqrt(var + float(np.float32(epsilon))))[along]
    return (factor * (src - mean[along]) + offset[along],
            np.abs(factor) * (np.abs(src) + np.abs(mean)[along]) + np.abs(offset)[along])


def conv2d(src, weight, bias, group, size, stride, dilation, padding, autopad):
    top, left, bottom, right = pads = effective_padding(src.shape[2:], size, stride, dilation, padding, autopad)
    height, width = (output_length(src.shape[2 + k], pads[k], pads[2 + k], size[k], stride[k], dilation[k])
                     for k in (0, 1))
    padded = np.pad(src, ((0, 0), (0, 0), (top, bottom), (left, right)))
    channels, outputs = src.shape[1] // group, weight.shape[0] // group
    dst = np.empty((src.shape[0], weight.shape[0], height, width))
    for oc in range(weight.shape[0]):
        first = oc // outputs * channels
        dst[:, oc] = bias[oc]
        for c, i, j in np.ndindex(channels, *size):
            y, x = i * dilation[0], j * dilation[1]
            dst[:, oc] += weight[oc, c, i, j] * padded[:, first + c,
                                                       y:y + (height - 1) * stride[0] + 1:stride[0],
                                                       x:x + (width - 1) * stride[1] + 1:stride[1]]
    return dst


def deconv2d(src, weight, bias, group, size, stride, dilation, padding, output_padding, output_dims, autopad):
    top, left, bottom, right = transposed_padding(src.shape[2:], size, stride, dilation, padding, output_padding,
                                                  output_dims, autopad)
    height, width = (stride[k] * (src.shape[2 + k] - 1) + output_padding[k] + extent(size[k], dilation[k]) - pad
                     for k, pad in ((0, top + bottom), (1, left + right)))
    channels, outputs = src.shape[1] // group, weight.shape[1]
    dst = np.empty((src.shape[0], outputs * group, height, width))
    dst[:] = bias[None, :, None, None]
    for ic, oc, y, x, i, j in np.ndindex(src.shape[1], outputs, *src.shape[2:], *size):
        row, column = y * stride[0] - top + i * dilation[0], x * stride[1] - left + j * dilation[1]
        if 0 <= row < height and 0 <= column < width:
            dst[:, ic // channels * outputs + oc, row, column] += src[:, ic, y, x] * weight[ic, oc, i, j]
    return dst


def in_double(formula, src, weight, bias, **params):
    """The result of a convolution, and the sum of the absolute values of its terms."""
    src, weight, bias = (a.astype(np.float64) for a in (src, weight, bias))
    with np.errstate(invalid="ignore"):
        return formula(src, weight, bias, **params), formula(*map(np.abs, (src, weight, bias)), **params)


def logistic(v):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-v))


def detect_yolov3_sum(feature, anchors, img_width, img_height):
    """{output: (value, magnitude)}"""
    a, (height, width) = len(anchors), feature.shape[2:]
    t = feature.astype(np.float64).reshape(1, a, -1, height, width)
    cx = (logistic(t[:, :, 0]) + np.arange(width)) * img_width / width
    cy = (logistic(t[:, :, 1]) + np.arange(height)[:, None]) * img_height / height
    with np.errstate(over="ignore"):
        w, h = (anchors[None, :, k, None, None].astype(np.float64) * np.clip(np.exp(t[:, :, 2 + k]), 1e-9, 50)
                for k in (0, 1))

    def stacked(*parts):
        return np.stack(parts, axis=2)

    sizes = stacked(np.abs(cx) + np.abs(w), np.abs(cy) + np.abs(h))
    return {
        "box_centers": (stacked(cx, cy), stacked(cx, cy)),
        "box_sizes": (stacked(w, h), np.abs(stacked(w, h))),
        "boxes": (stacked(cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2), np.concatenate([sizes, sizes], axis=2)),
        "confs": (logistic(t[:, :, 4:5]), 1),
        "probs": (logistic(t[:, :, 5:]), 1),
    }


def dot_product(dtype, a, b):
    """For integers and bool."""
    if dtype == "TL_BOOL":
        return np.array([(a & b).any()])
    return np.array([wrapped(dtype, sum(x * y for x, y in zip(as_numbers(a), as_numbers(b))))], NUMPY[dtype])


def lrelu(dtype, src, negslope):
    slope = np.float32(negslope)
    if dtype in FLT:
        wide = working(dtype, src)
        with np.errstate(all="ignore"):
            return rounded(dtype, np.where(wide >= 0, wide, wide * wide.dtype.type(slope)))
    values = [v if v >= 0 else convert_one(dtype, float(v) * float(slope)) for v in as_numbers(src)]
    return np.array(values, NUMPY[dtype]).reshape(src.shape)


def maxreduce_arg(src, axis):
    lines = np.moveaxis(src, axis, 0)
    best, arg = lines[0].copy(), np.zeros(lines.shape[1:], np.int32)
    for i, line in enumerate(lines):
        greater = line > best
        best, arg = np.where(greater, line, best), np.where(greater, np.int32(i), arg)
    return np.expand_dims(best, axis), np.expand_dims(arg, axis)


def pick1d(src, index, length, stride):
    return np.concatenate([src[i * stride:(i + 1) * stride] for i in as_numbers(index)[:length]])


def relu(src):
    return np.where(src < 0, src.dtype.type(0), src)


def half_away(value):
    return math.floor(abs(value) + 0.5) * (1 if value >= 0 else -1)


def nearest(src, dims):
    for axis, (n, out) in enumerate(zip(src.shape, dims)):
        scale = float(np.float32(n) / np.float32(out))
        index = [half_away(float(np.float32((d + 0.5) * scale - 0.5))) for d in range(out)]
        src = src.take([min(max(i, 0), n - 1) for i in index], axis=axis)
    return src


def linear(src, dims):
    """In the widest type there is, not yet rounded to the tensor's."""
    src = src.astype(np.longdouble)
    for axis, (n, out) in enumerate(zip(src.shape, dims)):
        if n == out:
            continue
        c = np.clip((np.arange(out) + 0.5) * (n / out) - 0.5, 0, n - 1)
        low = np.floor(c).astype(int)
        part = (c - low).astype(np.longdouble).reshape([-1 if k == axis else 1 for k in range(src.ndim)])
        src = (1 - part) * src.take(low, axis) + part * src.take(np.minimum(low + 1, n - 1), axis)
    return src


def whole_half_away(dtype, array):
    """Rounded half away from zero, saturated."""
    low, high = limits(dtype)
    values = [min(max(int(np.floor(np.abs(v) + 0.5)) * (1 if v >= 0 else -1), low), high) for v in array.ravel()]
    return np.array(values, NUMPY[dtype]).reshape(array.shape)


def softmax(src, axis):
    src = src.astype(np.float64)
    with np.errstate(all="ignore"):
        e = np.exp(src - src.max(axis=axis, keepdims=True))
        return e / e.sum(axis=axis, keepdims=True)


def sorted_order(keys, direction):
    """Indices in sorted order: equal keys keep theirs, NaN comes last."""
    keys = as_numbers(keys)
    numbers = [i for i, key in enumerate(keys) if key == key]
    order = sorted(numbers, key=lambda i: keys[i], reverse=direction == "TL_SORT_DIR_DESCENDING")
    return order + [i for i, key in enumerate(keys) if key != key]


def submean(dtype, src, mean):
    wide = np.array([float(v) for v in as_numbers(src)]).reshape(src.shape)
    with np.errstate(invalid="ignore"):
        return convert(dtype, np.moveaxis(wide - np.array(mean), 2, 0))


def transform_bbox_sum(delta, anchor, width, height, img_width, img_height, x_shift, y_shift):
    delta, anchor = delta.astype(np.float64), anchor.astype(np.float64)
    scales, shifts = (img_width / width, img_height / height), (x_shift, y_shift)
    low, high, magnitudes = [], [], []
    for k, last in ((0, img_width - 1), (1, img_height - 1)):
        d, stretch, at, length = delta[..., k], delta[..., 2 + k], anchor[..., k], anchor[..., 2 + k]
        center = (at + d * length) * scales[k] + shifts[k]
        size = length * np.where(stretch < 1, np.exp(stretch), stretch * 2.718281828) * scales[k]
        low.append(np.clip(center - size / 2, 0, last))
        high.append(np.clip(center + size / 2, 0, last))
        magnitudes.append((np.abs(at) + np.abs(d * length)) * scales[k] + abs(shifts[k]) + np.abs(size))
    return np.stack(low + high, axis=-1), np.stack(magnitudes * 2, axis=-1)


# Section 5.6: the text of a tensor


def text_of(dtype, array):
    values = [("%.3f" if dtype in FLT else "%d") % v for v in as_numbers(array)]
    width = array.shape[-1]
    lines = []
    for first in range(0, len(values), width):
        opened = array.ndim if first == 0 else closed(array.shape, first)
        text = " " * (array.ndim - opened) + "[" * opened + " ".join(values[first:first + width])
        lines.append(text + "]" * closed(array.shape, first + width))
    return "\n".join(lines) + "\n"


def closed(shape, n):
    """How many axes end when `n` elements are written."""
    count, size = 0, 1
    for d in reversed(shape):
        size *= d
        count += n % size == 0
    return count
