#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: contrib_fused.py LIGHTNET. Fused operators and normalizations of ONNX Runtime's domain com.microsoft, and dropped ones
of ONNX, agree with formulas in double precision."""
import math
import os
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import CONTRIB, FLOATS, check_kinds, check_rejected, contrib, one_node, ranged_faults_of
from onnx_writer import node
from tap import Tap

# Sums of a few dozen numbers around 1, in the precision of the type, and functions of the C library.
TOLERANCE = {"float": 2e-5, "double": 1e-9, "float16": 6e-3}
F32 = np.float32
rng = np.random.default_rng(20261126)
erf = np.vectorize(math.erf, otypes=[float])


def real(*dims, kind="float", low=-2.0, high=2.0):
    return rng.uniform(low, high, dims).astype(FLOATS[kind])


def wide(*arrays):
    return [None if array is None else array.astype(float) for array in arrays]


def like(kind, *arrays):
    """The arrays in a type, or None; of one: the array itself."""
    cast = [None if array is None else np.asarray(array).astype(FLOATS[kind]) for array in arrays]
    return cast if len(cast) > 1 else cast[0]


# ---- functions ----

def gelu(x):
    return x * 0.5 * (1 + erf(x / math.sqrt(2)))


def fast_gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# name: (function of x and parameters, parameters)
ACTIVATIONS = {
    "Relu": (lambda x: np.maximum(x, 0), []), "Tanh": (np.tanh, []), "Sigmoid": (sigmoid, []),
    "LeakyRelu": (lambda x, a: np.where(x < 0, a * x, x), [0.25]), "Clip": (np.clip, [-0.5, 1.5]),
    "HardSigmoid": (lambda x, a, b: np.clip(a * x + b, 0, 1), [0.3, 0.4]),
    "Elu": (lambda x, a: np.where(x < 0, a * (np.exp(x) - 1), x), [0.75]),
    "Selu": (lambda x, a, g: g * np.where(x < 0, a * (np.exp(x) - 1), x), [1.5, 1.25]),
    "Softplus": (lambda x: np.log1p(np.exp(x)), []), "Softsign": (lambda x: x / (1 + np.abs(x)), []),
    "ThresholdedRelu": (lambda x, a: np.where(x > a, x, 0), [0.5]),
}


def of_activation(name):
    """As attributes of their own."""
    second = "activation_gamma" if name == "Selu" else "activation_beta"
    return {"activation": name} | dict(zip(["activation_alpha", second], ACTIVATIONS[name][1]))


# ---- products ----

def products():
    for kind in FLOATS:
        for dims_a, dims_b, trans_a, trans_b in (((2, 3), (3, 4), 0, 0), ((3, 2), (3, 4), 1, 0), ((2, 3), (4, 3), 0, 1),
                                                 ((2, 5, 7, 3), (3, 4), 0, 0), ((5, 3, 7), (2, 5, 4, 3), 1, 1),
                                                 ((3,), (3, 4), 1, 0), ((2, 3), (3,), 0, 1), ((0, 3), (3, 4), 0, 0)):
            a, b = real(*dims_a, kind=kind), real(*dims_b, kind=kind)
            x, y = (v.swapaxes(-1, -2) if turned and v.ndim > 1 else v for v, turned in zip(wide(a, b), (trans_a, trans_b)))
            for op_type in ("FusedMatMul", "TransposeMatMul"):
                yield contrib(f"{kind}, {dims_a} x {dims_b}, {trans_a}, {trans_b}", op_type, [a, b], like(kind, 0.5 * (x @ y)),
                              alpha=0.5, transA=trans_a, transB=trans_b)
    a, b = real(4, 2, 5, 3), real(3, 2, 5, 6)
    yield contrib("batches moved on the left", "FusedMatMul", [a, b[:, 0, 0].copy()],
                  like("float", wide(a)[0].transpose(1, 2, 0, 3) @ wide(b)[0][:, 0, 0]), transBatchA=1)
    yield contrib("batches moved on the right", "FusedMatMul", [real_a := real(2, 5, 4, 3), b],
                  like("float", wide(real_a)[0] @ wide(b)[0].transpose(1, 2, 0, 3)), transBatchB=1)
    yield contrib("batches moved on both sides, and transposed", "FusedMatMul", [a := real(3, 2, 5, 4), b := real(6, 2, 5, 3)],
                  like("float", wide(a)[0].transpose(1, 2, 3, 0) @ wide(b)[0].transpose(1, 2, 3, 0)),
                  transBatchA=1, transBatchB=1, transA=1, transB=1)


def products_with_activations():
    a, b, c = real(5, 3), real(3, 4), real(4)
    for name, (func, params) in ACTIVATIONS.items():
        x, y, z = wide(a, b, c)
        yield contrib(name, "FusedGemm", [a, b, c], like("float", func(x @ y * 0.5 + 2 * z, *params)), alpha=0.5, beta=2.0,
                      **of_activation(name))
        yield contrib(name, "FusedMatMulActivation", [a, b], like("float", func(x @ y, *params)), **of_activation(name))
    a, b, c = like("float16", a, b, c)
    yield contrib("float16", "FusedGemm", [a.T.copy(), b.T.copy(), c], like("float16",
            np.maximum(wide(a)[0] @ wide(b)[0] + wide(c)[0], 0)),
                  transA=1, transB=1, activation="Relu")
    yield contrib("without activation or C", "FusedGemm", [a, b], like("float16", wide(a)[0] @ wide(b)[0]))
    yield contrib("a vector", "FusedMatMulActivation", [a[0], b], like("float16", np.tanh(wide(a)[0][0] @ wide(b)[0])),
                  activation="Tanh")


# ---- convolutions ----

def convolved(x, w, bias, stride=1, pad=0, group=1):
    """[N, C, H, W] by [M, C / group, K, L], plain sums."""
    x = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    views = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))[:, :, ::stride, ::stride]
    m, c = w.shape[0] // group, w.shape[1]
    y = np.concatenate([np.einsum("nchwij,ocij->nohw", views[:, g * c:(g + 1) * c], w[g * m:(g + 1) * m]) for g in range(group)],
                       1)
    return y + (0 if bias is None else bias.reshape(1, -1, 1, 1))


def convolutions():
    for kind in ("float", "float16"):
        x, w, bias = real(2, 4, 7, 5, kind=kind), real(6, 2, 3, 3, kind=kind, low=-0.5, high=0.5), real(6, kind=kind)
        y = convolved(*wide(x, w, bias), stride=2, pad=1, group=2)
        z, how = real(*y.shape, kind=kind), dict(strides=[2, 2], pads=[1, 1, 1, 1], group=2)
        for name in ("Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid"):
            func, params = ACTIVATIONS[name]
            yield contrib(f"{kind}, {name}", "FusedConv", [x, w, bias], like(kind, func(y, *params)), const=(1, 2),
                          activation=name, **({"activation_params": params} if params else {}), **how)
            yield contrib(f"{kind}, {name} of a sum", "FusedConv", [x, w, bias, z], like(kind, func(y + wide(z)[0], *params)),
                          activation=name, **({"activation_params": params} if params else {}), **how)
        yield contrib(f"{kind}, a sum", "FusedConv", [x, w, None, z], like(kind,
                y - wide(bias)[0].reshape(1, -1, 1, 1) + wide(z)[0]), **how)
        yield contrib(f"{kind}, no activation", "FusedConv", [x, w, bias], like(kind, y), **how)
        last = [np.ascontiguousarray(v.transpose(0, 2, 3, 1)) for v in (x, z)]
        yield contrib(f"{kind}", "NhwcConv", [last[0], w, bias], like(kind, y.transpose(0, 2, 3, 1)), **how)
        yield contrib(f"{kind}", "NhwcFusedConv", [last[0], w, bias, last[1]],
                      like(kind, np.maximum(y + wide(z)[0], 0).transpose(0, 2, 3, 1)), activation="Relu", **how)
    x, w = real(2, 3, 9), real(4, 3, 3)
    y = convolved(*(v[:, :, None] for v in wide(x, w)), None)[:, :, 0]
    yield contrib("one axis", "FusedConv", [x, w], like("float", np.maximum(y, 0)), activation="Relu")


# ---- functions of elements ----

def functions():
    for kind in FLOATS:
        for dims in ((3, 5, 7), (0, 4), (6,)):
            x, bias = real(*dims, kind=kind, low=-5, high=5), real(dims[-1], kind=kind)
            both = wide(x)[0] + wide(bias)[0]
            yield contrib(f"{kind} {dims}", "Gelu", [x], like(kind, gelu(wide(x)[0])))
            yield contrib(f"{kind} {dims}", "BiasGelu", [x, bias], like(kind, gelu(both)))
            yield contrib(f"{kind} {dims}", "FastGelu", [x], like(kind, fast_gelu(wide(x)[0])))
            yield contrib(f"{kind} {dims} with bias", "FastGelu", [x, bias], like(kind, fast_gelu(both)))
            for alpha in (float(F32(1.702)), -0.5):
                yield contrib(f"{kind} {dims}, {alpha}", "QuickGelu", [x], like(kind, wide(x)[0] * sigmoid(alpha * wide(x)[0])),
                              **({} if alpha > 0 else {"alpha": alpha}))
        x, bias, skip = real(2, 3, 8, kind=kind), real(8, kind=kind), real(2, 3, 8, kind=kind)
        both = wide(x)[0] + wide(bias)[0]
        yield contrib(kind, "BiasAdd", [x, bias, skip], like(kind, both + wide(skip)[0]))
        yield contrib(kind, "BiasSplitGelu", [x, bias], like(kind, both[..., :4] * gelu(both[..., 4:])))
        w, b = real(8, 5, kind=kind), real(5, kind=kind)
        yield contrib(kind, "GemmFastGelu", [x, w, b], like(kind, fast_gelu(wide(x)[0] @ wide(w)[0] + wide(b)[0])))
        yield contrib(f"{kind} without bias", "GemmFastGelu", [x, w], like(kind, fast_gelu(wide(x)[0] @ wide(w)[0])))
        yield contrib(f"{kind}, a vector", "GemmFastGelu", [x[0, 0], w, b],
                      like(kind, fast_gelu(wide(x)[0][0, 0] @ wide(w)[0] + wide(b)[0])))
        scores = real(2, 3, 4, 5, kind=kind)
        for axis, inner, dims in ((3, 1, (2, 1, 1, 5)), (-1, 0, (1, 1, 4, 5)), (2, 0, (4, 5)), (1, 0, (3, 4, 5))):
            mask = real(*dims, kind=kind)
            whole = sum(wide(scores, mask))
            flat = softmax(whole.reshape(*whole.shape[:axis % 4], -1)).reshape(whole.shape)
            yield contrib(f"{kind}, axis {axis}, mask {dims}", "BiasSoftmax", [scores, mask], like(kind, flat), axis=axis,
                          is_inner_broadcast=inner)


# ---- like ONNX's own ----

def like_the_standard():
    x = real(3, 4)
    for axis, at in ((0, 0), (2, 2), (-1, 2), (-3, 0)):
        yield contrib(f"axis {axis}", "ExpandDims", [x, np.int32(axis)], np.expand_dims(x, at), const=(1,))
    yield contrib("without elements", "ExpandDims", [x[:0], np.int32(1)], x[:0][:, None], const=(1,))
    yield contrib("upper", "Trilu", [x, np.int64(1)], np.triu(x, 1))
    yield contrib("lower", "Trilu", [x], np.tril(x), upper=0)
    yield contrib("with a step", "Range", [F32(1), F32(8), F32(2.5)], F32([1, 3.5, 6]), const=(0, 1, 2))
    yield contrib("without a step", "Range", [np.int64(-2), np.int64(3)], np.arange(-2, 3), const=(0, 1))
    yield contrib("down", "Range", [np.int32(3), np.int32(-4), np.int32(-3)], np.int32([3, 0, -3]), const=(0, 1, 2))
    yield contrib("a value", "Pad", [x, np.int64([1, 0, 0, 2]), F32(7)], np.pad(x, [(1, 0), (0, 2)], constant_values=7), const=(1,
            ))
    yield contrib("edges", "Pad", [x, np.int64([1, 0, 0, 2])], np.pad(x, [(1, 0), (0, 2)], "edge"), const=(1,), mode="edge")
    yield contrib("less", "Pad", [x, np.int64([-1, 0, 0, -2])], x[1:, :2], const=(1,))
    yield contrib("all outputs", "Unique", [F32([2, 1, 1, 3, 4, 3])], [F32([2, 1, 3, 4]), np.int64([0, 1, 1, 2, 3, 2]),
            np.int64([1, 2, 2, 1])])
    yield contrib("the elements", "Unique", [F32([5, 5, 4])], F32([5, 4]))
    yield contrib("counts", "Unique", [F32([5, 5, 4])], [F32([5, 4]), None, np.int64([2, 1])])
    yield contrib("rows", "GatherND", [x, np.int64([[2], [0]])], x[[2, 0]])
    yield contrib("elements", "GatherND", [x, np.int64([[2, 1], [0, 3]])], x[[2, 0], [1, 3]])
    yield contrib("rows", "TorchEmbedding", [x, np.int64([[2, 0, 1], [0, 0, 2]]), np.int64(0)], x[[[2, 0, 1], [0, 0, 2]]])
    for dtype in (np.float32, np.float16, np.float64, np.int8, np.int64, np.uint16):
        y = rng.integers(0, 99, (2, 7, 5)).astype(dtype)
        for dim, size, step in ((-1, 3, 1), (1, 2, 2), (0, 2, 1), (1, 7, 3), (-2, 1, 4)):
            windows = np.lib.stride_tricks.sliding_window_view(y, size, dim)
            wanted = windows.take(range(0, windows.shape[dim % 3], step), dim % 3)
            yield contrib(f"{np.dtype(dtype).name}, {size} along {dim} by {step}", "UnfoldTensor", [y], wanted, dim=dim, size=size,
                          step=step)
    yield contrib("one window of all", "UnfoldTensor", [x], x[:, None], size=4)
    image = real(1, 2, 3, 4)
    at = np.stack(np.meshgrid(np.linspace(-1, 1, 4), np.linspace(-1, 1, 3)), -1)[None].astype(F32)
    yield contrib("the pixels themselves", "GridSample", [image, at], image, align_corners=1)


# ---- normalizations ----

def normalized(x, scale, bias, epsilon, axis=-1):
    axes = tuple(range(axis % x.ndim, x.ndim))
    d = x - x.mean(axes, keepdims=True)
    return d / np.sqrt((d * d).mean(axes, keepdims=True) + epsilon) * scale + bias


def statistics(x, epsilon, axis=-1):
    axes = tuple(range(axis % x.ndim, x.ndim))
    return x.mean(axes, keepdims=True), 1 / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def inverse_rms(x, epsilon, axis=-1):
    axes = tuple(range(axis % x.ndim, x.ndim))
    return 1 / np.sqrt((x * x).mean(axes, keepdims=True) + epsilon)


def layers():
    """In ONNX's own domain, in opsets that do not have them."""
    for kind in ("float", "float16", "double"):
        for axis in (-1, 1):
            x = real(2, 3, 6, kind=kind)
            scale, bias = (real(*x.shape[axis:], kind=kind) for _ in range(2))
            a, s, b = wide(x, scale, bias)
            stats = like("float", *statistics(a, 1e-3, axis))
            yield one_node(f"{kind}, axis {axis}", "LayerNormalization", [x, scale, bias],
                           [like(kind, normalized(a, s, b, 1e-3, axis)), *([None, None] if kind == "double" else stats)], 11,
                           axis=axis, epsilon=1e-3)
            yield one_node(f"{kind}, axis {axis}, no bias", "LayerNormalization", [x, scale], like(kind,
                    normalized(a, s, 0, 1e-5, axis)),
                           16, axis=axis)
            inverse = inverse_rms(a, 1e-3, axis)
            yield one_node(f"{kind}, axis {axis}", "SimplifiedLayerNormalization", [x, scale],
                           [like(kind, a * inverse * s), None if kind == "double" else like("float", inverse)], 14, axis=axis,
                           epsilon=1e-3)
    x, scale = real(2, 5, kind="float16"), real(5)
    yield one_node("float16 with a scale of floats, the type of the result", "SimplifiedLayerNormalization", [x, scale],
                   like("float", wide(x)[0] * inverse_rms(wide(x)[0], 1e-5) * scale), 17, stash_type=1)
    yield one_node("no elements", "SimplifiedLayerNormalization", [x[:0], scale.astype(np.float16)], x[:0], 17)


