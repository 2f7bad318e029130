#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: nnvm_operators.py LIGHTNET. Operators of NNVM's core and of MXNet against NumPy."""
import math
import os
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from nnvm_case import check_list, faults_of_each
from tap import ROOT, Tap

CORE, MXNET = False, True
AT_ONCE = 50  # cases in one process
RANDOM = np.random.default_rng(7)


def floats(*dims):
    return RANDOM.uniform(-2, 2, dims).astype(np.float32)


X, Z, IMAGE = floats(2, 3, 4), floats(2, 3, 4), floats(2, 4, 7, 6)
ROW, POSITIVE = floats(1, 3, 1), np.abs(floats(2, 3, 4)) + np.float32(0.1)
HALVES = np.array([-2.5, -1.5, -0.5, -0.49999997, 0, 0.49999997, 0.5, 1.4999999, 1.5, 2.5, 4194303.5, 8388609, np.inf, -np.inf, np.nan], np.float32)
F = np.float32


def away(x):
    whole = np.trunc(x)
    with np.errstate(invalid="ignore"):
        return whole + np.sign(x) * (np.abs(x - whole) >= 0.5)


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def conv(x, w, b=None, stride=(1, 1), pad=(0, 0), dilate=(1, 1), groups=1):
    x = np.pad(x.astype(float), ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2))
    o, c, kh, kw = w.shape
    h = (x.shape[2] - dilate[0] * (kh - 1) - 1) // stride[0] + 1
    v = (x.shape[3] - dilate[1] * (kw - 1) - 1) // stride[1] + 1
    y = np.zeros((x.shape[0], o, h, v))
    for k in range(o):
        g = k // (o // groups)
        for i in range(kh):
            for j in range(kw):
                part = x[:, g * c:(g + 1) * c, i * dilate[0]:, j * dilate[1]:][:, :, ::stride[0], ::stride[1]][:, :, :h, :v]
                y[:, k] += np.tensordot(part, w[k, :, i, j].astype(float), ([1], [0]))
    return (y if b is None else y + b.reshape(1, -1, 1, 1)).astype(F)


def deconv(x, w, stride, pad, adj=(0, 0)):
    n, c, h, v = x.shape
    _, o, kh, kw = w.shape
    y = np.zeros((n, o, stride[0] * (h - 1) + kh + adj[0], stride[1] * (v - 1) + kw + adj[1]))
    for i in range(h):
        for j in range(v):
            y[:, :, i * stride[0]:i * stride[0] + kh, j * stride[1]:j * stride[1] + kw] += np.einsum("nc,cokl->nokl", x[:, :, i, j], w)
    return y[:, :, pad[0]:y.shape[2] - pad[0], pad[1]:y.shape[3] - pad[1]].astype(F)


def pool(x, kind, size, stride, pad, up=False, divisor="inside"):
    """Windows over [N, C, H, W]; divisor: inside, window, or padded, as MXNet counts."""
    n, c, *extents = x.shape
    lens = [(math.ceil if up else math.floor)((e + 2 * p - k) / s) + 1 for e, k, s, p in zip(extents, size, stride, pad)]
    y = np.zeros((n, c, *lens))
    for i in range(lens[0]):
        for j in range(lens[1]):
            starts = [a * s - p for a, s, p in zip((i, j), stride, pad)]
            ends = [a + k for a, k in zip(starts, size)]
            inside = x[:, :, max(starts[0], 0):min(ends[0], extents[0]), max(starts[1], 0):min(ends[1], extents[1])].astype(float)
            cells = inside.shape[2] * inside.shape[3]
            padded = math.prod(min(b, e + p) - a for a, b, e, p in zip(starts, ends, extents, pad))
            by = {"inside": max(cells, 1), "window": size[0] * size[1], "padded": padded}[divisor]
            y[:, :, i, j] = inside.max((2, 3)) if kind == "max" else inside.sum((2, 3)) / (1 if kind == "sum" else by)
    return y.astype(F)


def batchnorm(x, g, b, m, v, eps, axis=1):
    dims = [-1 if i == axis else 1 for i in range(x.ndim)]
    g, b, m, v = (a.reshape(dims) for a in (g, b, m, v))
    return ((x - m) / np.sqrt(v + eps) * g + b).astype(F)


def lrn(x, size, alpha, beta, bias):
    squares = np.pad(x.astype(float) ** 2, ((0, 0), (size // 2,) * 2, (0, 0), (0, 0)))
    total = sum(squares[:, i:i + x.shape[1]] for i in range(size))
    return (x / (bias + alpha / size * total) ** beta).astype(F)


# An operator, its dialect, inputs, weights, attributes, outputs.
CASES = []


def case(op, mxnet, inputs, attrs, *expected, weights=()):
    CASES.append((op, mxnet, inputs, weights, attrs, expected))


def functions():
    both = {"exp": np.exp, "floor": np.floor, "ceil": np.ceil, "abs": np.abs, "negative": np.negative, "tanh": np.tanh,
            "relu": lambda x: np.maximum(x, 0), "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "trunc": np.trunc,
            "logical_not": lambda x: (x == 0).astype(F)}
    mxnet = {"cos": np.cos, "sin": np.sin, "tan": np.tan, "erf": np.vectorize(math.erf, otypes=[F]), "expm1": np.expm1,
             "fix": np.trunc, "rint": np.rint, "sign": np.sign, "softsign": lambda x: x / (1 + np.abs(x)), "square": np.square,
             "arctan": np.arctan, "arcsinh": np.arcsinh, "sinh": np.sinh, "cosh": np.cosh, "degrees": np.degrees, "radians": np.radians,
             "reciprocal": lambda x: 1 / x, "cbrt": np.cbrt, "rcbrt": lambda x: 1 / np.cbrt(x)}
    positive = {"log": np.log, "sqrt": np.sqrt}
    positive_mxnet = {"log10": np.log10, "log1p": np.log1p, "log2": np.log2, "rsqrt": lambda x: 1 / np.sqrt(x)}
    small = {"arcsin": np.arcsin, "arccos": np.arccos, "arctanh": np.arctanh}
    for table, x, dialects in ((small, X / 2.1, (MXNET,)), (both, X, (CORE, MXNET)), (mxnet, X, (MXNET,)), (positive, POSITIVE, (CORE, MXNET)),
                               (positive_mxnet, POSITIVE, (MXNET,))):
        for op, function in table.items():
            for dialect in dialects:
                case(op, dialect, [x], {}, function(x).astype(F))
    for dialect in (CORE, MXNET):
        case("round", dialect, [HALVES], {}, away(HALVES))
        case("clip", dialect, [X], {"a_min": "-1", "a_max": "0.5"}, np.clip(X, -1, 0.5))
        case("cast", dialect, [X], {"dtype": "int32"}, X.astype(np.int32))
    case("arccosh", MXNET, [POSITIVE + 1], {}, np.arccosh(POSITIVE + 1))
    for dtype, below in ((np.float64, 0.49999999999999994), (np.float16, 0.49975586)):
        x = np.append(HALVES[[0, 1, 2, 4, 6, 8, 9]], [below, -below, 1 - below, np.inf]).astype(dtype)
        case("round", CORE, [x], {}, away(x))
    for op in ("copy", "block_grad", "dropout"):
        case(op, CORE, [X], {}, X)
    case("Dropout", MXNET, [X], {"p": "0.3"}, X)
    case("leaky_relu", CORE, [X], {"alpha": "0.1"}, np.where(X > 0, X, X * F(0.1)))
    case("prelu", CORE, [X], {}, np.where(X > 0, X, X * np.array([1, 2, 3], F).reshape(1, 3, 1)), weights=[np.array([1, 2, 3], F)])
    case("hard_sigmoid", MXNET, [X], {}, np.clip(F(0.2) * X + F(0.5), 0, 1))
    for kind, function in {"relu": lambda x: np.maximum(x, 0), "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "tanh": np.tanh,
                           "softrelu": lambda x: np.log1p(np.exp(x)), "softsign": lambda x: x / (1 + np.abs(x))}.items():
        case("Activation", MXNET, [X], {"act_type": kind}, function(X).astype(F))
    gelu = np.vectorize(lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2))), otypes=[F])
    for kind, want in {"leaky": np.where(X > 0, X, X / 4), "elu": np.where(X > 0, X, np.expm1(X) / 4), "gelu": gelu(X),
                       "selu": 1.0507009873554805 * np.where(X > 0, X, 1.6732632423543772 * np.expm1(X)),
                       "rrelu": np.where(X > 0, X, X * F(0.2295))}.items():
        case("LeakyReLU", MXNET, [X], {"act_type": kind}, want.astype(F))
    case("LeakyReLU", MXNET, [X], {"act_type": "prelu"}, np.where(X > 0, X, X * np.array([1, 2, 3], F).reshape(1, 3, 1)),
         weights=[np.array([1, 2, 3], F)])


