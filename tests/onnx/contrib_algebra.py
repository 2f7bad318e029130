#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: contrib_algebra.py LIGHTNET. Inverses, distances, products with sparse matrices, mixtures of experts and recurrent
networks with integer weights of ONNX Runtime's domain com.microsoft agree with formulas in double precision."""
import math
import os
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import CONTRIB, FLOATS, Part, check_kinds, check_rejected, contrib, elements, ranged_faults_of
from onnx_writer import node, sparse_tensor, tensor
from tap import Tap

# Sums of a few dozen numbers around 1, in the precision of the type.
TOLERANCE = {"float": 2e-5, "double": 1e-9, "float16": 6e-3}
F32 = np.float32
rng = np.random.default_rng(20261127)


def real(*dims, kind="float", low=-2.0, high=2.0):
    return rng.uniform(low, high, dims).astype(FLOATS[kind])


def wide(array):
    return None if array is None else array.astype(float)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# ---- matrices ----

def inverses():
    for kind in FLOATS:
        for dims in ((1, 1), (2, 2), (5, 5), (3, 4, 4), (2, 3, 6, 6), (2, 0, 0), (0, 3, 3)):
            # A dominant diagonal: the condition is about 10.
            x = (real(*dims, kind="double", low=-1, high=1) + dims[-1] * np.eye(dims[-1])).astype(FLOATS[kind])
            yield contrib(f"{kind} {dims}", "Inverse", [x], np.linalg.inv(wide(x)).astype(FLOATS[kind]))
    yield contrib("rows that must be swapped", "Inverse", [F32([[0, 2, 0], [0, 0, 4], [1, 0, 0]])],
                  F32([[0, 0, 1], [0.5, 0, 0], [0, 0.25, 0]]))
    yield contrib("no inverse, of one element", "Inverse", [F32([[[0]], [[2]]])], F32([[[np.inf]], [[0.5]]]))


def distances():
    for kind in ("float", "double"):
        for m, k, n in ((3, 5, 4), (1, 1, 1), (2, 300, 3), (0, 2, 3), (2, 0, 3), (2, 3, 0)):
            a, b = real(m, n, kind=kind), real(k, n, kind=kind)
            squares = ((wide(a)[:, None] - wide(b)[None]) ** 2).sum(-1)
            for const in ((), (1,)):
                what = f"{kind} {m} x {k} of {n}, constants {const}"
                yield contrib(what, "CDist", [a, b], squares.astype(FLOATS[kind]), const)
                yield contrib(what, "CDist", [a, b], squares.astype(FLOATS[kind]), const, metric="sqeuclidean")
                yield contrib(what, "CDist", [a, b], np.sqrt(squares).astype(FLOATS[kind]), const, metric="euclidean")
    far = F32([[1000, 1000.125], [1000, 1000.25]])
    yield contrib("points that are near one another", "CDist", [far, far], F32([[0, 0.125], [0.125, 0]]), metric="euclidean")


def sparse_product(sentence, kind, sparse, dense, by_coordinates=1, **attributes):
    """`sparse` is written without its zeros."""
    at = np.argwhere(sparse) if by_coordinates else np.flatnonzero(sparse)
    values = sparse[sparse != 0]
    constant = sparse_tensor(sparse.shape, tensor("v", *elements(values)), tensor("i", *elements(at.astype(np.int64))))
    a, b = (v.T if attributes.get(key) else v for v, key in ((sparse, "transA"), (dense, "transB")))
    whole = attributes.get("alpha", 1.0) * (a.astype(float) @ b.astype(float))
    nodes = [node("Constant", [], ["s"], sparse_value=constant),
             node("SparseToDenseMatMul", ["s", "x"], ["y"], domain=CONTRIB, **attributes)]
    return Part(f"{sentence}, {kind}", 17, nodes, {"x": dense}, {"y": whole.astype(sparse.dtype)})