def skips():
    for kind in ("float", "float16"):
        for dims, skip_dims in (((2, 3, 6), (2, 3, 6)), ((2, 3, 6), (1, 3, 6)), ((2, 3, 6), (3, 6)), ((4, 7), (4, 7)), ((0, 3, 6),
                (0, 3, 6))):
            x, skip = real(*dims, kind=kind), real(*skip_dims, kind=kind)
            scale, beta, bias = (real(dims[-1], kind=kind) for _ in range(3))
            a, t, s, b, c = wide(x, skip, scale, beta, bias)
            total = a + t + c
            what = f"{kind} {dims} + {skip_dims}"
            stats = statistics(total, 1e-5) if total.size else [None, None]
            yield contrib(what, "SkipLayerNormalization", [x, skip, scale, beta, bias],
                          [like(kind, normalized(total, s, b, 1e-5)), *like("float", *stats), like(kind, total)], epsilon=1e-5)
            yield contrib(f"{what}, neither beta nor bias", "SkipLayerNormalization", [x, skip, scale],
                          like(kind, normalized(a + t, s, 0, 1e-12)))
            yield contrib(f"{what}, a bias without beta", "SkipLayerNormalization", [x, skip, scale, None, bias],
                          [like(kind, normalized(total, s, 0, 1e-12)), None, None, like(kind, total)])
            yield contrib(what, "SkipSimplifiedLayerNormalization", [x, skip, scale, bias],
                          [like(kind, total * inverse_rms(total, 1e-5) * s), None, like("float",
                                  inverse_rms(total, 1e-5)) if total.size else None,
                           like(kind, total)], epsilon=1e-5)
            yield contrib(f"{what}, no bias", "SkipSimplifiedLayerNormalization", [x, skip, scale],
                          [like(kind, (a + t) * inverse_rms(a + t, 1e-12) * s), None, None, like(kind, a + t)])
            unread = contrib(f"{what}, an output 'mean' that nothing reads", "SkipSimplifiedLayerNormalization", [x, skip, scale],
                             [like(kind, (a + t) * inverse_rms(a + t, 1e-12) * s)])
            unread.nodes = [node("SkipSimplifiedLayerNormalization", ["x0", "x1", "x2"], ["y0", "mean", "inverse"], domain=CONTRIB)]
            yield unread


