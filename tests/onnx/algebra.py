#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: algebra.py LIGHTNET. ONNX reductions, products, normalizations, losses and attention agree with numpy."""
import os
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import FLOATS, INTEGERS, check_kinds, check_rejected, one_node as case
from tap import Tap

# Sums of a few dozen numbers around 1, whose roundings add up, of functions of the C library.
TOLERANCE = {"float": 2e-5, "double": 1e-12, "float16": 5e-3}
F32 = np.float32
INF = np.inf
rng = np.random.default_rng(20260221)


def real(*dims, kind="float", low=-2.0, high=2.0):
    return rng.uniform(low, high, dims).astype(FLOATS[kind])


def ints(*values):
    return np.array(values, np.int64)


REDUCTIONS = {
    "Sum": lambda x, a: x.sum(a, keepdims=True), "Mean": lambda x, a: x.mean(a, keepdims=True),
    "Prod": lambda x, a: x.prod(a, keepdims=True), "Max": lambda x, a: x.max(a, keepdims=True),
    "Min": lambda x, a: x.min(a, keepdims=True), "L1": lambda x, a: np.abs(x).sum(a, keepdims=True),
    "L2": lambda x, a: np.sqrt((x * x).sum(a, keepdims=True)), "SumSquare": lambda x, a: (x * x).sum(a, keepdims=True),
    "LogSum": lambda x, a: np.log(x.sum(a, keepdims=True)),
    "LogSumExp": lambda x, a: np.log(np.exp(x).sum(a, keepdims=True)),
}
OF_NOTHING = {"Sum": 0, "Prod": 1, "Max": -INF, "Min": INF, "L1": 0, "L2": 0, "SumSquare": 0, "LogSum": -INF,
              "LogSumExp": -INF}


def reductions():
    for name, formula in REDUCTIONS.items():
        op_type, by_input = f"Reduce{name}", 13 if name == "Sum" else 18
        for kind in FLOATS:
            x = real(2, 3, 4, kind=kind, low=0.5)
            wide = x.astype(np.float64)
            yield case(f"{kind}, axes as input", op_type, [x, ints(0, -1)], formula(wide, (0, 2)).astype(x.dtype), by_input,
                       [1])
            yield case(f"{kind}, axes as attribute", op_type, [x], formula(wide, 1)[:, 0].astype(x.dtype), by_input - 1,
                       axes=[-2], keepdims=0)
            yield case(f"{kind}, all axes", op_type, [x], formula(wide, None).astype(x.dtype).reshape(()), by_input,
                       keepdims=0)
        x = rng.integers(1, 5, (2, 3)).astype(np.int32)
        yield case("int32", op_type, [x, ints(1)], np.trunc(formula(x.astype(float), 1)).astype(np.int32), by_input, [1])
        x = real(2, 3, low=0.5)
        yield case("no axes", op_type, [x], formula(x.reshape(2, 3, 1), 2)[..., 0], by_input, noop_with_empty_axes=1)
        if name in OF_NOTHING:
            yield case("nothing", op_type, [np.zeros((2, 0), F32), ints(1)], np.full((2, 1), OF_NOTHING[name], F32),
                       by_input, [1])
    flags = np.array([[True, False], [True, True], [False, False]])
    yield case("bools", "ReduceMax", [flags, ints(1)], flags.max(1, keepdims=True), 20, [1])
    yield case("bools", "ReduceMin", [flags, ints(1)], flags.min(1, keepdims=True), 20, [1])


