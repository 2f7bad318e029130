#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: transformers.py LIGHTNET. Parts of transformers, as exporters write them: their compiled operators, and their results
compared with numpy."""
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

RNG = np.random.default_rng(20240611)
BATCH, STEPS, HEADS, GROUPS, SIZE = 2, 7, 4, 2, 8
WIDTH = HEADS * SIZE
EPSILON = 1e-5


# ---- the expected, in double ----

def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(q, k, v, mask=0):
    """Heads second."""
    return softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]) + mask) @ v


def heads_of(x, heads=HEADS):
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def joined(x):
    x = x.transpose(0, 2, 1, 3)
    return x.reshape(*x.shape[:2], -1)


def normalized(x, is_centered):
    d = x - x.mean(-1, keepdims=True) * is_centered
    return d / np.sqrt((d * d).mean(-1, keepdims=True) + EPSILON)


# ---- as exporters write it ----

def split(net, x, axes, heads=HEADS):
    return net.op("Transpose", net.reshape(x, BATCH, STEPS, heads, SIZE), perm=axes)


def merged(net, x):
    return net.reshape(net.op("Transpose", x, perm=[0, 2, 1, 3]), BATCH, STEPS, WIDTH)


def bert(net):
    """Scores divided and masked."""
    x, mask = net.input("x", BATCH, STEPS, WIDTH), net.input("mask", BATCH, 1, 1, STEPS)
    q, k, v = split(net, x, [0, 2, 1, 3]), split(net, x, [0, 2, 3, 1]), split(net, x, [0, 2, 1, 3])
    scores = net.op("Div", net.op("MatMul", q, k), np.float32(np.sqrt(SIZE)))
    weights = net.op("Softmax", net.op("Add", scores, mask), axis=-1)
    return merged(net, net.op("MatMul", weights, v)), \
        lambda x, mask: joined(attention(*[heads_of(x)] * 3, mask))


def scaled_dot_product(net):
    """Queries and keys multiplied by the root of the scale, the number first; the keys transposed twice."""
    q, k, v = (net.input(name, BATCH, STEPS, WIDTH) for name in "qkv")
    root = np.float32(SIZE ** -0.25)
    q, v = split(net, q, [0, 2, 1, 3]), split(net, v, [0, 2, 1, 3])
    k = net.op("Transpose", split(net, k, [0, 2, 1, 3]), perm=[0, 1, 3, 2])
    scores = net.op("MatMul", net.op("Mul", root, q), net.op("Mul", k, root))
    return merged(net, net.op("MatMul", net.op("Softmax", scores, axis=-1), v)), \
        lambda q, k, v: joined(attention(heads_of(q), heads_of(k), heads_of(v)))


def batched(net):
    """Heads as part of the batch, the queries scaled, a causal mask."""
    q, k, v = (net.input(name, BATCH, STEPS, WIDTH) for name in "qkv")
    causal = np.triu(np.full((1, STEPS, STEPS), -1e9, np.float32), 1)
    q, k, v = (net.reshape(split(net, x, [0, 2, 1, 3]), BATCH * HEADS, STEPS, SIZE) for x in (q, k, v))
    q = net.op("Mul", q, np.float32(SIZE ** -0.5))
    scores = net.op("Add", net.op("MatMul", q, net.op("Transpose", k, perm=[0, 2, 1])), causal)
    y = net.reshape(net.op("MatMul", net.op("Softmax", scores, axis=-1), v), BATCH, HEADS, STEPS, SIZE)
    return merged(net, y), lambda q, k, v: joined(attention(heads_of(q), heads_of(k), heads_of(v), causal))


def fused_projection(net):
    """Queries, keys and values from one product, one after the other."""
    x = net.input("x", BATCH, STEPS, 3 * WIDTH)
    five = net.op("Transpose", net.reshape(x, BATCH, STEPS, 3, HEADS, SIZE), perm=[2, 0, 3, 1, 4])
    q, k, v = (net.op("Gather", five, np.int64(i), axis=0) for i in range(3))
    scores = net.op("MatMul", net.op("Mul", q, np.float32(SIZE ** -0.5)), net.op("Transpose", k, perm=[0, 1, 3, 2]))
    return merged(net, net.op("MatMul", net.op("Softmax", scores, axis=-1), v)), \
        lambda x: joined(attention(*(heads_of(part) for part in np.split(x, 3, -1))))


def grouped_queries(net):
    """Each head of keys and values repeated for several of queries."""
    q, k, v = net.input("q", BATCH, STEPS, WIDTH), *(net.input(name, BATCH, STEPS, GROUPS * SIZE) for name in "kv")

    def repeated(x):
        x = net.reshape(split(net, x, [0, 2, 1, 3], GROUPS), BATCH, GROUPS, 1, STEPS, SIZE)
        x = net.op("Expand", x, np.array([BATCH, GROUPS, HEADS // GROUPS, STEPS, SIZE], np.int64))
        return net.reshape(x, BATCH, HEADS, STEPS, SIZE)

    k, v = net.op("Transpose", repeated(k), perm=[0, 1, 3, 2]), repeated(v)
    scores = net.op("Div", net.op("MatMul", split(net, q, [0, 2, 1, 3]), k), np.float32(np.sqrt(SIZE)))
    expected = lambda x: np.repeat(heads_of(x, GROUPS), HEADS // GROUPS, 1)
    return merged(net, net.op("MatMul", net.op("Softmax", scores, axis=-1), v)), \
        lambda q, k, v: joined(attention(heads_of(q), expected(k), expected(v)))


def layer_norm(net):
    x = net.input("x", BATCH, STEPS, WIDTH)
    scale, bias = (RNG.standard_normal(WIDTH).astype(np.float32) for _ in range(2))
    d = net.op("Sub", x, net.op("ReduceMean", x, axes=[-1]))
    variance = net.op("ReduceMean", net.op("Pow", d, np.float32(2)), axes=[-1])
    y = net.op("Div", d, net.op("Sqrt", net.op("Add", variance, np.float32(EPSILON))))
    return net.op("Add", net.op("Mul", y, scale), bias), lambda x: normalized(x, 1) * scale + bias


def layer_norm_by_products(net):
    """The square a product, the root's reciprocal a factor."""
    x = net.input("x", BATCH, STEPS, WIDTH)
    scale = RNG.standard_normal(WIDTH).astype(np.float32)
    d = net.op("Sub", x, net.op("ReduceMean", x, axes=[2]))
    variance = net.op("ReduceMean", net.op("Mul", d, d), axes=[2])
    root = net.op("Reciprocal", net.op("Sqrt", net.op("Add", np.float32(EPSILON), variance)))
    return net.op("Mul", scale, net.op("Mul", d, root)), lambda x: normalized(x, 1) * scale