def sparse_products():
    for kind in ("float", "double", "int32", "int64", "uint32", "uint64"):
        dtype = np.dtype(kind if kind != "float" else "float32")
        a, b = rng.integers(0, 3, (4, 5)).astype(dtype), rng.integers(0, 9, (5, 3)).astype(dtype)
        yield sparse_product("by coordinates", kind, a, b)
        yield sparse_product("elements counted", kind, a, b, 0)
        yield sparse_product("both transposed", kind, a.T.copy(), b.T.copy(), transA=1, transB=1)
        yield sparse_product("twice", kind, a, b, alpha=2.0)
    yield sparse_product("no element", "float", np.zeros((2, 3), F32), real(3, 4))
    a, b = real(4, 3), real(3, 2)
    yield contrib("a dense matrix in the place of the sparse one", "SparseToDenseMatMul", [a, b],
                  (0.5 * (wide(a) @ wide(b))).astype(F32), alpha=0.5)


# ---- mixtures of experts ----

ACTS = {"relu": lambda x: np.maximum(x, 0), "silu": lambda x: x * sigmoid(x), "identity": lambda x: x,
        "gelu": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))}


def gated(g, l, alpha, beta, limit):
    g, l = np.minimum(g, limit), np.clip(l, -limit, limit)
    return g * sigmoid(alpha * g) * (l + beta)


def inside(x, fc1, fc3, how):
    """The activated elements of an expert; fc1, fc3: weights and bias."""
    first = fc1[0] @ x + fc1[1]
    third = None if fc3 is None else fc3[0] @ x + fc3[1]
    act, fusion = how.get("activation_type", "relu"), how.get("swiglu_fusion", 0)
    if act != "swiglu":
        return ACTS[act](first) * (1 if third is None else third)
    half = len(first) // 2
    g, l = {0: (first, third), 1: (first[::2], first[1::2]), 2: (first[:half], first[half:])}[fusion]
    return gated(g, l, how.get("activation_alpha", 1.0), how.get("activation_beta", 0.0), how.get("swiglu_limit", math.inf))


def mixture(arrays, how, given=None):
    """`given`: the weights of all experts, instead of probabilities."""
    x, router, w1, b1, w2, b2, w3, b3 = [wide(array) for array in arrays]
    k, out = how.get("k", 1), np.zeros((len(router), x.shape[-1]))
    for t, (row, logits) in enumerate(zip(x.reshape(len(router), -1), router)):
        chances = np.exp(logits - logits.max())
        chances /= chances.sum()
        best = np.argsort(-chances, kind="stable")[:k]
        weights = (chances if given is None else wide(given)[t])[best]
        if how.get("normalize_routing_weights"):
            weights = weights / (weights.sum() or 1)
        for e, weight in zip(best, weights):
            inner = inside(row, (w1[e], 0 if b1 is None else b1[e]),
                           None if w3 is None else (w3[e], 0 if b3 is None else b3[e]), how)
            out[t] += weight * (w2[e] @ inner + (0 if b2 is None else b2[e]))
    return out.reshape(x.shape)


def expert(sentence, dims, experts, inner, kind="float", biases=True, third=False, const=(), **how):
    size, tokens = dims[-1], math.prod(dims[:-1])
    rows = inner * (2 if how.get("swiglu_fusion") and how["activation_type"] == "swiglu" else 1)

    def bias(*shape):
        return real(*shape, kind=kind) if biases else None
    arrays = [real(*dims, kind=kind), real(tokens, experts, kind=kind), real(experts, rows, size, kind=kind, low=-0.5, high=0.5),
              bias(experts, rows), real(experts, size, inner, kind=kind, low=-0.5, high=0.5), bias(experts, size),
              real(experts, inner, size, kind=kind, low=-0.5, high=0.5) if third else None,
              bias(experts, inner) if third else None]
    return contrib(f"{kind} {dims}, {experts} experts, {sentence}, {how}", "MoE", arrays,
                   mixture(arrays, how).astype(FLOATS[kind]), const, **how)


def experts():
    for kind in ("float", "float16"):
        for dims in ((5, 4), (1, 4), (2, 3, 4)):
            for k in (1, 2, 3):
                yield expert("biases", dims, 3, 6, kind, k=k)
                yield expert("no bias", dims, 3, 6, kind, False, k=k, normalize_routing_weights=1)
        for act in ACTS:
            yield expert("an activation", (3, 4), 4, 6, kind, k=2, activation_type=act)
            yield expert("an activation times FC3", (3, 4), 4, 6, kind, third=True, k=2, activation_type=act)
        for fusion in (0, 1, 2):
            for more in ({}, {"activation_alpha": 1.5, "activation_beta": 1.0, "swiglu_limit": 0.75}):
                yield expert("a gate", (3, 4), 4, 6, kind, third=not fusion, k=2, activation_type="swiglu",
                             swiglu_fusion=fusion, **more)
    yield expert("constant weights", (7, 4), 5, 6, const=(2, 3, 4, 5), k=2)
    yield expert("more tokens than a tile of a product has", (40, 33), 6, 35, k=4)


