#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: operators.py LIGHTNET. Every operator of the catalogue agrees with its specification, computed with numpy."""
import os
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
import formulas as f
from dtypes import (ALL, FLT, INT, NUM, NUMPY, convert, edges, limits, random_values, rounded, tolerance)
from model import Model
from tap import Tap

SEED = 20240229
AUTOPADS = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")

# Tolerance between the optimized and the reference program in a model of one floating-point type; others are exact.
# A handful of roundings of values around 1.
AGREEMENT = {"TL_DOUBLE": 1e-12, "TL_FLOAT": 1e-5, "TL_FLOAT16": 2.0**-8, "TL_BFLOAT16": 2.0**-5}


class Cases:
    """The cases of one operator, in one model for each floating-point type and one for all others."""

    def __init__(self, optype, rng, suffix=""):
        self.optype, self.rng, self.suffix = optype, rng, suffix
        self.models = {}
        self.n = 0

    def model(self, dtype):
        return self.models.setdefault(dtype if dtype in FLT else "whole", Model(self.suffix))

    def values(self, dtype, *shape, scale=1.0, edged=False):
        return random_values(self.rng, dtype, shape, scale, edged)

    def add(self, dtype, ins, outs, label="", /, **params):
        """One operator: `ins` [(arg_name, array or (dtype, array))], `outs` [(arg_name, dtype, expected, bound)].
        In turn, all inputs are the model's, only the first one is, and all are constants."""
        model = self.model(dtype)
        turn = self.n % 3
        self.n += 1
        made = []
        for i, (arg, array) in enumerate(ins):
            kind, array = array if isinstance(array, tuple) else (dtype, array)
            made.append((arg, model.create(kind, array, const=turn == 2 or (turn == 1 and i > 0))))
        names = model.op(self.optype, made, [out[0] for out in outs], **params)
        for name, (arg, kind, expected, bound) in zip(names, outs):
            model.expect(name, kind, expected, bound, f"{self.optype} {arg} {params} {label}"[:300])

    def check(self, lightnet, folder):
        faults = []
        for kind, model in self.models.items():
            allowed = AGREEMENT.get(kind, 0)
            faults += model.check(lightnet, os.path.join(folder, self.optype, kind), allowed, 4 * allowed)
        return faults


def shapes(rng, low=1, high=8):
    """One shape for each number of axes: extents 1 and primes, not too many elements."""
    for ndim in range(low, high + 1):
        extents = [1, 2, 3, 5, 7] if ndim < 4 else [1, 2, 3] if ndim < 6 else [1, 1, 2, 3]
        yield tuple(int(d) for d in rng.choice(extents, ndim))


LENGTHS = ((1,), (2, 3), (31,), (7, 1, 19), (1, 3, 5, 17))


def elementwise(t, dtypes, formula, bound=None, **params):
    """src -> dst, one formula on elements: lengths around those of vectors, and edge values."""
    for dtype in dtypes:
        for shape in LENGTHS:
            src = t.values(dtype, *shape, edged=True)
            expected = formula(dtype, src)
            t.add(dtype, [("src", src)], [("dst", dtype, expected, bound and bound(dtype, expected))], **params)


# The operators, in the order of the catalogue


def arange(t):
    for dtype in ALL:
        for start, stop, step in ((0, 1, 0.3), (0, 1, 1), (0, 1, 0.0625)):
            t.add(dtype, [], [("dst", dtype, f.arange(dtype, start, stop, step), None)], dtype=dtype, start=start,
                  stop=stop, step=step)
    for dtype in NUM:
        low = -2.7 if limits(dtype)[0] < 0 else 0.4
        t.add(dtype, [], [("dst", dtype, f.arange(dtype, low, 99.5, 0.9), None)], dtype=dtype, start=low, stop=99.5,
              step=0.9)
    for dtype in INT:
        low, high = (float(v) for v in limits(dtype))
        step = (high - low) / 7
        t.add(dtype, [], [("dst", dtype, f.arange(dtype, low, high, step), None)], dtype=dtype, start=low, stop=high,
              step=step)


def pool_params(rng, turn, dims):
    size = [int(rng.integers(1, min(d, 4) + 1)) for d in dims]
    return {"size": size, "stride": [int(s) for s in rng.integers(1, 6, 2)],
            "padding": [int(rng.integers(0, size[k % 2])) for k in range(4)], "autopad": AUTOPADS[turn % 4]}


IMAGES = ((1, 1, 1, 1), (2, 3, 5, 7), (1, 5, 13, 4), (3, 2, 3, 17), (1, 17, 6, 11))


def pools(t, dtypes, result):
    for dtype in dtypes:
        for turn in range(12):
            shape = IMAGES[turn % len(IMAGES)]
            params = pool_params(t.rng, turn, shape[2:])
            src = t.values(dtype, *shape)
            expected, bound = result(dtype, src, params)
            t.add(dtype, [("src", src)], [("dst", dtype, expected, bound)], **params)