def along_an_axis():
    for kind in (*FLOATS, *INTEGERS):
        x = rng.integers(0, 4, (3, 5)).astype(kind if kind in INTEGERS else FLOATS[kind])
        last = x.shape[1] - 1
        yield case(kind, "ArgMax", [x], x.argmax(0)[None], 13)
        yield case(f"{kind}, the last", "ArgMin", [x], last - x[:, ::-1].argmin(1), 13, axis=-1, keepdims=0,
                   select_last_index=1)
        yield case(kind, "CumSum", [x, np.int32(1)], x.cumsum(1, dtype=x.dtype), 14, [1])
        order = np.argsort(-x.astype(float), axis=1, kind="stable")[:, :3]
        yield case(kind, "TopK", [x, ints(3)], [np.take_along_axis(x, order, 1), order], 24, [1])
        order = np.argsort(x.astype(float), axis=0, kind="stable")[:2]
        yield case(f"{kind}, the smallest", "TopK", [x, ints(2)], [np.take_along_axis(x, order, 0), order], 11, [1],
                   axis=0, largest=0)
    x = np.array([2, 3, 4], F32)
    yield case("from the end, each without itself", "CumSum", [x, np.int64(0)], F32([7, 4, 0]), 11, [1], exclusive=1,
               reverse=1)
    yield case("products", "CumProd", [x, np.int64(0)], F32([2, 6, 24]), 26, [1])
    yield case("products, each without itself", "CumProd", [x, np.int64(0)], F32([1, 2, 6]), 26, [1], exclusive=1)
    yield case("only the indices", "TopK", [x], [None, ints(2)], 1, k=1)