def pairs():
    operations = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}
    for op, function in operations.items():
        case("elemwise_" + op, CORE, [X, Z], {}, function(X, Z))
        case("elemwise_" + op, MXNET, [X, Z], {}, function(X, Z))
        case("broadcast_" + op, CORE, [X, ROW], {}, function(X, ROW))
        case(f"__{op}_symbol__", CORE, [ROW, X], {}, function(ROW, X))
        case("broadcast_" + op, MXNET, [X, ROW], {}, function(X, ROW))
        case(f"__{op}_scalar__", CORE, [X], {"scalar": "1.5"}, function(X, F(1.5)))
    for op, function in {"elemwise_mod": np.fmod, "elemwise_pow": np.power, "broadcast_mod": np.fmod, "broadcast_max": np.maximum,
                         "broadcast_min": np.minimum, "broadcast_pow": np.power}.items():
        case(op, CORE, [POSITIVE, np.abs(Z)], {}, function(POSITIVE, np.abs(Z)))
    for op, function in {"_maximum": np.maximum, "_minimum": np.minimum, "_power": np.power, "_mod": np.mod, "_hypot": np.hypot,
                         "broadcast_maximum": np.maximum, "broadcast_power": np.power, "broadcast_mod": np.mod}.items():
        case(op, MXNET, [POSITIVE, np.abs(Z)], {}, function(POSITIVE, np.abs(Z)))
    whole = np.array([[1, -7, 100], [-128, 2, 3]], np.int32)
    for op, function in {"left_shift": np.left_shift, "right_shift": np.right_shift}.items():
        case(f"broadcast_{op}", CORE, [whole, np.array([1, 3, 0], np.int32)], {}, function(whole, np.array([1, 3, 0], np.int32)))
        case(f"__{op}_symbol__", CORE, [whole, whole[:1] & 7], {}, function(whole, whole[:1] & 7))
        case(f"__{op[0]}shift_scalar__", CORE, [whole], {"scalar": "2"}, function(whole, 2))
    for op, function in {"plus": np.add, "minus": np.subtract, "mul": np.multiply, "div": np.divide, "maximum": np.maximum,
                         "minimum": np.minimum, "mod": np.mod}.items():
        case(f"_{op}_scalar", MXNET, [X], {"scalar": "1.5"}, function(X, F(1.5)))
    case("_power_scalar", MXNET, [POSITIVE], {"scalar": "1.5"}, POSITIVE ** F(1.5))
    case("_rmod_scalar", MXNET, [POSITIVE], {"scalar": "1.5"}, np.mod(F(1.5), POSITIVE))
    case("_RModScalar", MXNET, [X], {"scalar": "-7.5"}, np.mod(F(-7.5), X))
    case("__pow_scalar__", CORE, [POSITIVE], {"scalar": "0.5"}, POSITIVE ** F(0.5))
    case("broadcast_minimum", MXNET, [X, ROW], {}, np.minimum(X, ROW))
    for op, function in {"_rminus_scalar": np.subtract, "_rdiv_scalar": np.divide, "_RPowerScalar": np.power}.items():
        case(op, MXNET, [X], {"scalar": "1.5"}, function(F(1.5), X))
    for op, function in {"__rsub_scalar__": np.subtract, "__rdiv_scalar__": np.divide, "__rpow_scalar__": np.power}.items():
        case(op, CORE, [X], {"scalar": "1.5"}, function(F(1.5), X))
    small = X.round()
    for op, function in {"greater": np.greater, "less": np.less, "equal": np.equal, "not_equal": np.not_equal,
                         "greater_equal": np.greater_equal, "less_equal": np.less_equal}.items():
        case("broadcast_" + op, CORE, [small, ROW.round()], {}, function(small, ROW.round()).astype(F))
        case("broadcast_" + op.replace("less", "lesser"), MXNET, [small, ROW.round()], {}, function(small, ROW.round()).astype(F))
        other = Z.round()
        for name in (f"_{op.replace('less', 'lesser')}", "_" + op.replace("less", "lesser").title()):
            case(name, MXNET, [small, other], {}, function(small, other).astype(F))
        case(f"_{op.replace('less', 'lesser')}_scalar", MXNET, [small], {"scalar": "1"}, function(small, 1).astype(F))
    true = small != 0
    for op, function in {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}.items():
        case("broadcast_logical_" + op, MXNET, [small, ROW.round()], {}, function(true, ROW.round()).astype(F))
        case("_logical_" + op, MXNET, [small, Z.round()], {}, function(true, Z.round()).astype(F))
        case(f"_logical_{op}_scalar", MXNET, [small], {"scalar": "2"}, function(true, 2).astype(F))
    case("_hypot_scalar", MXNET, [X], {"scalar": "1.5"}, np.hypot(X, F(1.5)))
    case("greater", CORE, [X, Z], {}, (X > Z).astype(F))
    case("less", CORE, [small.astype(np.int32), Z.round().astype(np.int32)], {}, (small < Z.round()).astype(F))
    case("logical_or", CORE, [small, Z.round()], {}, ((small != 0) | (Z.round() != 0)).astype(F))
    case("logical_and", CORE, [small, Z.round()], {}, ((small != 0) & (Z.round() != 0)).astype(F))
    case("elemwise_sum", CORE, [X, Z, X], {"num_args": 3}, X + Z + X)
    case("add_n", MXNET, [X, Z], {"num_args": 2}, X + Z)
    case("where", CORE, [small, X, Z], {}, np.where(small != 0, X, Z))
    case("where", MXNET, [np.array([0, 1], F), X, Z], {}, np.where(np.array([0, 1]).reshape(2, 1, 1), X, Z))