def avgpool2d(t):
    def result(dtype, src, params):
        value, magnitude = f.avgpool2d_sum(src, **params)
        return rounded(dtype, value), tolerance(dtype, magnitude, 16)
    pools(t, FLT, result)


def batchnorm(t):
    for dtype in FLT:
        for shape in IMAGES:
            c = shape[1]
            src, scale, offset, mean = (t.values(dtype, *dims) for dims in (shape, (c,), (c,), (c,)))
            var = rounded(dtype, np.abs(t.values(dtype, c).astype(np.float64)) + 0.25)
            if c > 3:
                var[2] = -1  # "gives NaN; not an error"
            value, magnitude = f.batchnorm_sum(src, scale, offset, mean, var, 1e-3)
            t.add(dtype, [("src", src), ("scale", scale), ("offset", offset), ("mean", mean), ("var", var)],
                  [("dst", dtype, rounded(dtype, value), tolerance(dtype, magnitude, 8))], epsilon=1e-3)


def concat(t):
    for dtype in ALL:
        for shape in shapes(t.rng):
            for axis in {0, len(shape) - 1, len(shape) // 2}:
                other = list(shape)
                other[axis] = int(t.rng.integers(1, 6))
                a, b = t.values(dtype, *shape, edged=True), t.values(dtype, *other, edged=True)
                t.add(dtype, [("src1", a), ("src2", b)], [("dst", dtype, np.concatenate([a, b], axis), None)],
                      axis=axis)


# (image, outputs, group, size, stride, dilation, padding)
CONVOLUTIONS = (
    ((1, 1, 1, 1), 1, 1, (1, 1), (1, 1), (1, 1), (0, 0, 0, 0)),
    ((1, 3, 7, 5), 5, 1, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    ((2, 4, 9, 6), 6, 2, (3, 2), (2, 1), (1, 1), (0, 2, 1, 0)),
    ((1, 6, 11, 13), 6, 6, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    ((1, 5, 11, 8), 10, 5, (3, 3), (2, 2), (1, 1), (1, 0, 0, 1)),
    ((1, 2, 13, 11), 3, 1, (2, 3), (5, 4), (1, 1), (0, 0, 0, 0)),
    ((1, 3, 12, 10), 2, 1, (3, 3), (1, 2), (3, 2), (3, 1, 0, 2)),
    ((2, 17, 5, 3), 19, 1, (1, 1), (1, 1), (1, 1), (0, 0, 0, 0)),
    ((1, 16, 10, 9), 16, 1, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    ((1, 3, 3, 19), 4, 1, (1, 7), (1, 3), (1, 1), (2, 5, 0, 6)),
    ((1, 2, 1, 1), 2, 1, (5, 5), (1, 1), (1, 1), (2, 2, 2, 2)),
    ((3, 1, 2, 29), 8, 1, (2, 5), (1, 1), (1, 1), (1, 4, 1, 4)),
)


def conv2d(t):
    for dtype in FLT:
        for turn, (image, outputs, group, size, stride, dilation, padding) in enumerate(CONVOLUTIONS):
            for autopad in {"NOTSET", AUTOPADS[turn % 4], AUTOPADS[2 + turn % 2]}:
                if autopad == "VALID" and any(n < f.extent(k, d) for n, k, d in zip(image[2:], size, dilation)):
                    continue
                add_convolution(t, dtype, image, outputs, group=group, size=list(size), stride=list(stride),
                                dilation=list(dilation), padding=list(padding), autopad=autopad)
        add_convolution(t, dtype, (1, 2, 9, 9), 3, edged=True, group=1, size=[3, 3], stride=[1, 1], dilation=[1, 1],
                        padding=[1, 1, 1, 1], autopad="NOTSET")


def add_convolution(t, dtype, image, outputs, edged=False, **params):
    channels = image[1] // params["group"]
    src, weight, bias = (t.values(dtype, *dims) for dims in (image, (outputs, channels, *params["size"]), (outputs,)))
    if edged:
        src[0, 0, 4, 4], src[0, 1, 0, 8] = np.nan, np.inf
    value, magnitude = f.in_double(f.conv2d, src, weight, bias, **params)
    t.add(dtype, [("src", src), ("weight", weight), ("bias", bias)],
          [("dst", dtype, rounded(dtype, value), tolerance(dtype, magnitude, channels * weight[0, 0].size + 1))],
          f"image {image} outputs {outputs}", **params)


def create(t):
    for dtype in ALL:
        data = [float(v) for v in (-1.5, 0, 0.5, 1, 3.75, 200, 70000, -40000)]
        if dtype == "TL_FLOAT16":
            data[6:] = [60000, -40000]
        params = {"dtype": dtype, "ran": [0, 0], "from_file": False}
        t.add(dtype, [], [("dst", dtype, convert(dtype, np.array(data).reshape(2, 1, 4)), None)], dims=[2, 1, 4],
              data=data, **params)
        t.add(dtype, [], [("dst", dtype, convert(dtype, np.full((3, 5), 2.5)), None)], dims=[3, 5], data=[2.5],
              **params)
        t.add(dtype, [], [("dst", dtype, np.zeros((1,) * 8, NUMPY[dtype]), None)], dims=[1] * 8, data=[0], **params)
        same = np.full((1, 7), 1, NUMPY[dtype])   # random values between two equal limits
        t.add(dtype, [], [("dst", dtype, same, None)], dims=[1, 7], data=[5], **{**params, "ran": [1, 1]})


# (image, outputs of a group, group, size, stride, dilation, padding, output_padding)
TRANSPOSED = (
    ((1, 1, 1, 1), 1, 1, (1, 1), (1, 1), (1, 1), (0, 0, 0, 0), (0, 0)),
    ((1, 3, 4, 3), 2, 1, (3, 3), (2, 2), (1, 1), (1, 1, 1, 1), (1, 1)),
    ((2, 4, 3, 5), 3, 2, (2, 3), (1, 3), (1, 1), (0, 1, 1, 0), (0, 2)),
    ((1, 5, 3, 2), 1, 5, (3, 3), (2, 1), (2, 1), (0, 2, 1, 0), (0, 0)),
    ((1, 2, 2, 3), 3, 1, (1, 2), (4, 5), (1, 1), (0, 0, 0, 0), (3, 1)),
    ((3, 7, 2, 2), 5, 1, (2, 2), (2, 2), (1, 1), (0, 0, 0, 0), (0, 0)),
)


def deconv2d(t):
    for dtype in FLT:
        for image, outputs, group, size, stride, dilation, padding, more in TRANSPOSED:
            params = {"group": group, "size": list(size), "stride": list(stride), "dilation": list(dilation),
                      "padding": list(padding), "output_padding": list(more), "output_dims": [0, 0, 0, 0]}
            for autopad in AUTOPADS:
                if autopad.startswith("SAME"):   # an odd total on one axis, a negative one on the other
                    natural = [s * (n - 1) + m + f.extent(k, d)
                               for n, k, s, d, m in zip(image[2:], size, stride, dilation, more)]
                    params["output_dims"] = [image[0], outputs * group, max(natural[0] - 1, 1), natural[1] + 3]
                src, weight, bias = (t.values(dtype, *dims)
                                     for dims in (image, (image[1], outputs, *size), (outputs * group,)))
                params["autopad"] = autopad
                value, magnitude = f.in_double(f.deconv2d, src, weight, bias, **params)
                bound = tolerance(dtype, magnitude, image[1] // group * weight[0, 0].size + 1)
                t.add(dtype, [("src", src), ("weight", weight), ("bias", bias)],
                      [("dst", dtype, rounded(dtype, value), bound)], f"image {image}", **params)


def detect_yolov3(t):
    for a, k, height, width in ((1, 1, 1, 1), (3, 2, 5, 7), (2, 80, 3, 2), (65, 1, 2, 1)):
        feature = t.values("TL_FLOAT", 1, a * (5 + k), height, width, scale=3)
        feature.reshape(1, a, 5 + k, height, width)[0, 0, :5, 0, 0] = (200, -200, 100, -100, 90)
        anchors = np.abs(t.values("TL_FLOAT", a, 2, scale=60))
        results = f.detect_yolov3_sum(feature, anchors, 641, 479)
        outs = [(arg, "TL_FLOAT", rounded("TL_FLOAT", value), tolerance("TL_FLOAT", magnitude, 12))
                for arg, (value, magnitude) in results.items()]
        t.add("TL_FLOAT", [("feature", feature), ("anchors", anchors)], outs, img_width=641, img_height=479)


def dot_product(t):
    for dtype in ALL:
        for shape in LENGTHS:
            a, b = t.values(dtype, *shape), t.values(dtype, *shape)
            if dtype in FLT:
                terms = a.astype(np.float64) * b.astype(np.float64)
                expected = rounded(dtype, terms.sum(keepdims=True).reshape(1))
                bound = tolerance(dtype, np.abs(terms).sum(), terms.size)
            else:
                expected, bound = f.dot_product(dtype, a, b), None
            t.add(dtype, [("src1", a), ("src2", b)], [("dst", dtype, expected, bound)])


def elew(t):
    for dtype in ALL:
        for op in f.REAL:
            for shape in ((97,), (3, 1, 11)):
                a, b = t.values(dtype, *shape, edged=True), t.values(dtype, *shape, edged=True)
                bound = None
                if op == "TL_DIV" and dtype not in FLT:   # division by zero is an error
                    b[b == 0] = 1
                if op == "TL_POW" and dtype in FLT:       # powers of moderate size, and edges
                    usual = t.rng.random(shape) < 0.7
                    a = np.where(usual, np.abs(t.values(dtype, *shape)), a)
                    b = np.where(usual, t.values(dtype, *shape), b)
                    bound = tolerance(dtype, f.elew(dtype, op, a, b))
                t.add(dtype, [("src1", a), ("src2", b)], [("dst", dtype, f.elew(dtype, op, a, b), bound)],
                      elew_op=op)
    for dtype in INT:   # all pairs of edges
        a, b = (v.ravel() for v in np.meshgrid(*[np.array(edges(dtype), NUMPY[dtype])] * 2))
        for op in f.REAL:
            divisor = np.where(b == 0, NUMPY[dtype](3), b) if op == "TL_DIV" else b
            t.add(dtype, [("src1", a), ("src2", divisor)], [("dst", dtype, f.elew(dtype, op, a, divisor), None)],
                  elew_op=op)


def forward(t):
    elementwise(t, ALL, lambda dtype, src: src)


def gather(t):
    for dtype in ALL:
        for turn, shape in enumerate(shapes(t.rng, 1, 7)):
            parts = [t.values(dtype, *shape, edged=True) for _ in range(1 + turn % 5)]
            order = [f"src{len(parts) - k}" for k in range(len(parts))]   # list order counts, not the number
            t.add(dtype, list(zip(order, parts)), [("dst", dtype, np.stack(parts), None)])


def lrelu(t):
    for slope in (0.1, 0, 2.5, -0.75, 1e30):
        elementwise(t, ALL if slope < 1e9 else ("TL_FLOAT", "TL_DOUBLE", *INT),
                    lambda dtype, src, slope=slope: f.lrelu(dtype, src, slope), negslope=slope)


def maxpool2d(t):
    pools(t, ALL, lambda dtype, src, params: (f.maxpool2d(src, **params), None))
    for dtype in ("TL_DOUBLE", "TL_FLOAT"):
        src = np.full((1, 1, 4, 4), -np.inf, NUMPY[dtype])
        params = {"size": [3, 3], "stride": [1, 1], "padding": [2, 2, 2, 2], "autopad": "NOTSET"}
        t.add(dtype, [("src", src)], [("dst", dtype, f.maxpool2d(src, **params), None)], **params)


def reduced(t):
    for dtype in ALL:
        for shape in (*shapes(t.rng), (1,), (7,), (5, 37, 1), (33, 2)):
            for axis in {0, len(shape) - 1, len(shape) // 2}:
                yield dtype, t.values(dtype, *shape, edged=True), axis


def maxreduce(t):
    for dtype, src, axis in reduced(t):
        t.add(dtype, [("src", src)], [("dst", dtype, f.maxreduce_arg(src, axis)[0], None)], axis=axis)


def maxreduce_arg(t):
    for dtype, src, axis in reduced(t):
        best, arg = f.maxreduce_arg(src, axis)
        t.add(dtype, [("src", src)], [("dst", dtype, best, None), ("arg", "TL_INT32", arg, None)], axis=axis)


def reductions(dtype):
    """The result of each operation on lines along `axis`, in double or in wrapping integers; and the bound."""
    wide = (lambda x: x.astype(np.float64)) if dtype in FLT else (lambda x: x)
    same = {} if dtype in FLT else {"dtype": NUMPY[dtype]}
    best = {"TL_REDUCE_MAX": lambda x, a: np.max(x, a, keepdims=True),
            "TL_REDUCE_MIN": lambda x, a: np.min(x, a, keepdims=True)}
    if dtype == "TL_BOOL":
        return best
    return best | {
        "TL_REDUCE_SUM": lambda x, a: np.sum(wide(x), a, keepdims=True, **same),
        "TL_REDUCE_PROD": lambda x, a: np.prod(wide(x), a, keepdims=True, **same),
        "TL_REDUCE_SUM_SQUARE": lambda x, a: np.sum(wide(x) * wide(x), a, keepdims=True, **same),
    }


def reduce(t):
    for dtype, edged, axis in reduced(t):
        plain = t.values(dtype, *edged.shape)
        for op, formula in reductions(dtype).items():
            src = edged if op in ("TL_REDUCE_MAX", "TL_REDUCE_MIN") else plain
            axes = sorted({axis, 0})
            expected = formula(src, tuple(axes))
            bound = np.zeros(expected.shape) if dtype in FLT else None  # 0 and -0 are as great as each other
            if dtype in FLT and src is plain:
                magnitude = reductions(dtype)[op](np.abs(src), tuple(axes))
                expected, bound = rounded(dtype, expected), tolerance(dtype, magnitude, src.size)
            t.add(dtype, [("src", src)], [("dst", dtype, expected, bound)], op=op, axes=axes)
            t.add(dtype, [("src", src)], [("dst", dtype, expected.squeeze(tuple(axes)), None if bound is None else
                                           bound.squeeze(tuple(axes)))], op=op, axes=axes, keepdims=False)


def argreduce(t):
    for dtype, src, axis in reduced(t):
        for is_min in (False, True):
            line = np.moveaxis(src, axis, -1)
            find = np.argmin if is_min else np.argmax
            first = np.expand_dims(find(line, -1), axis).astype(np.int64)
            last = np.expand_dims(src.shape[axis] - 1 - find(line[..., ::-1], -1), axis).astype(np.int64)
            t.add(dtype, [("src", src)], [("dst", "TL_INT64", first, None)], axis=axis, is_min=is_min)
            t.add(dtype, [("src", src)], [("dst", "TL_INT64", last, None)], axis=axis, is_min=is_min, is_last=True)


def cumulate(t):
    for dtype, edged, axis in reduced(t):
        if dtype == "TL_BOOL":
            continue
        src = t.values(dtype, *edged.shape)
        wide = src.astype(np.float64) if dtype in FLT else src
        expected = np.cumsum(wide, axis, dtype=wide.dtype)
        bound = tolerance(dtype, np.cumsum(np.abs(wide), axis), src.shape[axis]) if dtype in FLT else None
        expected = rounded(dtype, expected) if dtype in FLT else expected
        t.add(dtype, [("src", src)], [("dst", dtype, expected, bound)], axis=axis)


def topk(t):
    for dtype, src, axis in reduced(t):
        k = (src.shape[axis] + 1) // 2
        for is_smallest in (False, True):
            key = src.astype(np.float64) if dtype in FLT else src.astype(object)
            lines = np.moveaxis(key, axis, -1)
            order = np.empty(lines.shape, np.int64)
            for at in np.ndindex(lines.shape[:-1]):
                sign = 1 if is_smallest else -1
                order[at] = sorted(range(len(lines[at])),
                                   key=lambda i, v=lines[at]: (sign * (v[i] != v[i]), sign * v[i] if v[i] == v[i] else 0, i))
            indices = np.moveaxis(order[..., :k], -1, axis)
            t.add(dtype, [("src", src)], [("values", dtype, np.take_along_axis(src, indices, axis), None),
                                          ("indices", "TL_INT64", indices, None)], axis=axis, k=k, is_smallest=is_smallest)


def matmul(t):
    for dtype in NUM:
        for shape1, shape2 in (((1, 1), (1, 1)), ((3, 5), (5, 7)), ((2, 1, 5, 3), (4, 3, 1)), ((1, 9), (9, 130)),
                               ((65, 7), (7, 3))):
            src1, src2 = t.values(dtype, *shape1), t.values(dtype, *shape2)
            bias = t.values(dtype, shape2[-1])
            wide = [a.astype(np.float64) if dtype in FLT else a for a in (src1, src2, bias)]
            expected = np.matmul(wide[0], wide[1]) + wide[2]
            bound = None
            if dtype in FLT:
                magnitude = np.matmul(np.abs(wide[0]), np.abs(wide[1])) + np.abs(wide[2])
                expected, bound = rounded(dtype, expected), tolerance(dtype, magnitude, 2 * shape2[-2])
            for trans1, trans2 in ((False, False), (True, True)):
                ins = [a.swapaxes(-1, -2).copy() if trans1 else a for a in (src1, src2)]
                t.add(dtype, [("src1", ins[0]), ("src2", ins[1]), ("bias", bias)], [("dst", dtype, expected, bound)],
                      trans1=trans1, trans2=trans2)


def layernorm(t):
    for dtype in FLT:
        for shape in ((7,), (3, 5), (2, 3, 33), (2, 1, 4, 9)):
            src, axis = t.values(dtype, *shape), len(shape) - 1
            scale, bias = t.values(dtype, shape[-1]), t.values(dtype, shape[-1])
            wide = src.astype(np.float64)
            unit = (wide - wide.mean(axis, keepdims=True)) / np.sqrt(wide.var(axis, keepdims=True) + 0.25)
            expected = unit * scale + bias
            # The difference to the mean cancels: at most some ten roundings of numbers up to 4.
            bound = tolerance(dtype, np.abs(expected) + np.abs(bias) + 4 * np.abs(scale), 10)
            t.add(dtype, [("src", src), ("scale", scale), ("bias", bias)], [("dst", dtype, rounded(dtype, expected), bound)],
                  axis=axis, epsilon=0.25)


def logsoftmax(t):
    for dtype in FLT:
        for shape in (*shapes(t.rng), (1,), (131,), (3, 17, 2)):
            for axis in {0, len(shape) - 1}:
                src = t.values(dtype, *shape, scale=20)
                wide = src.astype(np.float64)
                value = wide - wide.max(axis, keepdims=True)
                value = value - np.log(np.exp(value).sum(axis, keepdims=True))
                bound = tolerance(dtype, np.abs(value) + 1, shape[axis] + 200)
                t.add(dtype, [("src", src)], [("dst", dtype, rounded(dtype, value), bound)], axis=axis)


def pick1d(t):
    for dtype in ALL:
        for groups, stride, length in ((1, 1, 1), (7, 1, 5), (5, 3, 11), (13, 17, 4)):
            src = t.values(dtype, groups * stride, edged=True)
            index = t.rng.integers(0, groups, length + 2).astype(np.int32)
            index[length:] = -1   # beyond `len` nothing is looked at
            t.add(dtype, [("src", src), ("src_index", ("TL_INT32", index))],
                  [("dst", dtype, f.pick1d(src, index, length, stride), None)], len=length, stride=stride)


def rearange(t):
    for dtype in NUM:
        expected = f.arange(dtype, 0.5, 40, 1.75)
        t.add(dtype, [("src", t.values(dtype, *expected.shape))], [("dst", dtype, expected, None)], start=0.5,
              stop=40, step=1.75)


def relu(t):
    elementwise(t, ALL, lambda dtype, src: f.relu(src))


def reshape(t):
    for dtype in ALL:
        for dims in ([24], [2, 12], [3, 1, 8], [4, 3, 2, 1], [1, 1, 2, 2, 6], [2, 1, 3, 1, 4, 1],
                     [1, 2, 2, 1, 3, 2, 1], [1, 2, 1, 2, 1, 2, 1, 3]):
            src = t.values(dtype, 2, 3, 4, edged=True)
            t.add(dtype, [("src", src)], [("dst", dtype, src.reshape(dims), None)], dims=dims)


RESIZES = (((1,), (1,)), ((4,), (2,)), ((3,), (5,)), ((2,), (1,)), ((1,), (7,)), ((5, 7), (7, 5)), ((4, 6), (2, 3)),
           ((2, 3, 5), (4, 3, 2)), ((1, 2, 5, 7), (1, 2, 10, 14)), ((2, 3, 5, 3), (2, 3, 7, 11)),
           ((1, 2, 1, 2, 1, 3, 1, 2), (1, 1, 2, 3, 1, 2, 1, 3)))


def resampled(dtype, mode, src, dims):
    """The result and its bound; integers whose exact value lies on the edge of rounding may fall either way."""
    if mode == "TL_NEAREST":
        return f.nearest(src, dims), None
    exact = f.linear(src, dims)
    if dtype in FLT:
        magnitude = f.linear(np.abs(src), dims)
        return rounded(dtype, exact.astype(np.float64)), tolerance(dtype, magnitude, 2 * len(dims))
    error = f.linear(np.abs(src.astype(np.longdouble)), dims) * 2.0**-50
    low, high = (f.whole_half_away(dtype, exact + sign * error) for sign in (-1, 1))
    expected = f.whole_half_away(dtype, exact)
    away = np.maximum(expected.astype(np.longdouble) - low, high.astype(np.longdouble) - expected)
    return expected, away


def resize(t):
    for mode, dtypes in (("TL_NEAREST", ALL), ("TL_LINEAR", NUM)):
        for dtype in dtypes:
            for shape, dims in RESIZES:
                src = t.values(dtype, *shape, edged=dtype not in FLT or mode == "TL_NEAREST")
                expected, bound = resampled(dtype, mode, src, dims)
                t.add(dtype, [("src", src)], [("dst", dtype, expected, bound)], mode=mode, dims=list(dims))


def scatter(t):
    for dtype in ALL:
        for shape in shapes(t.rng, 2):
            src = t.values(dtype, *shape, edged=True)
            outs = [(f"dst{shape[0] - k}", dtype, part, None) for k, part in enumerate(src)]
            t.add(dtype, [("src", src)], outs)


def sigmoid(t):
    elementwise(t, FLT, lambda dtype, src: rounded(dtype, f.logistic(src.astype(np.float64))), tolerance)
    for dtype in FLT:
        src = rounded(dtype, np.linspace(-100, 100, 211))
        expected = rounded(dtype, f.logistic(src.astype(np.float64)))
        # exp is wrong by its argument's rounding too: up to 100 of its units; where it leaves the range of the type
        # that computes, 0 is accepted for values below the smallest normal number.
        least = 0 if dtype == "TL_DOUBLE" else 2.0**-126
        t.add(dtype, [("src", src)], [("dst", dtype, expected, tolerance(dtype, expected, 100) + least)])


def slice_(t):
    for dtype in ALL:
        for shape in shapes(t.rng):
            for axis in {0, len(shape) - 1, len(shape) // 2}:
                start = int(t.rng.integers(0, shape[axis]))
                length = int(t.rng.integers(1, shape[axis] - start + 1))
                src = t.values(dtype, *shape, edged=True)
                t.add(dtype, [("src", src)], [("dst", dtype, src.take(range(start, start + length), axis), None)],
                      axis=axis, start=start, len=length)


def softmax(t):
    for dtype in FLT:
        for shape in (*shapes(t.rng), (1,), (131,), (3, 17, 2), (5, 1)):
            for axis in {0, len(shape) - 1, len(shape) // 2}:
                src = t.values(dtype, *shape, scale=20)
                src.ravel()[0] = -np.inf if shape[axis] > 1 else 0
                value = f.softmax(src, axis)
                # exp is wrong by its argument's rounding too: up to 200 of its units.
                bound = tolerance(dtype, value, shape[axis] + 200)
                t.add(dtype, [("src", src)], [("dst", dtype, rounded(dtype, value), bound)], axis=axis)


DIRECTIONS = ("TL_SORT_DIR_ASCENDING", "TL_SORT_DIR_DESCENDING")


def sort1d(t):
    for dtype in ALL:
        for n in (1, 2, 3, 17, 101):
            for direction in DIRECTIONS:
                src = t.values(dtype, n, edged=True)
                t.add(dtype, [("src_key", src)],
                      [("dst_key", dtype, src[f.sorted_order(src, direction)], None)], dir=direction)


def sort1d_by_key(t):
    for dtype in ALL:
        for n in (1, 2, 3, 17, 101):
            for direction in DIRECTIONS:
                src, values = t.values(dtype, n, edged=True), t.values("TL_INT32", n)
                order = f.sorted_order(src, direction)
                t.add(dtype, [("src_key", src), ("src_val", ("TL_INT32", values))],
                      [("dst_key", dtype, src[order], None), ("dst_val", "TL_INT32", values[order], None)],
                      dir=direction)


def submean(t):
    for source in NUM:
        for dtype in NUM:
            # The catalogue does not specify values beyond a 16-bit float.
            narrow = dtype in ("TL_FLOAT16", "TL_BFLOAT16")
            src = t.values(source, 2, 5, 3, scale=300, edged=not narrow)
            if narrow and source in INT:
                src = (src % NUMPY[source](100)).astype(NUMPY[source])
            mean = [103.939, -0.5, 0]
            expected = f.submean(dtype, src, mean)
            # Those are rounded to float first, or not.
            bound = tolerance(dtype, np.abs(expected.astype(np.float64))) if narrow else None
            t.add(source, [("src", src)], [("dst", dtype, expected, bound)], f"from {source}", mean=mean, dtype=dtype)


def transform_bbox(t):
    for shape in ((1, 1, 1, 1, 4), (2, 3, 5, 7, 4), (1, 9, 2, 1, 4)):
        delta = t.values("TL_FLOAT", *shape, scale=0.8)
        anchor = np.abs(t.values("TL_FLOAT", *shape, scale=100))
        params = {"width": 320, "height": 241, "img_width": 641, "img_height": 479, "x_shift": -7, "y_shift": 5}
        value, magnitude = f.transform_bbox_sum(delta, anchor, **params)
        t.add("TL_FLOAT", [("src_delta", delta), ("src_anchor", anchor)],
              [("dst", "TL_FLOAT", rounded("TL_FLOAT", value), tolerance("TL_FLOAT", magnitude, 8))], **params)


def transpose(t):
    for dtype in ALL:
        for shape in (*shapes(t.rng), *shapes(t.rng, 2), (37, 29), (3, 19, 23)):
            axes = [int(a) for a in t.rng.permutation(len(shape))]
            src = t.values(dtype, *shape, edged=True)
            t.add(dtype, [("src", src)], [("dst", dtype, np.ascontiguousarray(src.transpose(axes)), None)], axes=axes)


def upsample(t):
    for mode, dtypes in (("TL_NEAREST", ALL), ("TL_LINEAR", NUM)):
        for dtype in dtypes:
            for shape, scales in (((3,), [2]), ((1, 2, 5, 7), [1, 1, 2, 3]), ((5, 7), [0.5, 1.3]),
                                  ((3, 10), [0.4, 0.1])):
                src = t.values(dtype, *shape)
                dims = [int(np.floor(s * n)) for s, n in zip(scales, shape)]
                expected, bound = resampled(dtype, mode, src, dims)
                t.add(dtype, [("src", src)], [("dst", dtype, expected, bound)], mode=mode, scales=scales)


def zeros(t):
    for dtype in ALL:
        for shape in shapes(t.rng):
            t.add(dtype, [], [("dst", dtype, np.zeros(shape, NUMPY[dtype]), None)], dtype=dtype, dims=list(shape))


OPERATORS = {
    "arange": arange, "argreduce": argreduce, "avgpool2d": avgpool2d, "batchnorm": batchnorm, "concat": concat,
    "conv2d": conv2d, "create": create, "cumulate": cumulate, "deconv2d": deconv2d, "detect_yolov3": detect_yolov3,
    "dot_product": dot_product, "elew": elew, "forward": forward, "gather": gather, "layernorm": layernorm,
    "logsoftmax": logsoftmax, "lrelu": lrelu, "matmul": matmul, "maxpool2d": maxpool2d, "maxreduce": maxreduce,
    "maxreduce_arg": maxreduce_arg, "pick1d": pick1d, "rearange": rearange, "reduce": reduce, "relu": relu,
    "reshape": reshape, "resize": resize, "scatter": scatter, "sigmoid": sigmoid, "slice": slice_, "softmax": softmax, "sort1d": sort1d,
    "sort1d_by_key": sort1d_by_key, "submean": submean, "topk": topk, "transform_bboxSQD": transform_bbox, "transpose": transpose,
    "upsample": upsample, "zeros": zeros,
}


# Operators that exist for the CPU only (section 7), in models that name the CPU's operators


def bn2scale_wts(t):
    for n in (1, 3, 17):
        mean, scale, offset = (t.values("TL_FLOAT", n) for _ in range(3))
        var = np.abs(t.values("TL_FLOAT", n)) + np.float32(0.1)
        factor = scale.astype(np.float64) / np.sqrt(var.astype(np.float64) + float(np.float32(0.01)))
        magnitude = np.abs(offset) + np.abs(mean * factor)
        t.add("TL_FLOAT", [("src_mean", mean), ("src_var", var), ("src_scale", scale), ("src_offset", offset)],
              [("dst_scale", "TL_FLOAT", rounded("TL_FLOAT", factor), tolerance("TL_FLOAT", np.abs(factor))),
               ("dst_shift", "TL_FLOAT", rounded("TL_FLOAT", offset - mean * factor), tolerance("TL_FLOAT", magnitude)),
               ("dst_power", "TL_FLOAT", np.ones(n, np.float32), None)], epsilon=0.01)


def gather_nocopy(t):
    for dtype in ALL:
        model = t.model(dtype)
        for n in (1, 2, 5):
            parts = [t.values(dtype, 3, 5) for _ in range(n)]
            made = [(f"src{k}", model.op("relu", [("src", model.create(dtype, part))])[0])
                    for k, part in enumerate(parts)]
            whole, = model.op("gather_nocopy", made)
            model.expect(whole, dtype, f.relu(np.stack(parts)), None, f"{n} parts")


def scatter_nocopy(t):
    for dtype in ALL:
        model = t.model(dtype)
        for n in (1, 2, 5):
            src = t.values(dtype, n, 3, 5)
            made, = model.op("relu", [("src", model.create(dtype, src))])
            for part, values in zip(model.op("scatter_nocopy", [("src", made)], [f"dst{k}" for k in range(n)]), src):
                model.expect(part, dtype, f.relu(values), None, f"{n} parts")


CONCRETE = {"bn2scale_wts": bn2scale_wts, "gather_nocopy": gather_nocopy, "scatter_nocopy": scatter_nocopy}


# Text


def printing_faults(lightnet, folder, rng):
    """Every dtype and number of axes, by print and fprint; the values have no more digits than are printed."""
    model, printed, files = Model(), "", {}
    for turn, dtype in enumerate(ALL):
        for shape in ((2, 2, 1, 2), *[s for k, s in enumerate(shapes(rng)) if k % 4 == turn % 4]):
            values = random_values(rng, dtype, shape)
            if dtype in FLT:
                values = rounded(dtype, np.round(values.astype(np.float64) * 8) / 8 + 0.0)
            src, msg = model.create(dtype, values), f"tensor {len(files)}"
            path = os.path.join(folder, f"{len(files)}.txt")
            model.op("print", [("src", src)], [], msg=msg)
            model.op("fprint", [("src", src)], [], msg=msg, file=path)
            printed += f"{msg}\n{f.text_of(dtype, values)}"
            files[path] = f"{msg}\n{f.text_of(dtype, values)}"
    faults = model.check(lightnet, os.path.join(folder, "print"), 0, 0, ["--allow-output", folder])
    if not model.printed.startswith(printed):
        faults += ["print gives:", *model.printed.splitlines()[:40], "expected:", *printed.splitlines()[:40]]
    for path, text in files.items():
        with open(path, encoding="utf-8") as file:
            got = file.read()
        faults += [] if got == text else [f"fprint gives:\n{got}expected:\n{text}"]
    return faults


def main():
    lightnet, only = os.path.abspath(sys.argv[1]), sys.argv[2:]
    tap = Tap()
    print(f"# seed {SEED}")
    with tempfile.TemporaryDirectory() as folder:
        for k, (optype, cases) in enumerate({**OPERATORS, **CONCRETE}.items()):
            if only and optype not in only:
                continue
            t = Cases(optype, np.random.default_rng([SEED, k]), "_cpu" if optype in CONCRETE else "")
            cases(t)
            tap.check(f"{optype} gives what the catalogue says", t.check(lightnet, folder)[:20])
        if not only or "print" in only:
            tap.check("print and fprint write the text that the catalogue describes",
                      printing_faults(lightnet, folder, np.random.default_rng(SEED))[:20])
    tap.end()


if __name__ == "__main__":
    main()