def embeddings():
    words, positions, segments = real(11, 6), real(9, 6), real(3, 6)
    scale, beta = real(6), real(6)
    ids = np.int32([[1, 10, 3, 0], [4, 4, 2, 7]])
    parts = np.int32([[0, 0, 1, 2], [1, 1, 0, 0]])
    mask = np.int32([[1, 1, 1, 0], [1, 1, 0, 0]])
    at = np.int32([[3, 2, 1, 0], [8, 0, 1, 2]])
    for kind in ("float", "float16"):
        tables = like(kind, words, positions, segments, scale, beta)
        w, p, s, g, b = wide(*tables)
        for sentence, order in (("no positions", None), ("positions", at), ("one row of positions", at[:1])):
            total = w[ids] + (p[:4] if order is None else p[order])
            given = [ids, parts, *tables, mask, *([] if order is None else [order])]
            yield contrib(f"{kind}, {sentence}", "EmbedLayerNormalization", given,
                          [like(kind, normalized(total + s[parts], g, b, 1e-5)), np.int32([3, 2]), like(kind, total + s[parts])],
                          const=(2, 3, 4, 5, 6), epsilon=1e-5)
            given[1] = given[4] = given[7] = None
            yield contrib(f"{kind}, {sentence}, neither segments nor mask", "EmbedLayerNormalization", given,
                          [like(kind, normalized(total, g, b, 1e-12)), np.int32([0, 0])])


