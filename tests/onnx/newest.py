#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: newest.py LIGHTNET. Operators of opsets 27 and 28 and of the preview domain, which ONNX's own test data of Debian does
not have, compared with numpy code written from the standard's text."""
import os
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import check_kinds, check_rejected, elements, faults_of, name_of, one_node
from onnx_writer import graph, model, node, tensor, value
from tap import Tap

RNG = np.random.default_rng(27)
TOLERANCE = {"float": 2e-5, "double": 1e-12, "float16": 4e-3}
FLOATS = (np.float32, np.float16)


def real(*dims, low=-1.0, high=1.0, dtype=np.float32):
    return RNG.uniform(low, high, dims).astype(dtype)


def wide(array):
    return None if array is None else np.asarray(array, np.float64)


# ---- SwiGLU, Celu, Range ----

def gates_and_units():
    for dtype in (np.float32, np.float16, np.float64):
        for dims, alpha in (((2, 3), 1.0), ((), 1.702), ((0, 4), 0.5), ((1, 7, 33), -2.0)):
            a, b = real(*dims, low=-4, high=4, dtype=dtype), real(*dims, dtype=dtype)
            attributes = {} if alpha == 1 else {"alpha": alpha}
            y = wide(a) / (1 + np.exp(-np.float32(alpha) * wide(a))) * wide(b)
            yield one_node(f"{dtype.__name__} {dims} alpha {alpha}", "SwiGLU", [a, b], y.astype(dtype), 28, **attributes)
            alpha = float(np.float32(abs(alpha)))
            y = np.maximum(wide(a), 0) + np.minimum(0, alpha * np.expm1(wide(a) / alpha))
            yield one_node(f"{dtype.__name__} {dims} alpha {alpha}", "Celu", [a], y.astype(dtype), 28, alpha=alpha)


def ranges():
    for dtype in (np.float32, np.float64, np.int16, np.int32, np.int64, np.float16):
        for start, limit, delta in ((3, 9, 3), (10, 4, -2), (0, 0, 1), (5, 4, 1)):
            numbers = [np.array(x, dtype) for x in (start, limit, delta)]
            yield one_node(f"{dtype.__name__} {start} {limit} {delta}", "Range", numbers,
                           np.arange(start, limit, delta).astype(dtype), 27, const=(0, 1, 2))
    numbers = [np.array(x, np.float16) for x in (2040, 2060, 1)]  # each is a float16, not all sums of the step are
    yield one_node("float16 beyond whole numbers", "Range", numbers, np.arange(2040, 2060).astype(np.float16), 27, const=(0, 1, 2))


# ---- LinearAttention ----