def in_bytes(elements, bits):
    """Rows of elements of `bits` bits, the first one in the lowest bits; each row begins at a new byte."""
    per_byte, cols = 8 // bits, elements.shape[-1]
    out = np.zeros((*elements.shape[:-1], -(-cols // per_byte)), np.uint8)
    for j in range(cols):
        out[..., j // per_byte] |= (elements[..., j] << j % per_byte * bits).astype(np.uint8)
    return out


def few_bits(dims, bits, block, has_zeros, kind):
    """Integers [experts, rows, cols], scales and zero points in the layout of QMoE, and the weights that they mean."""
    experts, rows, cols = dims
    blocks = -(-cols // block) if block else 1
    q = rng.integers(0, 1 << bits, dims)
    zeros = rng.integers(0, 1 << bits, (experts, rows, blocks)) if has_zeros else np.full((experts, rows, blocks), 1 << bits - 1)
    scales = real(experts, rows, blocks, kind=kind, low=0.3 / (1 << bits), high=1 / (1 << bits))
    weights = np.array([[[(q[e, i, j] - zeros[e, i, j // block if block else 0]) * float(scales[e, i, j // block if block else 0])
                          for j in range(cols)] for i in range(rows)] for e in range(experts)])
    if not block:
        scales, zeros = scales[..., 0], zeros[..., 0]
    return in_bytes(q, bits), scales, in_bytes(zeros, bits) if has_zeros else None, weights


def quantized_expert(sentence, dims, inner, bits, block=0, zeros=False, kind="float", biases=True, third=False, given=None,
                     const=range(2, 14), experts=3, scale_kind="", **how):
    """QMoE; `third`: with FC3; `given`: router_weights; `block` 0: a scale for each row."""
    size, tokens = dims[-1], math.prod(dims[:-1])
    rows = inner * (2 if how.get("swiglu_fusion") and how["activation_type"] == "swiglu" else 1)
    layers = [few_bits((experts, n, k), bits, block, zeros, scale_kind or kind)
              for n, k in ((rows, size), (size, inner), (inner, size))[:3 if third else 2]]
    bias = [real(experts, weights.shape[1], kind=kind) if biases else None for *_, weights in layers]
    x, router = real(*dims, kind=kind), real(tokens, experts, kind=kind)
    none = [None] * (3 - len(layers))
    arrays = [x, router] + [array for layer, own in zip(layers, bias) for array in (*layer[:2], own)] + none * 3
    arrays += [layer[2] for layer in layers] + none + [given]
    whole = [x, router] + [array for layer, own in zip(layers, bias) for array in (layer[3], own)] + none * 2
    while arrays[-1] is None:
        del arrays[-1]
    how |= {"expert_weight_bits": bits} | ({"block_size": block} if block else {})
    return contrib(f"{kind} {dims}, {sentence}, zeros {zeros}, {how}", "QMoE", arrays,
                   mixture(whole, how, given).astype(FLOATS[kind]), const, **how)


def quantized_experts():
    for bits in (2, 4, 8):
        for block in (0, 16):
            for zeros in (False, True):
                for k in (1, 2):
                    yield quantized_expert("biases", (5, 32), 48, bits, block, zeros, k=k, activation_type="silu")
                yield quantized_expert("no bias", (2, 3, 32), 48, bits, block, zeros, biases=False, k=2, activation_type="gelu",
                                       normalize_routing_weights=1)
                for fusion in (0, 1, 2):
                    yield quantized_expert("a gate", (3, 32), 16, bits, block, zeros, third=not fusion, k=2,
                                           activation_type="swiglu", swiglu_fusion=fusion, activation_alpha=1.5,
                                           activation_beta=1.0, swiglu_limit=0.75)
    for kind in ("float", "float16"):
        for act in ACTS:
            yield quantized_expert("an activation times FC3", (3, 32), 16, 4, 16, True, kind, third=True, activation_type=act)
            yield quantized_expert("an activation", (3, 8), 12, 4, 0, True, kind, k=2, activation_type=act)
    yield quantized_expert("scales of another type", (3, 32), 16, 8, 16, kind="float16", scale_kind="float")
    yield quantized_expert("a last block that is shorter", (3, 24), 40, 4, 16, True, k=2)
    yield quantized_expert("other attributes", (3, 8), 6, 4, quant_type="int", weights_prepacked=0, accuracy_level=4)
    yield quantized_expert("weights that are no constants", (3, 8), 6, 4, zeros=True, const=())
    for normalize in (0, 1):
        given = np.concatenate([real(4, 3, low=0.1, high=1), np.zeros((1, 3), F32)])
        yield quantized_expert("weights of experts", (5, 8), 6, 8, given=given, k=2, normalize_routing_weights=normalize)


# ---- recurrent networks ----

def steps_of(x, w, r, b, h, c, p, acts, clip, coupled):
    """[T, B, I] through one direction: all h, and the last h and c. Gates are in the order i, o, f, c."""
    f, g, last = acts
    size, outs = r.shape[0], []
    b = np.zeros(8 * size) if b is None else b
    pi, po, pf = np.zeros((3, size)) if p is None else p.reshape(3, size)

    def bounded(value):
        return value if clip is None else np.clip(value, -clip, clip)
    for row in x:
        i, o, fg, cg = np.split(row @ w + h @ r + b[:4 * size] + b[4 * size:], 4, axis=1)
        i = f(bounded(i + pi * c))
        fg = 1 - i if coupled else f(bounded(fg + pf * c))
        c = fg * c + i * g(bounded(cg))
        h = f(bounded(o + po * c)) * last(c)
        outs.append(h)
    return np.stack(outs), h, c


def lstm(sentence, directions, kind, by_column, steps=3, batch=2, inputs=4, size=5, more=(), **how):
    """`more`: which of bias, initial_h, initial_c and peephole there are."""
    dtype = np.dtype(kind)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = real(steps, batch, inputs)
    w = rng.integers(low, high + 1, (directions, inputs, 4 * size)).astype(dtype)
    r = rng.integers(low, high + 1, (directions, size, 4 * size)).astype(dtype)
    shape = (directions, 4 * size) if by_column else (directions,)
    scales = [rng.uniform(0.002, 0.006, shape).astype(F32) for _ in range(2)]
    zeros = [rng.integers(low // 4, high // 4, shape).astype(dtype) for _ in range(2)]
    full = {"bias": (directions, 8 * size), "initial_h": (directions, batch, size), "initial_c": (directions, batch, size),
            "peephole": (directions, 3 * size)}
    bias, first_h, first_c, peephole = (real(*dims, low=-1, high=1) if name in more else None for name, dims in full.items())
    if how.get("direction") == "reverse":
        turns = [-1]
    else:
        turns = [1, -1][:directions]
    results = []
    for d, turn in enumerate(turns):
        wide_w, wide_r = ((v[d].astype(float) - zero[d]) * scale[d] for v, zero, scale in zip((w, r), zeros, scales))
        parts = steps_of(wide(x)[::turn], wide_w, wide_r, None if bias is None else wide(bias)[d],
                         np.zeros((batch, size)) if first_h is None else wide(first_h)[d],
                         np.zeros((batch, size)) if first_c is None else wide(first_c)[d],
                         None if peephole is None else wide(peephole)[d], how.pop("functions", (sigmoid, np.tanh, np.tanh)),
                         how.get("clip"), how.get("input_forget", 0))
        results.append((parts[0][::turn], *parts[1:]))
    y = np.stack([out for out, _, _ in results], 1)
    h, c = (np.stack([each[i] for each in results]) for i in (1, 2))
    arrays = [x, w, r, bias, None, first_h, first_c, peephole, scales[0], zeros[0], scales[1], zeros[1]]
    return contrib(f"{sentence}, {directions} directions of {kind}, scales {shape}", "DynamicQuantizeLSTM", arrays,
                   [v.astype(F32) for v in (y, h, c)], (1, 2, 8, 9, 10, 11), hidden_size=size, **how)


def recurrent_networks():
    for kind in ("int8", "uint8"):
        for by_column in (0, 1):
            yield lstm("forward", 1, kind, by_column)
            yield lstm("reverse", 1, kind, by_column, more=("bias",), direction="reverse")
            yield lstm("both ways", 2, kind, by_column, more=("bias", "initial_h", "initial_c"), direction="bidirectional")
            yield lstm("peepholes", 1, kind, by_column, more=("bias", "peephole"), clip=0.75)
            yield lstm("coupled gates", 1, kind, by_column, more=("initial_c",), input_forget=1)
    yield lstm("one step", 1, "int8", 1, steps=1, batch=1, inputs=1, size=1)
    yield lstm("other activations", 1, "int8", 0, activations=["Relu", "Tanh", "Tanh"],
               functions=(ACTS["relu"], np.tanh, np.tanh))


KINDS = (inverses, distances, sparse_products, experts, quantized_experts, recurrent_networks)
X = real(2, 3)
LAYERS = [real(2, 4, 3), None, real(2, 3, 4)]
# QMoE with 2 experts of 4 bits, hidden size 4 and intermediate size 6, with zero points.
ROUTER, FEW = real(2, 2), [layer[:3] for layer in (few_bits(dims, 4, 0, True, "float") for dims in ((2, 6, 4), (2, 4, 6)))]
W = np.zeros((1, 3, 8), np.int8)
SCALES = [F32([1]), np.int8([0])]


def network(w=W, r=W[:, :2], scales=tuple(SCALES)):
    return [real(2, 1, 3), w, np.ascontiguousarray(r), None, None, None, None, None, *scales, *SCALES]


def quantized(changed=None, size=4):
    """The inputs of a right QMoE, some of them changed: {index: array}."""
    arrays = [real(2, size), ROUTER, *FEW[0][:2], None, *FEW[1][:2], *[None] * 4, FEW[0][2], FEW[1][2], *[None] * 3]
    for i, array in (changed or {}).items():
        arrays[i] = array
    return arrays


def bits_of(*shape):
    return np.zeros(shape, np.uint8)


# Operator, inputs, attributes, and words of the message.
WRONG = [
    ("Inverse", [X], {}, "'src' has shape [2, 3], expected [.., n, n]"),
    ("CDist", [X, X], {"metric": "cosine"}, "'metric' is \"cosine\", expected one of \"sqeuclidean\", \"euclidean\""),
    ("CDist", [X, X.T.copy()], {}, "'src1' has rows of 3 elements and 'src2' columns of 2"),
    ("CDist", [X, X[0]], {}, "input 1 has 1 dimensions, expected 2"),
    ("SparseToDenseMatMul", [X, X[0]], {}, "input 1 has 1 dimensions, expected 2"),
    ("MoE", [X, X[:, :2].copy(), *LAYERS], {"k": 3}, "attribute 'k' is 3, expected at most 2"),
    ("MoE", [X, X, *LAYERS], {}, "input 1, 'router_probs', has shape [2, 3], expected [2, 2]"),
    ("MoE", [X, X[:, :2].copy(), LAYERS[2], None, LAYERS[2]], {},
     "input 2, 'fc1_experts_weights', has shape [2, 3, 4], expected [2, 4, 3]"),
    ("MoE", [X, X[:, :2].copy(), *LAYERS], {"activation_type": "swiglu"}, "input 6 is missing"),
    ("MoE", [X, X[:, :2].copy(), *LAYERS], {"activation_type": "swiglu", "swiglu_fusion": 1}, "expected [2, 8, 3]"),
    ("MoE", [X, X[:, :2].copy(), *LAYERS], {"activation_type": "tanh"}, "'activation_type' is \"tanh\", expected one of"),
    ("MoE", [X, X[:, :2].copy(), *LAYERS], {"use_sparse_mixer": 1}, "attribute 'use_sparse_mixer' is 1, expected 0"),
    ("MoE", [X[0], X[:, :2].copy(), *LAYERS], {}, "input 0 has 1 dimensions, expected 2 or 3"),
    ("QMoE", quantized(), {"k": 3}, "attribute 'k' is 3, expected at most 2"),
    ("QMoE", quantized(), {"expert_weight_bits": 3}, "'expert_weight_bits' is 3, expected 2, 4 or 8"),
    ("QMoE", quantized(), {"block_size": 8}, "'block_size' is 8, expected a power of 2, at least 16"),
    ("QMoE", quantized(), {"block_size": 48}, "'block_size' is 48, expected a power of 2, at least 16"),
    ("QMoE", quantized(), {"block_size": 16}, "input 3, 'fc1_scales', has shape [2, 6], expected [2, 6, 1]"),
    ("QMoE", quantized(), {"quant_type": "fp4"}, "'quant_type' is \"fp4\", expected one of \"int\""),
    ("QMoE", quantized(), {"weights_prepacked": 1}, "attribute 'weights_prepacked' is 1, expected 0"),
    ("QMoE", quantized(), {"use_sparse_mixer": 1}, "attribute 'use_sparse_mixer' is 1, expected 0"),
    ("QMoE", quantized(), {"activation_type": "swiglu"}, "input 8 is missing"),
    ("QMoE", quantized({3: None}), {}, "input 3 is missing"),
    ("QMoE", quantized({2: FEW[0][0].astype(np.int8)}), {}, "input 2, 'fc1_experts_weights', has type TL_INT8, expected TL_UINT8"),
    ("QMoE", quantized({12: bits_of(2, 2).astype(F32)}), {}, "input 12, 'fc2_zero_points', has type TL_FLOAT, expected TL_UINT8"),
    ("QMoE", quantized({2: bits_of(2, 6, 3)}), {}, "input 2, 'fc1_experts_weights', has shape [2, 6, 3], expected [2, 6, 2]"),
    ("QMoE", quantized(size=5), {}, "input 2, 'fc1_experts_weights', has rows of 5 elements, expected a multiple of 2"),
    ("QMoE", quantized({6: F32([[1] * 3] * 2)}), {}, "input 6, 'fc2_scales', has shape [2, 3], expected [2, 4]"),
    ("QMoE", quantized({11: bits_of(2, 6)}), {}, "input 11, 'fc1_zero_points', has shape [2, 6], expected [2, 3]"),
    ("QMoE", quantized({4: real(2, 4)}), {}, "input 4, 'fc1_experts_bias', has shape [2, 4], expected [2, 6]"),
    ("QMoE", quantized({14: real(2, 3)}), {}, "input 14, 'router_weights', has shape [2, 3], expected [2, 2]"),
    ("QMoE", quantized({15: F32([1, 1])}), {}, "input 15, 'fc1_global_scale', is not supported"),
    ("QMoE", quantized({5: bits_of(2, 4)}), {}, "input 5, 'fc2_experts_weights', has 2 dimensions, expected 3"),
    ("DynamicQuantizeLSTM", network(W.transpose(0, 2, 1).copy()), {}, "'W' has shape [1, 8, 3], expected [1, 3, 8]"),
    ("DynamicQuantizeLSTM", network(scales=(F32([1, 2]), SCALES[1])), {}, "input 8, 'scale', has shape [2], expected [1]"),
    ("DynamicQuantizeLSTM", network(scales=(F32([[1] * 8]), SCALES[1])), {},
     "input 9, 'zero point', has shape [1], expected [1, 8]"),
    ("DynamicQuantizeLSTM", network()[:8], {}, "input 8 is missing"),
]


def first_tokens(whole, tokens):
    """The same model of the first tokens."""
    given = {name: array[..., :tokens, :] for name, array in whole.given.items()}
    return Part(whole.sentence, whole.opset, whole.nodes, given, {"y0": whole.wanted["y0"][..., :tokens, :]}, whole.constants)


def check_ranged(tap, lightnet):
    for dims, sizes in (((9, 4), "1..9x4"), ((1, 9, 4), "1x1..9x4")):
        for whole in (expert("", dims, 3, 6, const=(2, 3, 4, 5), k=2),
                      quantized_expert("", dims, 6, 4, zeros=True, given=real(9, 3, low=0.1), k=2, normalize_routing_weights=1)):
            op_type = whole.sentence.split()[0]
            ranges = {name: sizes if name == "x0" else "1..9x3" for name in whole.given}
            tap.check(f"{op_type} of a number of tokens known only at run time, {len(dims)} dimensions",
                      ranged_faults_of(lightnet, [first_tokens(whole, n) for n in (1, 5, 9)], ranges, TOLERANCE["float"]))


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    check_kinds(tap, lightnet, KINDS, TOLERANCE, is_written=True)
    for op_type, arrays, attributes, message in WRONG:
        check_rejected(tap, lightnet, contrib("", op_type, arrays, X, const=range(1, 12), **attributes),
                       f"{op_type} is rejected: {message}", message)
    check_ranged(tap, lightnet)
    tap.end()


if __name__ == "__main__":
    main()