def products():
    shapes = [((2, 1, 3, 4), (5, 4, 2)), ((4,), (4,)), ((4,), (3, 4, 2)), ((3, 2, 4), (4,)), ((3, 0), (0, 2)),
              ((70, 130), (130, 150)), ((2, 65, 3), (3, 9))]
    for kind in (*FLOATS, *INTEGERS):
        for one, other in shapes[:2] if kind in INTEGERS else shapes:
            a, b = (rng.integers(0, 4, s).astype(kind) if kind in INTEGERS else real(*s, kind=kind) for s in (one, other))
            wide = np.matmul(a.astype(float), b.astype(float))
            yield case(f"{kind} {one} {other}", "MatMul", [a, b], wide.astype(a.dtype))
    a, b = real(4, 3), real(5, 4)
    for c in (None, real(3, 5), real(5), real(1), real(3, 1), F32(2)):
        yield case(f"with {np.shape(c)}", "Gemm", [a, b] if c is None else [a, b, c],
                   F32(0.5) * (a.T @ b.T) + (0 if c is None else F32(2) * c), 13, transA=1, transB=1, alpha=0.5, beta=2.0)
    for one in ("int8", "uint8"):
        for other in ("int8", "uint8"):
            a, b = rng.integers(0, 127, (5, 7)).astype(one), rng.integers(0, 127, (7, 3)).astype(other)
            rows, cols = rng.integers(0, 127, 5).astype(one), rng.integers(0, 127, 3).astype(other)
            wide = (a.astype(np.int32) - rows[:, None]) @ (b.astype(np.int32) - cols)
            yield case(f"{one} {other}", "MatMulInteger", [a, b, rows, cols], wide)
    yield case("a batch", "Det", [x := real(2, 3, 3, kind="double")], np.linalg.det(x))
    for equation, *shapes in (("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)), ("iji->j", (3, 5, 3)), ("ba", (3, 4)),
                              ("i,j->ij", (3,), (4,)), ("abc,cd,def->abef", (2, 3, 4), (4, 5), (5, 2, 3)),
                              ("i...->...", (2, 3, 4)), ("a,b,c->cba", (2,), (3,), (4,)), (",ij->ji", (), (3, 4)),
                              ("bqhd,bkhd->bhqk", (2, 3, 4, 5), (2, 6, 4, 5)), ("iij,jjk->ik", (3, 3, 4), (4, 4, 5)),
                              ("...,...->...", (3, 4), (4,)), ("ij,ij->", (3, 4), (3, 4)), ("ii", (4, 4))):
        arrays = [real(*shape) for shape in shapes]
        yield case(equation, "Einsum", arrays, np.einsum(equation, *arrays, dtype=float).astype(F32), 12, equation=equation)


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def normalized(x, axes, epsilon):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def normalizations():
    for kind in FLOATS:
        x = real(2, 6, 4, kind=kind)
        wide, flat = x.astype(float), x.astype(float).reshape(2, 24)
        scale, bias = real(4, kind=kind), real(4, kind=kind)
        yield case(kind, "Softmax", [x], softmax(wide).astype(x.dtype), 13)
        yield case(f"{kind}, all that follows", "Softmax", [x], softmax(flat).reshape(x.shape).astype(x.dtype), 11)
        yield case(kind, "LogSoftmax", [x], np.log(softmax(wide, 1)).astype(x.dtype), 13, axis=1)
        yield case(kind, "Hardmax", [x], (wide == wide.max(-1, keepdims=True)).astype(x.dtype), 13)
        yield case(kind, "LayerNormalization", [x, scale, bias],
                   (normalized(wide, 2, 0.125) * scale + bias).astype(x.dtype), 17, epsilon=0.125)
        yield case(kind, "RMSNormalization", [x, scale],
                   (wide / np.sqrt((wide**2).mean(2, keepdims=True) + 1e-5) * scale).astype(x.dtype), 23)
        groups = normalized(wide.reshape(2, 2, 12), 2, 0.125).reshape(2, 6, 4)
        for opset, n in ((18, 2), (21, 6)):
            factor, offset = real(n, kind=kind), real(n, kind=kind)
            full = [np.repeat(v.astype(float), 6 // n)[:, None] for v in (factor, offset)]
            yield case(kind, "GroupNormalization", [x, factor, offset], (groups * full[0] + full[1]).astype(x.dtype), opset,
                       num_groups=2, epsilon=0.125)
        yield case(kind, "MeanVarianceNormalization", [x], normalized(wide, (0, 2), 0).astype(x.dtype), 13, axes=[0, 2])
        yield case(kind, "LpNormalization", [x], (wide / np.abs(wide).sum(1, keepdims=True)).astype(x.dtype), 1, p=1, axis=1)
    for shape in ((0, 3, 2), (2, 0, 3), (2, 3, 0)):
        x = np.zeros(shape, F32)
        yield case(f"{shape}", "InstanceNormalization", [x, real(shape[1]), real(shape[1])], x, 6)
    yield case("of nothing but 0", "LpNormalization", [np.zeros((2, 2), F32)], np.zeros((2, 2), F32), 22)
    x, scale = real(2, 3, 4), real(2, 1, 4)
    yield case("scales of images", "LayerNormalization", [x, scale],
               [normalized(x, 2, 1e-5) * scale, x.mean(2, keepdims=True), 1 / np.sqrt(x.var(2, keepdims=True) + F32(1e-5))], 17)
    scale, bias, mean, var = real(3), real(3), real(3), real(3, low=0.5)
    for shape in ((2, 3), (2, 3, 4), (2, 3, 4, 5), (2, 3, 2, 2, 2)):
        x = real(*shape)
        tall = [v.reshape(-1, *[1] * (len(shape) - 2)) for v in (scale, bias, mean, var)]
        axes = tuple(k for k in range(len(shape)) if k != 1)
        yield case(f"{shape}", "BatchNormalization", [x, scale, bias, mean, var],
                   (x - tall[2]) / np.sqrt(tall[3] + F32(0.1)) * tall[0] + tall[1], 9, epsilon=0.1)
        yield case(f"{shape}, training", "BatchNormalization", [x, scale, bias, mean, var],
                   [normalized(x, axes, F32(0.1)) * tall[0] + tall[1], mean * F32(0.75) + x.mean(axes) * F32(0.25),
                    var * F32(0.75) + x.var(axes) * F32(0.25)], 15, epsilon=0.1, momentum=0.75, training_mode=1)
    x, p = real(2, 3, 4), [real(3, 4) for _ in range(3)] + [real(3, 4, low=0.5)]
    yield case("numbers of places", "BatchNormalization", [x, *p],
               (x - p[2]) / np.sqrt(p[3] + F32(0.1)) * p[0] + p[1], 7, epsilon=0.1, spatial=0)


def losses():
    x, weight, target = real(2, 3, 4), real(3, low=0.5), rng.integers(0, 3, (2, 4))
    target[1, 2] = -1
    picked = -np.take_along_axis(np.log(softmax(x.astype(float), 1)), np.maximum(target, 0)[:, None], 1)[:, 0]
    for given in (None, weight):
        factor = np.where(target < 0, 0, 1 if given is None else weight[target])
        loss = picked * factor
        for reduction, result in (("none", loss), ("sum", loss.sum()), ("mean", loss.sum() / factor.sum())):
            rest = [] if given is None else [given]
            log = np.log(softmax(x.astype(float), 1)).astype(F32)
            yield case(reduction, "NegativeLogLikelihoodLoss", [log, target, *rest], F32(result), 13, ignore_index=-1,
                       reduction=reduction)
            yield case(reduction, "SoftmaxCrossEntropyLoss", [x, target.astype(np.int32), *rest], [F32(result), log], 13,
                       ignore_index=-1, reduction=reduction)


def attended(q, k, v, bias=0.0, scale=None, softcap=0.0):
    """Of heads [B, H, S, D]: the result and the four stages of the scores."""
    k, v = (np.repeat(t, q.shape[1] // t.shape[1], axis=1).astype(float) for t in (k, v))
    scores = q.astype(float) @ k.swapaxes(2, 3) * (scale or 1 / np.sqrt(q.shape[3]))
    capped = np.tanh(scores / softcap) * softcap if softcap else scores
    biased = capped + bias
    with np.errstate(invalid="ignore"):
        weights = np.where(biased.max(3, keepdims=True) > -INF, softmax(biased), 0)
    return [(weights @ v).astype(F32)] + [t.astype(F32) for t in (scores, capped, biased, weights)]


def attention():
    q, k, v = real(2, 6, 4, 8), real(2, 3, 5, 8), real(2, 3, 5, 10)
    mask, past_k, past_v = real(4, 5), real(2, 3, 7, 8), real(2, 3, 7, 10)
    yield case("shared heads", "Attention", [q, k, v], attended(q, k, v)[0], 23)
    yield case("a factor", "Attention", [q, k, v], attended(q, k, v, scale=0.1)[0], 23, scale=0.1)
    for mode in range(4):
        result = attended(q, k, v, mask, softcap=2)
        yield case(f"stage {mode}", "Attention", [q, k, v, mask], [result[0], None, None, result[1 + mode]], 24, softcap=2.0,
                   qk_matmul_output_mode=mode)
    allowed = np.ones((4, 5), bool)
    allowed[1], allowed[2, 1:3] = False, False
    yield case("one may attend to nothing", "Attention", [q, k, v, allowed],
               attended(q, k, v, np.where(allowed, 0, -INF))[0], 24)
    whole_k, whole_v = np.concatenate([past_k, k], 2), np.concatenate([past_v, v], 2)
    causal = np.where(np.arange(12) <= np.arange(4)[:, None] + 7, 0, -INF)
    yield case("after a past", "Attention", [q, k, v, None, past_k, past_v],
               [attended(q, whole_k, whole_v, causal)[0], whole_k, whole_v], 23, is_causal=1)
    lens, short = ints(3, 5), real(4, 3)
    ends = np.where(np.arange(5) < lens[:, None, None, None], 0, -INF)
    padded = np.pad(short, [(0, 0), (0, 2)], constant_values=-INF)
    yield case("lengths", "Attention", [q, k, v, None, None, None, lens], attended(q, k, v, ends)[0], 24)
    yield case("a short mask", "Attention", [q, k, v, short], attended(q, k, v, padded)[0], 24)
    last = np.where(np.arange(5) <= np.arange(4)[:, None] + lens[:, None, None, None] - 4, 0, -INF)
    yield case("lengths, causal", "Attention", [q, k, v, None, None, None, lens], attended(q, k, v, ends + last)[0], 24,
               is_causal=1)
    flat = [t.swapaxes(1, 2).reshape(2, t.shape[2], -1) for t in (q, k, v)]
    yield case("flat heads", "Attention", flat, attended(q, k, v)[0].swapaxes(1, 2).reshape(2, 4, 60), 23, q_num_heads=6,
               kv_num_heads=3)
    x, angles, positions = real(2, 3, 4, 8), real(50, 3), rng.integers(0, 50, (2, 4))
    cosines, sines = np.cos(angles)[positions][:, None], np.sin(angles)[positions][:, None]
    for paired in (0, 1):
        a, b = (x[..., 0:6:2], x[..., 1:6:2]) if paired else (x[..., :3], x[..., 3:6])
        turned = [cosines * a - sines * b, sines * a + cosines * b]
        front = np.stack(turned, -1).reshape(2, 3, 4, 6) if paired else np.concatenate(turned, -1)
        expected = np.concatenate([front, x[..., 6:]], -1)
        caches = [np.cos(angles), np.sin(angles), positions]
        yield case(f"interleaved {paired}", "RotaryEmbedding", [x, *caches], expected, 23, interleaved=paired,
                   rotary_embedding_dim=6)
        yield case(f"flat heads, interleaved {paired}", "RotaryEmbedding", [x.swapaxes(1, 2).reshape(2, 4, 24), *caches],
                   expected.swapaxes(1, 2).reshape(2, 4, 24), 23, interleaved=paired, rotary_embedding_dim=6, num_heads=3)


X = real(2, 3)
# A node, its inputs, opset, attributes, and the message.
WRONG = [
    ("ReduceSum", [X], 11, {"axes": [2]}, "axis 2 of a tensor with 2 dimensions, expected -2 to 1"),
    ("ReduceSum", [X > 0], 11, {}, "'src' has type TL_BOOL, expected a number type for TL_REDUCE_SUM"),
    ("MatMul", [X, X], 13, {}, "shapes [2, 3] and [2, 3], expected [.., m, k] and [.., k, n]"),
    ("Einsum", [X, X], 12, {"equation": "ij,jk->ik"}, "axes with the same label have lengths"),
    ("Einsum", [X], 12, {"equation": "ij->ik"}, "a label in its result only"),
    ("Einsum", [X], 12, {"equation": "ij->ii"}, "a label twice in its result"),
    ("Einsum", [X], 12, {"equation": "i"}, "1 labels for an input of 2 dimensions"),
    ("Einsum", [X], 12, {"equation": "ij?"}, "'?', expected letters"),
    ("Einsum", [X], 12, {"equation": "ij,jk"}, "has more terms than 1 inputs"),
    ("LpNormalization", [X], 1, {"p": 3}, "attribute 'p' is 3, expected 1 to 2"),
    ("GroupNormalization", [X, X[0], X[0]], 21, {"num_groups": 2}, "3 channels, expected a multiple of 'groups', 2"),
    ("LRN", [X], 13, {}, "attribute 'size' is missing"),
    ("NegativeLogLikelihoodLoss", [X, ints(0, 3)], 13, {}, "'target' has 3, expected 0 to 2"),
    ("NegativeLogLikelihoodLoss", [X, ints(0, 1)], 13, {"reduction": "max"}, "\"max\", expected one of \"none\", \"sum\", \"mean\""),
    ("Attention", [real(1, 2, 6)] * 3, 23, {"q_num_heads": 4, "kv_num_heads": 4}, "'q_num_heads' is 4, expected a divisor"),
    ("Attention", [real(1, 3, 2, 4), *[real(1, 2, 2, 4)] * 2], 23, {}, "'Q' has 3 heads, expected a multiple of 2"),
]


def main():
    lightnet = sys.argv[1]
    tap = Tap()
    check_kinds(tap, lightnet, [reductions, along_an_axis, products, normalizations, losses, attention], TOLERANCE)
    for op_type, arrays, opset, attributes, message in WRONG:
        check_rejected(tap, lightnet, case("", op_type, arrays, X, opset, **attributes), f"{op_type} is rejected: {message}",
                      message)
    tap.end()


if __name__ == "__main__":
    main()