def weighted():
    w, b = floats(6, 4, 3, 3), floats(6)
    case("conv2d", CORE, [IMAGE], {"channels": 6, "kernel_size": "(3, 3)", "padding": "(1, 1)", "strides": "(2, 1)"},
         conv(IMAGE, w, b, (2, 1), (1, 1)), weights=[w, b])
    grouped = floats(6, 2, 3, 3)
    case("conv2d", CORE, [IMAGE.transpose(0, 2, 3, 1).copy()], {"channels": 6, "kernel_size": "[3, 3]", "groups": 2, "use_bias": "False",
         "layout": "NHWC", "kernel_layout": "HWIO"}, conv(IMAGE, grouped, groups=2).transpose(0, 2, 3, 1),
         weights=[grouped.transpose(2, 3, 1, 0).copy()])
    split = IMAGE.reshape(2, 2, 2, 7, 6).transpose(0, 1, 3, 4, 2).copy()
    parts = w.reshape(2, 3, 2, 2, 3, 3).transpose(0, 2, 4, 5, 3, 1).copy()
    case("conv2d", CORE, [split], {"channels": 6, "kernel_size": "(3, 3)", "layout": "NCHW2c", "kernel_layout": "OIHW2i3o", "out_layout": "NCHW3c"},
         conv(IMAGE, w, b).reshape(2, 2, 3, 5, 4).transpose(0, 1, 3, 4, 2), weights=[parts, b])
    case("Convolution", MXNET, [IMAGE], {"num_filter": 6, "kernel": "(3, 3)", "dilate": "(2L, 1L)", "workspace": "1024"},
         conv(IMAGE, w, b, dilate=(2, 1)), weights=[w, b])
    back = floats(4, 5, 3, 3)
    case("Deconvolution", MXNET, [IMAGE], {"num_filter": 5, "kernel": "(3, 3)", "stride": "(2, 2)", "pad": "(1, 1)", "adj": "(1, 1)"},
         deconv(IMAGE, back, (2, 2), (1, 1), (1, 1)), weights=[back])
    plain = deconv(IMAGE, back, (2, 2), (1, 1))
    case("conv2d_transpose", CORE, [IMAGE], {"channels": 5, "kernel_size": "(3, 3)", "strides": "(2, 2)", "padding": "(1, 1)",
         "output_padding": "(1, 1)", "use_bias": "0"}, np.pad(plain, ((0, 0), (0, 0), (0, 1), (0, 1))), weights=[back])
    tiny, taps = RANDOM.integers(-128, 128, (1, 3, 5, 4), dtype=np.int8), RANDOM.integers(-128, 128, (3, 2, 3, 3), dtype=np.int8)
    case("conv2d_transpose", CORE, [tiny], {"channels": 2, "kernel_size": "(3, 3)", "strides": "(2, 1)", "use_bias": "False", "out_dtype": "int32"},
         deconv(tiny.astype(float), taps.astype(float), (2, 1), (0, 0)).astype(np.int32), weights=[taps])
    wide = RANDOM.integers(-128, 128, (4, 3, 3, 3), dtype=np.int8)
    case("conv2d", CORE, [tiny], {"channels": 4, "kernel_size": "(3, 3)", "use_bias": "False", "out_dtype": "int32"},
         conv(tiny, wide).astype(np.int32), weights=[wide])
    case("conv2d", CORE, [tiny], {"channels": 4, "kernel_size": "(3, 3)", "use_bias": "False", "layout": "NCHW", "out_layout": "NHWC"},
         conv(tiny, wide).astype(np.int32).astype(np.int8).transpose(0, 2, 3, 1), weights=[wide])
    dense, bias = floats(5, 4), floats(5)
    case("dense", CORE, [X], {"units": 5}, X @ dense.T + bias, weights=[dense, bias])
    full = floats(5, 12)
    case("FullyConnected", MXNET, [X], {"num_hidden": 5}, X.reshape(2, 12) @ full.T + bias, weights=[full, bias])
    case("FullyConnected", MXNET, [X], {"num_hidden": 5, "flatten": "False", "no_bias": "True"}, X @ dense.T, weights=[dense])
    a, c = floats(3, 4), floats(5, 4)
    case("matmul", CORE, [a, c], {"transpose_b": "True"}, a @ c.T)
    case("dot", MXNET, [a, a], {"transpose_a": "1"}, a.T @ a)
    case("dot", MXNET, [X, a.T.copy()], {}, np.tensordot(X, a.T, 1))
    case("dot", MXNET, [X, c[:, :2].copy()], {"transpose_a": "1", "transpose_b": "1"}, np.tensordot(X, c[:, :2], ([0], [1])))
    case("dot", MXNET, [a[0], c[0]], {}, np.array([a[0] @ c[0]]))
    case("matmul", CORE, [X, a.T.copy()], {}, np.tensordot(X, a.T, 1))
    case("matmul", CORE, [X, c[:, :2].copy()], {"transpose_a": "True", "transpose_b": "True"}, X.transpose() @ c[:, :2].T)
    case("batch_dot", MXNET, [X, Z], {"transpose_b": "True"}, X @ Z.transpose(0, 2, 1))
    table = floats(7, 3)
    case("Embedding", MXNET, [np.array([[0, 6], [9, 2]], F)], {"input_dim": 7, "output_dim": 3}, table[[[0, 6], [6, 2]]], weights=[table])