def quantized_embeddings():
    ids = np.int32([[1, 10, 3, 0], [4, 4, 2, 7]])
    parts, mask = np.int32([[0, 0, 1, 2], [1, 1, 0, 0]]), np.int32([[1, 1, 1, 0], [1, 1, 0, 0]])
    for dtype in (np.int8, np.uint8):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        tables = [rng.integers(low, high + 1, dims).astype(dtype) for dims in ((11, 6), (9, 6), (3, 6), (6,), (6,))]
        scales = [F32(v) for v in (0.02, 0.01, 0.03, 0.005, 0.002)]
        zeros = [dtype(v) for v in (3, 0, 100, 7, 1)]
        w, p, s, g, b = ((t.astype(float) - float(z)) * float(c) for t, c, z in zip(tables, scales, zeros))
        what = np.dtype(dtype).name
        arrays = [ids, parts, *tables, mask, *scales, *zeros]
        yield contrib(what, "QEmbedLayerNormalization", arrays,
                      [like("float", normalized(w[ids] + p[:4] + s[parts], g, b, 1e-5)), np.int32([3, 2])],
                      const=range(2, 7), epsilon=1e-5)
        without = [None if i in (1, 4, 7, 10, 15) else array for i, array in enumerate(arrays)]
        yield contrib(f"{what}, neither segments nor mask", "QEmbedLayerNormalization", without,
                      [like("float", normalized(w[ids] + p[:4], g, b, 1e-12)), np.int32([0, 0])], const=(2, 3, 5, 6))