def linear_attention(q, k, v, past, decay, beta, heads, kv_heads, rule, scale):
    """The recurrence for each head and position, in double."""
    q, k, v, past, decay, beta = map(wide, (q, k, v, past, decay, beta))
    b, t, d, e = *q.shape[:2], q.shape[2] // heads, v.shape[2] // kv_heads
    q, k, v = q.reshape(b, t, heads, d), k.reshape(b, t, kv_heads, d), v.reshape(b, t, kv_heads, e)
    state = np.zeros((b, kv_heads, d, e)) if past is None else past.copy()
    out = np.zeros((b, t, heads, e))
    for i, at, g in np.ndindex(b, t, kv_heads):
        s = state[i, g]
        if "gated" in rule:
            s *= np.exp(decay[i, at].reshape(kv_heads, -1)[g])[:, None]
        update = v[i, at, g]
        if "delta" in rule:
            update = beta[i, at, g % beta.shape[2]] * (update - s.T @ k[i, at, g])
        s += np.outer(k[i, at, g], update)
        for h in range(g * heads // kv_heads, (g + 1) * heads // kv_heads):
            out[i, at, h] = scale * (s.T @ q[i, at, h])
    return out.reshape(b, t, heads * e), state


def linear_attentions():
    for dtype in FLOATS:
        for rule in ("linear", "gated", "delta", "gated_delta"):
            for b, t, heads, kv_heads, d, e, has_past, by_element, is_shared, scale in (
                    (2, 3, 4, 2, 5, 6, 1, 1, 0, 0.0), (1, 1, 2, 2, 8, 3, 0, 0, 1, 0.25), (1, 9, 3, 1, 4, 70, 1, 0, 0, 0.0)):
                q, v = real(b, t, heads * d, dtype=dtype), real(b, t, kv_heads * e, dtype=dtype)
                k = real(b, t, kv_heads * d, low=-0.4, high=0.4, dtype=dtype)
                past = real(b, kv_heads, d, e) if has_past else None  # a state of float32 beside 16-bit inputs
                decay = real(b, t, kv_heads * (d if by_element else 1), high=0, dtype=dtype) if "gated" in rule else None
                beta = real(b, t, 1 if is_shared else kv_heads, low=0, dtype=dtype) if "delta" in rule else None
                y, state = linear_attention(q, k, v, past, decay, beta, heads, kv_heads, rule, scale or d ** -0.5)
                attributes = {"scale": scale} if scale else {}
                yield one_node(f"{rule} {dtype.__name__} {(b, t, heads, kv_heads, d, e)}", "LinearAttention",
                               [q, k, v, past, decay, beta],
                               [y.astype(dtype), state.astype(np.float32 if has_past else dtype)], 27, q_num_heads=heads,
                               kv_num_heads=kv_heads, update_rule=rule, chunk_size=2, **attributes)


# ---- CausalConvWithState ----

def causal_convolutions():
    for dtype in FLOATS:
        for act in ("none", "silu", "swish", None):
            for b, c, t, k, has_bias, has_past in ((2, 3, 5, 4, 1, 1), (1, 4, 1, 3, 0, 1), (1, 17, 9, 1, 1, 0), (2, 5, 2, 6, 0, 0)):
                x, w = real(b, c, t, dtype=dtype), real(c, 1, k, dtype=dtype)
                bias = real(c, dtype=dtype) if has_bias else None
                past = real(b, c, k - 1, dtype=dtype) if has_past else None
                whole = np.concatenate([np.zeros((b, c, k - 1)) if past is None else wide(past), wide(x)], 2)
                y = sum(whole[:, :, i:i + t] * wide(w)[:, 0, i, None] for i in range(k))
                y = y + (0 if bias is None else wide(bias)[:, None])
                y = y / (1 + np.exp(-y)) if act in ("silu", "swish") else y
                yield one_node(f"{dtype.__name__} {act} {(b, c, t, k)}", "CausalConvWithState", [x, w, bias, past],
                               [y.astype(dtype), whole[:, :, t:].astype(dtype)], 27, **({"activation": act} if act else {}))


# ---- FlexAttention ----

def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def flex_model(arrays, y, attributes):
    names = ["q", "k", "v"]
    nodes = [node("FlexAttention", names, ["y"], domain="ai.onnx.preview", **attributes)]
    inputs = [value(name, name_of(a), a.shape) for name, a in zip(names, arrays)]
    bias = tensor("bias", *elements(np.array(-0.5, np.float32)))
    return model(graph(nodes, inputs, [value("y", name_of(y))], [bias]), opset={"": 26, "ai.onnx.preview": 1})


def body(op_type, inner, outer, kind="float"):
    """y = inner OP outer, where `outer` is the input itself or a tensor of the graph around."""
    return graph([node(op_type, [inner, outer], ["out"])], [value(inner, kind)], [value("out", kind)])


def check_flex(tap, lightnet):
    for dtype, kind in ((np.float32, "float"), (np.float16, "float"), (np.float64, "double")):
        q, k, v = (real(*dims, dtype=dtype) for dims in ((2, 4, 3, 5), (2, 2, 6, 5), (2, 2, 6, 7)))
        groups = [wide(x).repeat(2, 1) for x in (k, v)]
        scores = wide(q) @ groups[0].swapaxes(2, 3)
        probs = softmax(scores / np.sqrt(5))
        rows = [("plain", {}, probs), ("with a scale", {"scale": 0.3}, softmax(scores * np.float32(0.3))),
                ("with functions of scores and probabilities",
                 {"score_mod": body("Mul", "s", "s", kind), "prob_mod": body("Add", "p", "p", kind)},
                 2 * softmax(scores ** 2 / 5))]
        if kind == "float":
            rows.append(("with a function that reads the graph around it", {"prob_mod": body("Add", "p", "bias")}, probs - 0.5))
        for sentence, attributes, expected in rows:
            y = (expected @ groups[1]).astype(dtype)
            given = dict(zip("qkv", (q, k, v)))
            tolerance = TOLERANCE[name_of(y)]
            tap.check(f"FlexAttention of {dtype.__name__} {sentence}: as numpy has it",
                      faults_of(lightnet, flex_model([q, k, v], y, attributes), given, [y], tolerance, tolerance))


X, H = real(1, 2, 6), {"q_num_heads": 2, "kv_num_heads": 2}
WRONG = [
    ("SwiGLU", [real(2, 3), real(3)], 28, {}, "inputs 0 and 1 have shapes [2, 3] and [3], expected equal ones"),
    ("LinearAttention", [X, X, X], 27, H, "input 4, 'decay', is missing, which update_rule 'gated_delta' requires"),
    ("LinearAttention", [X, X, X, None, None, real(1, 2, 2)], 27, {**H, "update_rule": "linear"},
     "input 5, 'beta', is present, which update_rule 'linear' does not use"),
    ("LinearAttention", [X, X, X], 27, {"q_num_heads": 4, "kv_num_heads": 2, "update_rule": "linear"},
     "attribute 'q_num_heads' is 4, expected a divisor"),
    ("LinearAttention", [real(1, 1, 0)] * 3, 27, {"q_num_heads": 1 << 32, "kv_num_heads": 1, "update_rule": "linear"},
     "attribute 'q_num_heads' is 4294967296, expected a divisor"),
    ("Attention", [real(1, 1, 0)] * 3, 27, {"q_num_heads": 1 << 32, "kv_num_heads": 1},
     "attribute 'q_num_heads' is 4294967296, expected a divisor"),
    ("LinearAttention", [X, X, X], 27, {**H, "update_rule": "rnn"}, "\"rnn\", expected one of \"linear\", \"gated\", \"delta\""),
    ("LinearAttention", [X, X, X, real(1, 2, 3, 2)], 27, {**H, "update_rule": "linear"},
     "'past' has shape [1, 2, 3, 2], expected [B, G, D, E]"),
    ("CausalConvWithState", [real(1, 3, 4), real(2, 1, 3)], 27, {}, "inputs of shapes [1, 3, 4] and [2, 1, 3], expected [B, C, T]"),
    ("CausalConvWithState", [real(1, 3, 4), real(3, 1, 3), None, real(1, 3, 1)], 27, {},
     "input 3, 'past_state', has shape [1, 3, 1], expected [1, 3, 2]"),
    ("CausalConvWithState", [real(1, 3, 4), real(3, 1, 3)], 27, {"activation": "relu"}, "\"relu\", expected one of \"none\", \"silu\""),
]


def main():
    lightnet = sys.argv[1]
    tap = Tap()
    check_kinds(tap, lightnet, [gates_and_units, ranges, linear_attentions, causal_convolutions], TOLERANCE, is_written=True)
    check_flex(tap, lightnet)
    for op_type, arrays, opset, attributes, message in WRONG:
        check_rejected(tap, lightnet, one_node("", op_type, arrays, X, opset, **attributes), f"{op_type} is rejected: {message}",
                       message)
    tap.end()


if __name__ == "__main__":
    main()