def rms_norm(net):
    x = net.input("x", BATCH, STEPS, WIDTH)
    scale = RNG.standard_normal(WIDTH).astype(np.float32)
    mean = net.op("ReduceMean", net.op("Pow", x, np.float32(2)), axes=[-1])
    factor = net.op("Div", np.float32(1), net.op("Sqrt", net.op("Add", mean, np.float32(EPSILON))))
    return net.op("Mul", scale, net.op("Mul", x, factor)), lambda x: normalized(x, 0) * scale


def first_token(net):
    """Only the first token is classified: nothing else of the last operators is computed."""
    x = net.input("x", BATCH, STEPS, WIDTH)
    weight = RNG.standard_normal((WIDTH, WIDTH)).astype(np.float32)
    y = net.op("Add", x, net.op("Tanh", net.op("MatMul", x, weight)))
    return net.op("Gather", y, np.int64(0), axis=1), lambda x: (x + np.tanh(x @ weight))[:, 0]


# The compiled operators of each, without views.
FORMS = [
    (bert, ["attention_cpu"]),
    (scaled_dot_product, ["attention_cpu"]),
    (batched, ["attention_cpu"] + 4 * ["transpose_cpu"]),
    (fused_projection, ["attention_cpu"] + 3 * ["slice_cpu"]),
    (grouped_queries, ["attention_cpu"]),
    (layer_norm, ["layernorm_cpu"]),
    (layer_norm_by_products, ["layernorm_cpu"]),
    (rms_norm, ["rmsnorm_cpu"]),
    (first_token, ["slice_cpu", "matmul_cpu", "chain_cpu"]),
]


def main():
    tap = Tap()
    check_forms(tap, sys.argv[1], FORMS, RNG)
    tap.end()


if __name__ == "__main__":
    main()