def groups_of(x, n, scale, bias, epsilon, act):
    """Channels last."""
    d = x.reshape(x.shape[0], -1, n, x.shape[-1] // n)
    d = d - d.mean((1, 3), keepdims=True)
    d = d / np.sqrt((d * d).mean((1, 3), keepdims=True) + epsilon)
    y = d.reshape(x.shape) * scale + bias
    return silu(y) if act else y


def groups():
    for kind in ("float", "float16"):
        for last in (1, 0):
            for act in (0, 1):
                x, skip = real(2, 3, 5, 6, kind=kind), real(2, 3, 5, 6, kind=kind)
                scale, beta, bias = real(6), real(6), real(6, kind=kind)
                a, t, c = wide(x, skip, bias)

                def turned(v):
                    return v if last else np.ascontiguousarray(v.transpose(0, 3, 1, 2))

                how = dict(groups=3, activation=act, epsilon=1e-3) | ({} if last else {"channels_last": 0})
                what = f"{kind}, channels {'last' if last else 'first'}, activation {act}"
                yield contrib(what, "GroupNorm", [turned(x), scale, beta], like(kind,
                        turned(groups_of(a, 3, scale, beta, 1e-3, act))), **how)
                for sentence, given, added in (("all", turned(skip), t), ("each", turned(skip[:, :1, :1]), t[:, :1, :1]),
                                               ("[N, C]", skip[:, 0, 0], t[:, :1, :1])):
                    total = a + added
                    yield contrib(f"{what}, skip of {sentence}", "SkipGroupNorm", [turned(x), scale, beta, given, bias],
                                  [like(kind, turned(groups_of(total + c, 3, scale, beta, 1e-3, act))), like(kind,
                                          turned(total + c))], **how)
                    yield contrib(f"{what}, skip of {sentence}, no bias", "SkipGroupNorm", [turned(x), scale, beta, given],
                                  like(kind, turned(groups_of(total, 3, scale, beta, 1e-3, act))), **how)


def ranged(steps):
    """Parts with their ranges: of a length that is known only at run time."""
    words, positions, scale, beta = real(11, 6), real(9, 6), real(6), real(6)
    for len_ in steps:
        x, ids = real(1, len_, 6), np.arange(2 * len_, dtype=np.int32).reshape(2, len_) % 11
        yield "x0=1x1..9x6", contrib("", "SkipLayerNormalization", [x, x, scale, beta],
                                     like("float", normalized(2.0 * x, scale, beta, 1e-12)), (2, 3))
        yield "x0=2x1..9", contrib("", "EmbedLayerNormalization", [ids, None, words, positions, None, scale, beta],
                                   like("float", normalized(words.astype(float)[ids] + positions[:len_], scale, beta, 1e-12)),
                                   (2, 3, 5, 6))
        yield "x0=1x1..9x6", contrib("", "BiasGelu", [x, scale], like("float", gelu(x.astype(float) + scale)), (1,))


KINDS = (products, products_with_activations, convolutions, functions, like_the_standard, layers, skips, embeddings,
         quantized_embeddings, groups)
X = real(2, 3)
IMAGE, WEIGHT = real(1, 2, 4, 4), real(3, 2, 3, 3)
LAST = np.ascontiguousarray(IMAGE.transpose(0, 2, 3, 1))
CUBE = real(2, 3, 6)

# Operator, inputs, attributes, and words of the message.
WRONG = [
    ("FusedMatMul", [X, X], {}, "shapes [2, 3] and [2, 3], expected [.., m, k] and [.., k, n]"),
    ("FusedMatMul", [X, X], {"transA": 2}, "attribute 'transA' is 2, expected 0 or 1"),
    ("FusedGemm", [X, X.T.copy()], {"activation": "Mish"}, "attribute 'activation' is \"Mish\", expected one of"),
    ("FusedMatMulActivation", [X, X.T.copy()], {}, "attribute 'activation' is missing"),
    ("FusedConv", [IMAGE, WEIGHT], {"activation": "Clip", "activation_params": [0.0]},
     "'activation_params' has 1 numbers, expected 2"),
    ("FusedConv", [IMAGE, WEIGHT], {"activation": "Relu", "activation_params": [0.5]},
     "'activation_params' has 1 numbers, expected 0"),
    ("FusedConv", [IMAGE, WEIGHT, None, IMAGE], {}, "input 3, 'Z', has shape [1, 2, 4, 4], expected [1, 3, 2, 2]"),
    ("NhwcFusedConv", [LAST, WEIGHT, None, LAST[:, 0, 0, :1].copy()], {},
     "input 3, 'Z', has shape [1, 1], expected [1, 2, 2, 3]"),
    ("MatMulFpQ4", [X], {}, "com.microsoft.MatMulFpQ4 (1 node; its numbers have a format that LightNet lacks)"),
    ("BiasGelu", [X], {}, "input 1 is missing"),
    ("FastGelu", [X, X], {}, "input 1, 'bias', has shape [2, 3], expected [3]"),
    ("BiasSplitGelu", [X, X[0]], {}, "a last axis of length 3, expected an even one"),
    ("BiasSoftmax", [X, X], {"axis": 1}, "attribute 'is_inner_broadcast' is missing"),
    ("ExpandDims", [X, np.int32(3)], {}, "axis 3 of a tensor with 3 dimensions, expected -3 to 2"),
    ("UnfoldTensor", [X], {"size": 4}, "attribute 'size' is 4, expected 1 to 3"),
    ("UnfoldTensor", [X], {}, "attribute 'size' is missing"),
    ("Unique", [X], {}, "input 0 has 2 dimensions, expected 1"),
    ("SkipLayerNormalization", [CUBE, CUBE[:, :2].copy(), CUBE[0, 0]], {},
     "input 1, 'skip', has shape [2, 2, 6], expected [2, 3, 6]"),
    ("SkipLayerNormalization", [CUBE, CUBE, X[0]], {}, "input 2, 'gamma', has shape [3], expected [6]"),
    ("SkipLayerNormalization", [CUBE, CUBE, CUBE[0, 0], X[0]], {}, "input 3, 'beta', has shape [3], expected [6]"),
    ("SkipSimplifiedLayerNormalization", [CUBE, CUBE, CUBE[0, 0], X[0]], {}, "input 3, 'bias', has shape [3], expected [6]"),
    ("SkipLayerNormalization", [X[0], X[0], X[0]], {}, "input 0 has 1 dimensions, expected 2 or 3"),
    ("EmbedLayerNormalization", [np.int32([0]), None, X, X, None, X[0], X[0]], {}, "'input_ids', has 1 dimensions, expected 2"),
    ("EmbedLayerNormalization", [np.int32([[0] * 5]), None, X, X, None, X[0], X[0]], {},
     "'position_embedding', has 2 rows, expected at least 5"),
    ("GroupNorm", [IMAGE, X[0], X[0]], {"groups": 1, "activation": 0}, "input 1, 'gamma', has shape [3], expected [4]"),
    ("GroupNorm", [IMAGE, IMAGE[0, 0, 0], IMAGE[0, 0, 0]], {"groups": 1}, "attribute 'activation' is missing"),
    ("GroupNorm", [IMAGE, IMAGE[0, 0, 0], IMAGE[0, 0, 0]], {"groups": 3, "activation": 0},
     "4 channels, expected a multiple of 'groups', 3"),
    ("GroupNorm", [IMAGE, IMAGE[0, 0, 0], IMAGE[0, 0, 0]], {"groups": 2, "activation": 2},
     "attribute 'activation' is 2, expected 0 to 1"),
    ("SkipGroupNorm", [IMAGE, *[IMAGE[0, 0, 0]] * 2, X], {"groups": 1, "activation": 0},
     "input 3, 'skip', is of shape [2, 1, 1, 3], expected one that broadcasts to [1, 2, 4, 4]"),
]


def check_ranged(tap, lightnet):
    by_op = {}
    for shape, part in ranged((1, 4, 9)):
        by_op.setdefault(part.sentence.split()[0], (shape, []))[1].append(part)
    for op_type, (shape, parts) in by_op.items():
        sizes = {name: shape.split("=")[1] for name in parts[0].given}
        tap.check(f"{op_type} of a length known only at run time",
                  ranged_faults_of(lightnet, parts, sizes, TOLERANCE["float"]))


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    check_kinds(tap, lightnet, KINDS, TOLERANCE, is_written=True)
    for op_type, arrays, attributes, message in WRONG:
        check_rejected(tap, lightnet, contrib("", op_type, arrays, X, const=range(1, 9), **attributes),
                       f"{op_type} is rejected: {message}",
                       message)
    check_ranged(tap, lightnet)
    part = contrib("", "SkipSimplifiedLayerNormalization", [CUBE, CUBE, CUBE[0, 0]], [CUBE, CUBE[..., :1]])
    check_rejected(tap, lightnet, part, "SkipSimplifiedLayerNormalization does not compute its mean",
                   "output 1, 'y1', is not supported")
    tap.end()


if __name__ == "__main__":
    main()