def pools():
    core = {"pool_size": "(3, 2)", "strides": "(2, 2)", "padding": "(1, 0)"}
    mxnet = {"kernel": "(3, 2)", "stride": "(2, 2)", "pad": "(1, 0)"}
    geometry = ((3, 2), (2, 2), (1, 0))
    case("max_pool2d", CORE, [IMAGE], core, pool(IMAGE, "max", *geometry))
    case("max_pool2d", CORE, [IMAGE], {**core, "ceil_mode": "True"}, pool(IMAGE, "max", *geometry, up=True))
    case("avg_pool2d", CORE, [IMAGE], core, pool(IMAGE, "avg", *geometry))
    case("avg_pool2d", CORE, [IMAGE], {**core, "count_include_pad": "True"}, pool(IMAGE, "avg", *geometry, divisor="window"))
    split = IMAGE.reshape(2, 2, 2, 7, 6).transpose(0, 1, 3, 4, 2).copy()
    case("max_pool2d", CORE, [split], {**core, "layout": "NCHW2c"}, pool(IMAGE, "max", *geometry).reshape(2, 2, 2, 4, 3).transpose(0, 1, 3, 4, 2))
    case("global_avg_pool2d", CORE, [split], {"layout": "NCHW2c"}, split.mean((2, 3), keepdims=True))
    case("global_avg_pool2d", CORE, [IMAGE], {}, IMAGE.mean((2, 3), keepdims=True))
    case("global_max_pool2d", CORE, [IMAGE], {}, IMAGE.max((2, 3), keepdims=True))
    wide = {"kernel": "(4, 4)", "stride": "(3, 3)", "pad": "(1, 1)", "pooling_convention": "full"}
    for kind in ("max", "avg"):
        case("Pooling", MXNET, [IMAGE], {**mxnet, "pool_type": kind}, pool(IMAGE, kind, *geometry, divisor="padded"))
        case("Pooling", MXNET, [IMAGE], {**wide, "pool_type": kind}, pool(IMAGE, kind, (4, 4), (3, 3), (1, 1), True, "padded"))
    case("Pooling", MXNET, [IMAGE], {**mxnet, "pool_type": "avg", "count_include_pad": "False"}, pool(IMAGE, "avg", *geometry))
    case("Pooling", MXNET, [IMAGE], {**mxnet, "pool_type": "sum"}, pool(IMAGE, "sum", *geometry))
    case("Pooling", MXNET, [IMAGE], {"kernel": "(2, 2)", "global_pool": "True", "pool_type": "avg"}, IMAGE.mean((2, 3), keepdims=True))
    for size, text in (((1, 1), "()"), ((7, 3), "(7, 3)"), ((3, 4), "(3, 4)"), ((5, 5), "5")):
        bounds = [[(i * e // s, -(-(i + 1) * e // s)) for i in range(s)] for e, s in zip((7, 6), size)]
        want = np.array([[IMAGE[:, :, a:b, c:d].mean((2, 3)) for c, d in bounds[1]] for a, b in bounds[0]])
        case("_contrib_AdaptiveAvgPooling2D", MXNET, [IMAGE], {"output_size": text}, want.transpose(2, 3, 0, 1))
    zeros = np.pad(IMAGE, ((0, 0), (0, 0), (1, 1), (0, 0)))
    case("Pooling_v1", MXNET, [IMAGE - F(3)], mxnet, pool(np.pad(IMAGE - F(3), ((0, 0), (0, 0), (1, 1), (0, 0))), "max", (3, 2), (2, 2), (0, 0)))
    case("Pooling_v1", MXNET, [IMAGE], {**mxnet, "pool_type": "avg"}, pool(zeros, "avg", (3, 2), (2, 2), (0, 0)))


def norms():
    for axis, channels in ((1, 4), (3, 6)):
        stats = [floats(channels), floats(channels), floats(channels), np.abs(floats(channels)) + F(0.5)]
        case("batch_norm", CORE, [IMAGE], {"axis": axis, "epsilon": "0.001"}, batchnorm(IMAGE, *stats, 0.001, axis), weights=stats)
        fixed = [np.ones(channels, F), *stats[1:]]
        case("BatchNorm", MXNET, [IMAGE], {"axis": axis, "momentum": "0.9"}, batchnorm(IMAGE, *fixed, 0.001, axis), weights=stats)
    gamma, beta = floats(4), floats(4)
    mean, var = IMAGE.mean((2, 3), keepdims=True), IMAGE.var((2, 3), keepdims=True)
    shape = (1, 4, 1, 1)
    case("InstanceNorm", MXNET, [IMAGE], {}, ((IMAGE - mean) / np.sqrt(var + 1e-3) * gamma.reshape(shape) + beta.reshape(shape)).astype(F),
         weights=[gamma, beta])
    parts = IMAGE.reshape(2, 2, 2, 7, 6)
    apart = (parts - parts.mean((2, 3, 4), keepdims=True)) / np.sqrt(parts.var((2, 3, 4), keepdims=True) + 1e-5)
    case("GroupNorm", MXNET, [IMAGE], {"num_groups": 2}, (apart.reshape(IMAGE.shape) * gamma.reshape(shape) + beta.reshape(shape)).astype(F),
         weights=[gamma, beta])
    for axis in (-1, 1):
        mean, var = IMAGE.mean(axis, keepdims=True), IMAGE.var(axis, keepdims=True)
        dims = [-1 if i == axis % 4 else 1 for i in range(4)]
        g, b = floats(IMAGE.shape[axis]), floats(IMAGE.shape[axis])
        case("LayerNorm", MXNET, [IMAGE], {"axis": axis}, ((IMAGE - mean) / np.sqrt(var + 1e-5) * g.reshape(dims) + b.reshape(dims)).astype(F),
             weights=[g, b])
    case("lrn", CORE, [IMAGE], {"size": 3, "axis": 1, "alpha": "0.1", "beta": "0.75", "bias": "2"}, lrn(IMAGE, 3, 0.1, 0.75, 2))
    case("LRN", MXNET, [IMAGE], {"nsize": 3}, lrn(IMAGE, 3, 1e-4, 0.75, 2))
    case("l2_normalize", CORE, [IMAGE], {"eps": "1e-5", "axis": "(1,)"}, IMAGE / np.sqrt((IMAGE ** 2).sum(1, keepdims=True)))
    for mode, axes in {"instance": (1, 2, 3), "channel": 1, "spatial": (2, 3)}.items():
        case("L2Normalization", MXNET, [IMAGE], {"mode": mode}, IMAGE / np.sqrt((IMAGE ** 2).sum(axes, keepdims=True)))
    case("softmax", CORE, [X], {"axis": 1}, softmax(X, 1))
    case("log_softmax", CORE, [X[0]], {}, np.log(softmax(X[0], -1)))
    case("softmax", MXNET, [X], {"temperature": "2"}, softmax(X / 2, -1))
    case("softmin", MXNET, [X], {}, softmax(-X, -1))
    case("SoftmaxActivation", MXNET, [X], {"mode": "channel"}, softmax(X, 1))
    case("SoftmaxOutput", MXNET, [X], {}, softmax(X.reshape(2, 12), 1).reshape(2, 3, 4))
    case("SoftmaxOutput", MXNET, [X], {"multi_output": "True", "grad_scale": "1"}, softmax(X, 1))
    case("LogisticRegressionOutput", MXNET, [X], {}, (1 / (1 + np.exp(-X))).astype(F))
    case("LinearRegressionOutput", MXNET, [X], {}, X)


def shapes():
    for op, dialect in (("reshape", CORE), ("Reshape", MXNET)):
        for codes, dims in {"(0, -1)": (2, 12), "(-2,)": (2, 3, 4), "(-3, 0)": (6, 4), "(0, 0, -4, 2, -1)": (2, 3, 2, 2), "(4, 6)": (4, 6)}.items():
            case(op, dialect, [X], {"shape": codes}, X.reshape(dims))
    case("Reshape", MXNET, [X], {"shape": "(-1, 0)", "reverse": "True"}, X.reshape(6, 4))
    case("Reshape", MXNET, [X], {"target_shape": "(2, 0)"}, X.reshape(2, 12))
    case("reshape_like", CORE, [X, floats(4, 6)], {}, X.reshape(4, 6))
    case("flatten", CORE, [X], {}, X.reshape(2, 12))
    case("expand_dims", CORE, [X], {"axis": -1, "num_newaxis": 2}, X[..., None, None])
    case("expand_dims", MXNET, [X], {"axis": -2}, X[:, :, None])
    case("squeeze", CORE, [ROW], {}, ROW.reshape(3))
    case("squeeze", CORE, [ROW], {"axis": "(0,)"}, ROW.reshape(3, 1))
    case("transpose", CORE, [X], {}, X.transpose())
    case("transpose", MXNET, [X], {"axes": "(1, 0, 2)"}, X.transpose(1, 0, 2))
    blocked = IMAGE.reshape(2, 2, 2, 7, 6).transpose(0, 1, 3, 4, 2).copy()
    case("__layout_transform__", CORE, [IMAGE], {"src_layout": "NCHW", "dst_layout": "NCHW2c"}, blocked)
    case("__layout_transform__", CORE, [blocked], {"src_layout": "NCHW2c", "dst_layout": "NHWC"}, IMAGE.transpose(0, 2, 3, 1))
    case("__layout_transform__", CORE, [blocked], {"src_layout": "NCHW2c", "dst_layout": "NCHW4c"}, IMAGE[:, None].transpose(0, 1, 3, 4, 2))
    deep = IMAGE[:, :, :6].reshape(2, 4, 3, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(2, 16, 3, 3)
    case("space_to_depth", MXNET, [IMAGE[:, :, :6].copy()], {"block_size": 2}, deep)
    case("depth_to_space", MXNET, [deep], {"block_size": 2}, IMAGE[:, :, :6])
    case("SwapAxis", MXNET, [X], {"dim1": 0, "dim2": 2}, X.swapaxes(0, 2))
    case("flip", CORE, [X], {"axis": 2}, X[:, :, ::-1])
    case("reverse", MXNET, [X], {"axis": "(0, 2)"}, X[::-1, :, ::-1])
    case("strided_slice", CORE, [X], {"begin": "(0, 1)", "end": "(2, 3)"}, X[0:2, 1:3])
    case("strided_slice", CORE, [X], {"begin": "(0, 2, 3)", "end": "(2, 0, 0)", "stride": "(1, -1, -2)"}, X[0:2, 2:0:-1, 3:0:-2])
    case("slice", MXNET, [X], {"begin": "(None, 1)", "end": "(None, None)"}, X[:, 1:])
    case("slice_axis", MXNET, [X], {"axis": -1, "begin": 1, "end": "None"}, X[..., 1:])
    case("slice_like", CORE, [X, floats(1, 2, 9)], {"axis": "(0, 1)"}, X[:1, :2])
    case("Crop", MXNET, [IMAGE], {"num_args": 1, "h_w": "(4, 3)", "offset": "(2, 1)"}, IMAGE[:, :, 2:6, 1:4])
    case("Crop", MXNET, [IMAGE, floats(1, 1, 4, 3)], {"num_args": 2, "center_crop": "True"}, IMAGE[:, :, 1:5, 1:4])
    case("slice_like", MXNET, [X, floats(1, 2, 9)], {"axes": "(0, -2)"}, X[:1, :2])
    case("concatenate", CORE, [X, Z], {"axis": 2}, np.concatenate([X, Z], 2))
    case("Concat", MXNET, [X, Z], {"num_args": 2}, np.concatenate([X, Z], 1))
    case("split", CORE, [X], {"indices_or_sections": "2", "axis": 2}, X[..., :2], X[..., 2:])
    case("split", CORE, [X], {"indices_or_sections": "(1,)"}, X[:, :1], X[:, 1:])
    case("SliceChannel", MXNET, [X], {"num_outputs": 3, "squeeze_axis": "True"}, X[:, 0], X[:, 1], X[:, 2])
    case("_split_v2", MXNET, [X], {"sections": 3, "axis": 2}, X[..., :2], X[..., 2:3], X[..., 3:])
    case("stack", MXNET, [X, Z], {"axis": 1, "num_args": 2}, np.stack([X, Z], 1))
    case("pad", CORE, [X], {"pad_width": "((0, 0), (1, 2), (0, 1))", "pad_value": "7"}, np.pad(X, ((0, 0), (1, 2), (0, 1)), constant_values=7))
    case("pad", MXNET, [IMAGE], {"mode": "reflect", "pad_width": "(0,0,0,0,1,2,3,0)"}, np.pad(IMAGE, ((0, 0), (0, 0), (1, 2), (3, 0)), "reflect"))
    case("Pad", MXNET, [IMAGE], {"mode": "edge", "pad_width": "(0,0,0,0,1,2,3,0)"}, np.pad(IMAGE, ((0, 0), (0, 0), (1, 2), (3, 0)), "edge"))
    case("broadcast_to", CORE, [ROW], {"shape": "(2, 0, 4)"}, np.broadcast_to(ROW, (2, 3, 4)))
    case("expand_like", CORE, [ROW[0, :, 0], X], {"axis": "(0, -1)"}, np.broadcast_to(ROW, (2, 3, 4)))
    case("expand_like", CORE, [X[:, 0], X], {"axis": "(0, 2)", "exclude": "True"}, np.broadcast_to(X[:, :1], X.shape))
    case("expand_like", CORE, [ROW, X], {}, np.broadcast_to(ROW, (2, 3, 4)))
    case("broadcast_axis", MXNET, [ROW], {"axis": "(0, 2)", "size": "(2, 5)"}, np.broadcast_to(ROW, (2, 3, 5)))
    case("broadcast_like", MXNET, [ROW, X], {}, np.broadcast_to(ROW, X.shape))
    case("tile", MXNET, [X], {"reps": "(2, 1, 1, 3)"}, np.tile(X, (2, 1, 1, 3)))
    case("repeat", MXNET, [X], {"repeats": 3, "axis": -2}, X.repeat(3, 1))
    case("repeat", MXNET, [X], {"repeats": 2}, X.repeat(2))
    case("take", CORE, [X, np.array([0, 99, 5], np.int32)], {}, X.reshape(-1)[[0, 23, 5]])
    case("take", MXNET, [X, np.array([[2, 0]], F)], {"axis": 1}, X[:, [[2, 0]]])
    odd = np.array([[2, -1], [-9, 5]], np.int32)
    case("take", MXNET, [X, odd], {"axis": -1, "mode": "wrap"}, X.take(odd, -1, mode="wrap"))
    case("take", MXNET, [X, np.array([1, 0], F)], {"mode": "raise"}, X[[1, 0]])
    case("pick", MXNET, [X, odd[:, :1] * np.ones((1, 4), np.int32)], {"axis": 1, "keepdims": "True"},
         X[[0, 1], [2, 0]][:, None])
    case("choose_element_0index", MXNET, [X[0], np.array([3, 0, 1], F)], {}, X[0][[0, 1, 2], [3, 0, 1]])
    case("pick", MXNET, [X, np.array([[0, 3, 9], [1, -1, 2]], F)], {}, np.array([[X[0, 0, 0], X[0, 1, 3], X[0, 2, 3]], [X[1, 0, 1], X[1, 1, 0], X[1, 2, 2]]]))
    case("pick", MXNET, [X, np.array([-1], np.int64)], {"axis": "None", "mode": "wrap"}, X.reshape(-1)[-1:])
    case("one_hot", MXNET, [odd], {"depth": 3, "on_value": "7", "off_value": "-1", "dtype": "int32"},
         np.where(odd[..., None] == np.arange(3), 7, -1).astype(np.int32))
    case("gather_nd", CORE, [X, np.array([[0, 1], [2, 0]], np.int32)], {}, X[[0, 1], [2, 0]])
    case("full_like", CORE, [X], {"fill_value": "3"}, np.full_like(X, 3))
    for op, dialect, attrs, value in (("zeros", CORE, {}, 0), ("ones", CORE, {"dtype": "int8"}, 1), ("full", CORE, {"fill_value": "-2.5"}, -2.5),
                                      ("_zeros", MXNET, {"ctx": "cpu(0)"}, 0), ("_ones", MXNET, {"dtype": "uint8"}, 1), ("_full", MXNET, {"value": "3"}, 3)):
        case(op, dialect, [], {"shape": "(2, 3)", **attrs}, np.full((2, 3), value, attrs.get("dtype", "float32")))
    case("_arange", MXNET, [], {"start": "5", "stop": "-1.5", "step": "-2"}, np.arange(5, -1.5, -2, F))
    case("_arange", MXNET, [], {"start": "3", "repeat": "2", "dtype": "int32"}, np.arange(3, dtype=np.int32).repeat(2))
    case("ones_like", CORE, [X], {}, np.ones_like(X))
    case("shape_array", MXNET, [X], {}, np.array(X.shape))
    case("size_array", MXNET, [X], {}, np.array([X.size]))
    case("zeros_like", CORE, [X], {}, np.zeros_like(X))
    case("zeros_like", MXNET, [X], {}, np.zeros_like(X))


def reductions():
    for op, function in {"sum": np.sum, "mean": np.mean, "prod": np.prod, "max": np.max, "min": np.min}.items():
        for dialect in (CORE, MXNET):
            case(op, dialect, [X], {}, function(X).reshape(1))
            case(op, dialect, [X], {"axis": "(1,)"}, function(X, 1))
            case(op, dialect, [X], {"axis": "1", "exclude": "True", "keepdims": "1"}, function(X, (0, 2), keepdims=True))
    case("norm", MXNET, [X], {"axis": "2"}, np.sqrt((X ** 2).sum(2)))
    case("argmax", CORE, [X], {"axis": 1}, X.argmax(1).astype(np.int32))
    case("argmin", MXNET, [X], {"axis": 2}, X.argmin(2).astype(F))
    case("argmax", MXNET, [X], {}, np.array([X.argmax()], F))
    case("argmax", CORE, [X], {}, np.array([X.argmax()], np.int32))
    case("argmin", CORE, [X], {"axis": "(0, 2)", "dtype": "int64", "keepdims": "1"}, X.transpose(1, 0, 2).reshape(3, 8).argmin(1)[None, :, None])
    case("argmax", CORE, [X], {"axis": "1", "exclude": "True"}, X.transpose(1, 0, 2).reshape(3, 8).argmax(1).astype(np.int32))
    case("argmax", MXNET, [X], {"keepdims": "True"}, np.array([[[X.argmax()]]], F))
    case("argmax_channel", MXNET, [X], {}, X.argmax(1).astype(F))
    holes = np.where(X > 1, F("nan"), X)
    case("nansum", MXNET, [holes], {"axis": "(1,)"}, np.nansum(holes, 1))
    case("nanprod", MXNET, [holes], {"keepdims": "True"}, np.nanprod(holes, keepdims=True))
    case("sum_axis", MXNET, [X], {"axis": "1"}, X.sum(1))
    case("max_axis", MXNET, [X], {"axis": "1"}, X.max(1))
    case("min_axis", MXNET, [X], {"axis": "1"}, X.min(1))
    case("collapse_sum", CORE, [X, ROW], {}, X.sum((0, 2), keepdims=True))


def prior(h, w, sizes, ratios, steps, offsets, clip):
    boxes = []
    for i in range(h):
        for j in range(w):
            y, x = (i + offsets[0]) * steps[0], (j + offsets[1]) * steps[1]
            halves = [(s * h / w / 2, s / 2) for s in sizes] + [(sizes[0] * h / w * r ** 0.5 / 2, sizes[0] / r ** 0.5 / 2) for r in ratios[1:]]
            boxes += [(x - a, y - b, x + a, y + b) for a, b in halves]
    return np.clip([boxes], 0, 1).astype(F) if clip else np.array([boxes], F)


def transformed(scores, moves, anchors, threshold, variances, clip):
    """Rows (class, score, box) of detections first; -1 after them; how many there are."""
    rows = np.full((scores.shape[0], scores.shape[2], 6), -1, F)
    counts = np.zeros(scores.shape[0], np.int32)
    for b, (of_batch, moved) in enumerate(zip(scores, moves.reshape(len(moves), -1, 4))):
        for probabilities, move, anchor in zip(of_batch.T, moved * np.array(variances, F), anchors[0]):
            best = probabilities[1:].argmax()
            if probabilities[1 + best] < threshold:
                continue
            size, middle = anchor[2:] - anchor[:2], (anchor[2:] + anchor[:2]) / 2
            center, reach = middle + move[:2] * size, np.exp(move[2:]) * size / 2
            box = np.concatenate([center - reach, center + reach])
            rows[b, counts[b]] = [best, probabilities[1 + best], *(np.clip(box, 0, 1) if clip else box)]
            counts[b] += 1
    return rows, counts


def suppressed(data, counts, overlap, force=False, compared=-1, most=-1, box=2, score=1, label=0, packs=False):
    """The rows that remain, in order, and where they were."""
    rows, index = np.full_like(data, -1), np.full(data.shape[:2], -1, np.int32)
    for b, batch in enumerate(data):
        order = np.argsort(-batch[:counts[b], score], kind="stable")
        order = list(order[:compared] if compared > 0 else order)
        gone, kept = set(), 0
        for i, k in enumerate(order):
            if k in gone or (kept == most):
                gone.add(k)
                continue
            kept += 1
            for other in order[i + 1:]:
                p, q = batch[k, box:box + 4], batch[other, box:box + 4]
                both = np.prod(np.maximum(0, np.minimum(p[2:], q[2:]) - np.maximum(p[:2], q[:2])))
                union = np.prod(p[2:] - p[:2]) + np.prod(q[2:] - q[:2]) - both
                same = force or label < 0 or batch[k, label] == batch[other, label]
                gone.update([other] if same and both / union >= overlap else [])
        stay = [k for k in order if k not in gone] if packs else order
        for i, k in enumerate(stay):
            if k not in gone:
                rows[b, i], index[b, i] = batch[k], k
    return rows, index


def reorg(x, s):
    c, h, w = x.shape
    k, j, i = np.indices(x.shape)
    inner, place = k % (c // s ** 2), k // (c // s ** 2)
    return x.reshape(-1)[i * s + place % s + w * s * (j * s + place // s + h * s * inner)].reshape(c * s * s, h // s, w // s)


def detection():
    image = floats(1, 3, 3, 4)
    several = {"sizes": "(0.5, 0.25)", "ratios": "(1, 2, 0.5)"}
    case("multibox_prior", CORE, [image], {}, prior(3, 4, [1], [1], (1 / 3, 1 / 4), (0.5, 0.5), False))
    case("multibox_prior", CORE, [image], {**several, "clip": "True"}, prior(3, 4, [0.5, 0.25], [1, 2, 0.5], (1 / 3, 1 / 4), (0.5, 0.5), True))
    case("_contrib_MultiBoxPrior", MXNET, [image], {**several, "steps": "(0.3, 0.2)", "offsets": "(0.25, 0.75)"},
         prior(3, 4, [0.5, 0.25], [1, 2, 0.5], (0.3, 0.2), (0.25, 0.75), False))
    anchors = prior(3, 4, [0.5, 0.25], [1, 2], (1 / 3, 1 / 4), (0.5, 0.5), False)
    count = anchors.shape[1]
    scores = RANDOM.dirichlet(np.ones(4), (2, count)).transpose(0, 2, 1).astype(F).copy()
    moves = floats(2, 4 * count)
    rows, counts = transformed(scores, moves, anchors, 0.01, (0.1, 0.1, 0.2, 0.2), True)
    case("multibox_transform_loc", CORE, [scores, moves, anchors], {}, rows, counts)
    case("multibox_transform_loc", CORE, [scores, moves, anchors], {"clip": "False", "threshold": "0.4", "variances": "(0.3, 0.2, 0.1, 0.4)"},
         *transformed(scores, moves, anchors, 0.4, (0.3, 0.2, 0.1, 0.4), False))
    for attrs, how in (({}, {"overlap": 0.5}), ({"nms_threshold": "0.3", "force_suppress": "True"}, {"overlap": 0.3, "force": True}),
                       ({"nms_topk": "9"}, {"overlap": 0.5, "compared": 9})):
        found = transformed(scores, moves, anchors, 0.4, (0.1, 0.1, 0.2, 0.2), True)
        case("_contrib_MultiBoxDetection", MXNET, [scores, moves, anchors], {"threshold": "0.4", **attrs}, suppressed(*found, **how)[0])
        counts = np.array([count, count // 2], np.int32)
        case("nms", CORE, [rows, counts], attrs, suppressed(rows, counts, **how)[0])
    case("non_max_suppression", CORE, [rows, counts], {"return_indices": "False", "max_output_size": 7, "top_k": 15, "invalid_to_bottom": "1"},
         suppressed(rows, counts, 0.5, most=7, compared=15, packs=True)[0])
    case("non_max_suppression", CORE, [rows, counts], {"iou_threshold": "0.4"}, suppressed(rows, counts, 0.4)[1])
    turned = np.roll(rows, 4, axis=2)
    case("non_max_suppression", CORE, [turned, counts], {"return_indices": "0", "coord_start": 0, "score_index": 5, "id_index": -1},
         suppressed(turned, counts, 0.5, box=0, score=5, label=-1)[0])
    sure = np.where(rows[..., 1:2] > 0.3, rows, -1)
    many = (sure[..., 1] > 0).sum(1)
    sure = np.array([batch[np.argsort(batch[:, 1] <= 0, kind="stable")] for batch in sure])
    case("_contrib_box_nms", MXNET, [rows[None]], {"valid_thresh": "0.3", "id_index": 0}, suppressed(sure, many, 0.5, packs=True)[0][None])
    case("_contrib_box_nms", MXNET, [rows[0]], {"overlap_thresh": "0.4", "topk": 20}, suppressed(rows[:1], [count], 0.4, label=-1, compared=20, packs=True)[0][0])
    wide = floats(2, 8, 4, 6)
    for op in ("yolo_reorg", "yolo2_reorg"):
        case(op, CORE, [wide], {"stride": 2}, np.array([reorg(one, 2) for one in wide]))


def orders():
    down = np.argsort(-X, -1, kind="stable")
    case("topk", MXNET, [X], {"k": 2}, down[..., :2].astype(F))
    case("topk", MXNET, [X], {"k": 2, "axis": 1, "ret_typ": "both", "is_ascend": "True", "dtype": "int32"},
         np.sort(X, 1)[:, :2], np.argsort(X, 1, kind="stable")[:, :2].astype(np.int32))
    case("topk", MXNET, [X], {"k": 5, "axis": "None", "ret_typ": "value"}, np.sort(X, None)[::-1][:5])
    case("topk", MXNET, [X], {"k": 5, "axis": "None", "ret_typ": "mask"}, (X >= np.sort(X, None)[-5]).astype(F))
    case("topk", MXNET, [X], {"k": 0, "axis": 0, "ret_typ": "value"}, np.sort(X, 0)[::-1])
    case("sort", MXNET, [X], {"axis": 0}, np.sort(X, 0))
    case("argsort", MXNET, [X], {"is_ascend": "0"}, down.astype(F))


def sizes():
    rows = [np.floor(np.arange(n) * s / n).astype(int) for n, s in ((14, 7), (9, 6))]
    case("resize", CORE, [IMAGE], {"size": "(14, 9)", "method": "NEAREST_NEIGHBOR"}, IMAGE[:, :, rows[0]][..., rows[1]])
    case("UpSampling", MXNET, [IMAGE], {"scale": 2, "sample_type": "nearest", "num_args": 1}, IMAGE.repeat(2, 2).repeat(2, 3))
    case("upsampling", CORE, [IMAGE], {"scale": 3}, IMAGE.repeat(3, 2).repeat(3, 3))
    small = floats(2, 3, 7, 2)
    same = floats(2, 4, 7, 2)
    case("UpSampling", MXNET, [IMAGE, small], {"scale": 1, "sample_type": "nearest", "num_args": 2},
         np.concatenate([IMAGE, small.repeat(3, 3)], 1))
    case("UpSampling", MXNET, [IMAGE, same], {"scale": 2, "sample_type": "nearest", "num_args": 2, "multi_input_mode": "sum"},
         IMAGE.repeat(2, 2).repeat(2, 3) + same.repeat(2, 2).repeat(6, 3))
    for scale in (2, 3):
        kernel = floats(4, 1, 2 * scale - scale % 2, 2 * scale - scale % 2)
        want = np.concatenate([deconv(IMAGE[:, c:c + 1], kernel[c:c + 1], (scale, scale), (scale // 2, scale // 2)) for c in range(4)], 1)
        case("UpSampling", MXNET, [IMAGE], {"scale": scale, "sample_type": "bilinear", "num_args": 2, "num_filter": 4}, want, weights=[kernel])
    at = np.arange(13) * 6 / 12
    low = np.minimum(at.astype(int), 6)
    high, part = np.minimum(low + 1, 6), (at - low).reshape(1, 1, -1, 1)
    tall = IMAGE[:, :, low] * (1 - part) + IMAGE[:, :, high] * part
    case("resize", CORE, [IMAGE], {"size": "(13, 6)", "align_corners": "True"}, tall.astype(F))
    case("_contrib_BilinearResize2D", MXNET, [IMAGE], {"height": 13, "width": 6}, tall.astype(F))
    case("_contrib_BilinearResize2D", MXNET, [IMAGE, floats(1, 1, 13, 6)], {"mode": "like"}, tall.astype(F))
    at = np.clip((np.arange(13) + 0.5) * 7 / 13 - 0.5, 0, 6)
    low, high = np.floor(at).astype(int), np.ceil(at).astype(int)
    part = (at - low).reshape(1, 1, -1, 1)
    case("_contrib_BilinearResize2D", MXNET, [IMAGE], {"scale_height": "1.9", "scale_width": "1", "align_corners": "False"},
         (IMAGE[:, :, low] * (1 - part) + IMAGE[:, :, high] * part).astype(F))


# Other names of operators: the dialect and name of one that is compared above, then theirs, in MXNet or in the same dialect.
IN_BOTH = "broadcast_to flatten flip gather_nd log_softmax ones_like reshape reshape_like squeeze"
OLD_PAIRS = {"elemwise_add": "_plus _Plus _add", "elemwise_sub": "_minus _Minus _sub", "elemwise_mul": "_mul _Mul", "elemwise_div": "_div _Div",
             "_maximum": "_Maximum", "_minimum": "_Minimum", "_mod": "_Mod", "_power": "_Power", "_hypot": "_Hypot broadcast_hypot",
             "_logical_and": "_Logical_And", "_logical_or": "_Logical_Or", "_logical_xor": "_Logical_Xor", "broadcast_add": "broadcast_plus",
             "broadcast_sub": "broadcast_minus"}
SPELLINGS = {
    CORE: {**{f"broadcast_{op}": f"__{op}_symbol__" for op in
              "equal not_equal greater greater_equal less less_equal max min mod pow".split()}},
    MXNET: {**OLD_PAIRS,
            **{f"_{op}_scalar": f"_{op.title().replace('_', '')}Scalar" for op in
               "plus minus mul div maximum minimum mod hypot equal not_equal greater greater_equal lesser lesser_equal logical_and logical_or logical_xor".split()},
            "_rminus_scalar": "_RMinusScalar", "_rdiv_scalar": "_RDivScalar", "_RPowerScalar": "_rpower_scalar", "_power_scalar": "_PowerScalar",
            "BatchNorm": "BatchNorm_v1 CuDNNBatchNorm", "Convolution": "Convolution_v1", "SoftmaxOutput": "Softmax", "Reshape": "reshape",
            "LinearRegressionOutput": "MAERegressionOutput SVMOutput BlockGrad MakeLoss make_loss IdentityAttachKLSparseReg _copy identity",
            "cast": "Cast amp_cast", "add_n": "ElementWiseSum", "SwapAxis": "swapaxes", "Concat": "concat", "slice": "crop", "SliceChannel": "split",
            "broadcast_axis": "broadcast_axes", "flatten": "Flatten"},
}


def spellings():
    first = {}
    for op, dialect, *rest in CASES:
        first.setdefault((dialect, op), rest)
    for op in IN_BOTH.split():
        first.setdefault((MXNET, op), first[CORE, op])
        CASES.append((op, MXNET, *first[CORE, op]))
    for dialect, names in SPELLINGS.items():
        for op, others in names.items():
            CASES.extend((other, dialect, *first[dialect, op]) for other in others.split())


def make_cases():
    for make in (functions, pairs, weighted, pools, norms, shapes, reductions, orders, sizes, detection, spellings):
        make()


def main():
    tap = Tap()
    make_cases()
    for title, dialect in (("NNVM core", CORE), ("MXNet", MXNET)):
        check_list(tap, title, {op for op, mxnet, *_ in CASES if mxnet == dialect})
    for dialect in (CORE, MXNET):
        cases = [case for case in CASES if case[1] == dialect]
        for first in range(0, len(cases), AT_ONCE):
            some = cases[first:first + AT_ONCE]
            for (op, _, _, _, attrs, _), faults in zip(some, faults_of_each(sys.argv[1], some, 1e-4)):
                tap.check(f"{op} of {'MXNet' if dialect else 'core'} {attrs}", faults)
    tap.end()


if __name__ == "__main__":
    main()
