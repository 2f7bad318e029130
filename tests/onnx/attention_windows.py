#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: attention_windows.py LIGHTNET. Windows of Attention-25 and masks of every rank, compared with numpy code written from the
standard's text: one score at a time."""
import os
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import check_kinds, check_rejected, one_node, ranged_faults_of
from tap import Tap

RNG = np.random.default_rng(25)
TOLERANCE = {"float": 2e-5, "double": 1e-12, "float16": 4e-3}


def real(*dims, dtype=np.float32):
    return RNG.uniform(-1, 1, dims).astype(dtype)


def heads_of(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def offset_of(past, lens, b, q_len):
    """The position of the first query of batch element b."""
    if past is not None:
        return past.shape[2]
    return 0 if lens is None else int(lens[b]) - q_len


def is_masked(i, j, offset, end, causal, left, right):
    position = i + offset
    return j >= end or (causal and j > position) or (left >= 0 and position - j > left) or (right >= 0 and j - position > right)


def scores_of(q, k, mask, past, lens, scale, cap, rule):
    """Capped scores, and those with the mask."""
    scores = q @ k.swapaxes(-1, -2) * (scale or q.shape[-1] ** -0.5)
    scores = cap * np.tanh(scores / cap) if cap else scores
    added = np.zeros(scores.shape) if mask is None else mask
    if added.dtype == bool:
        added = np.where(added, 0.0, -np.inf)
    added = np.broadcast_to(added, scores.shape).astype(np.float64).copy()
    for b, h, i, j in np.ndindex(*scores.shape):
        end = scores.shape[3] if lens is None else lens[b]
        if is_masked(i, j, offset_of(past, lens, b, q.shape[2]), end, *rule):
            added[b, h, i, j] = -np.inf
    return scores, scores + added


def attention(q, k, v, mask=None, past_key=None, past_value=None, lens=None, *, is_causal=0, left_window_size=-1,
              right_window_size=-1, q_num_heads=None, kv_num_heads=None, scale=None, softcap=0.0, qk_matmul_output_mode=0):
    """y, present_key, present_value, and the scores."""
    dtype, is_flat = q.dtype, q.ndim == 3
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    if is_flat:
        q, k, v = heads_of(q, q_num_heads), heads_of(k, kv_num_heads), heads_of(v, kv_num_heads)
    if past_key is not None:
        k, v = np.concatenate([past_key, k], 2), np.concatenate([past_value, v], 2)
    present = k.astype(dtype), v.astype(dtype)
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], 1) for x in (k, v))
    capped, biased = scores_of(q, k, mask, past_key, lens, scale, softcap, (is_causal, left_window_size, right_window_size))
    best = biased.max(-1, keepdims=True)
    weights = np.exp(biased - np.where(np.isfinite(best), best, 0))
    total = weights.sum(-1, keepdims=True)
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    y = weights @ v
    y = y.swapaxes(1, 2).reshape(y.shape[0], y.shape[2], -1) if is_flat else y
    stage = {0: capped, 1: capped, 2: biased, 3: weights}[qk_matmul_output_mode]
    return y.astype(dtype), *present, stage.astype(dtype)


def case(sentence, arrays, n_outputs=1, **attributes):
    """`arrays` as the node has them, None where one is left out."""
    outputs = attention(*arrays, **attributes)
    wanted = [*outputs[:n_outputs]] if n_outputs < 4 else [outputs[0], None, None, outputs[3]]
    return one_node(sentence, "Attention", arrays, wanted, 25, **attributes)


def inputs(q_heads=3, kv_heads=3, q_len=4, kv_len=6, size=8, batch=2, dtype=np.float32):
    return real(batch, q_heads, q_len, size, dtype=dtype), real(batch, kv_heads, kv_len, size, dtype=dtype), \
        real(batch, kv_heads, kv_len, size, dtype=dtype)


def flat_inputs(q_heads=4, kv_heads=1, q_len=4, kv_len=6, size=8):
    return real(2, q_len, q_heads * size), real(2, kv_len, kv_heads * size), real(2, kv_len, kv_heads * size)


def masked_at(dims, *places):
    """A mask of floats: 0, but -infinity at indices of the last axis."""
    mask = np.zeros(dims, np.float32)
    for *first, last in places:
        mask[(*first, ..., last)] = -np.inf
    return mask


LENS = np.array([6, 7], np.int64)
NEAR = dict(is_causal=1, left_window_size=2)


def cases_of_the_standard():
    """The cases that ONNX's node tests have for the windows, with other numbers."""
    external = inputs(kv_len=8)
    yield case("local window", inputs(), **NEAR)
    yield case("bidirectional window", inputs(1, 1, 5, 5, 1, 1), left_window_size=1, right_window_size=2)
    yield case("local window by default", inputs(), left_window_size=-1, right_window_size=-1)
    yield case("local window, boolean mask of rank 1", [*inputs(), np.array([1, 1, 1, 1, 0, 0], bool)], **NEAR)
    yield case("local window with past", [*inputs(kv_len=2), None, real(2, 3, 8, 8), real(2, 3, 8, 8)], 3, **NEAR)
    yield case("local window, external cache, mask of rank 2", [*external, masked_at((1, 8), (1,)), None, None, LENS], **NEAR)
    yield case("local window, external cache, a mask for each head",
               [*external, masked_at((3, 4, 8), *((h, h) for h in range(3))), None, None, LENS], **NEAR)
    yield case("local window, external cache, a mask for each batch element",
               [*external, masked_at((2, 1, 4, 8), *((b, b) for b in range(2))), None, None, LENS], **NEAR)
    yield case("3D local window", flat_inputs(), q_num_heads=4, kv_num_heads=1, **NEAR)
    mask = np.ones((2, 4, 4, 6), bool)
    mask[:, :, 0] = False
    yield case("local window, heads that share keys, mask of rank 4", [*inputs(4, 2), mask], 4, softcap=2.0,
               qk_matmul_output_mode=3, **NEAR)


def windows():
    for left in (-1, 0, 1, 3, 100, 2 ** 31 - 1):
        for right in (-1, 0, 2, 2 ** 31 - 1):
            for is_causal in (0, 1):
                yield case(f"{left}, {right}, causal {is_causal}", inputs(2, 1, 5, 7, 4), left_window_size=left,
                           right_window_size=right, is_causal=is_causal)


def forms():
    for left, right in ((1, 1), (-1, 2), (3, -1), (0, 0)):
        window = dict(left_window_size=left, right_window_size=right)
        yield case(f"3D, {left}, {right}", flat_inputs(4, 2, 5, 5), q_num_heads=4, kv_num_heads=2, **window)
        yield case(f"past, {left}, {right}", [*inputs(kv_len=4), None, real(2, 3, 3, 8), real(2, 3, 3, 8)], 3, **window)
        yield case(f"past and mask, {left}, {right}", [*inputs(kv_len=4), real(4, 7), real(2, 3, 3, 8), real(2, 3, 3, 8)], 3,
                   **window)
        yield case(f"external cache, {left}, {right}", [*inputs(), None, None, None, np.array([6, 4], np.int64)], **window)
        yield case(f"more queries than keys, {left}, {right}", inputs(q_len=6, kv_len=2), **window)
        for mode in range(4):
            yield case(f"scores {mode}, {left}, {right}", inputs(4, 2), 4, qk_matmul_output_mode=mode, **window)


def types():
    for dtype in (np.float16, np.float64):
        yield case(dtype.__name__, inputs(dtype=dtype), left_window_size=1, right_window_size=1)
        yield case(f"{dtype.__name__}, causal", inputs(dtype=dtype), **NEAR)


def open_faults_of(lightnet, axes, make, attributes, sizes):
    """Of one compiled model for all sizes."""
    parts = [case(str(size), make(*size), **attributes) for size in sizes]
    return ranged_faults_of(lightnet, parts, axes, TOLERANCE["float"])


def check_open(tap, lightnet):
    queries, keys, sizes = "2x3x1..6x8", "2x3x1..9x8", ((4, 6), (1, 1), (6, 9), (3, 2))
    three = {"x0": queries, "x1": keys, "x2": keys}
    for words, attributes in (("a window", dict(left_window_size=1, right_window_size=2)), ("a causal window", NEAR),
                              ("causality", dict(is_causal=1)), ("capped scores", dict(softcap=2.0, **NEAR))):
        tap.check(f"{words} of open sizes", open_faults_of(lightnet, three, lambda q, k: inputs(q_len=q, kv_len=k), attributes, sizes))
    tap.check("a window after a past of open size",
              open_faults_of(lightnet, {**three, "x4": keys, "x5": keys},
                             lambda q, k: [*inputs(q_len=q, kv_len=q), None, real(2, 3, k, 8), real(2, 3, k, 8)], NEAR, sizes))
    tap.check("a window in an external cache of open size",
              open_faults_of(lightnet, {**three, "x6": "2"},
                             lambda q, k: [*inputs(q_len=q, kv_len=k), None, None, None, np.array([k, k // 2], np.int64)], NEAR, sizes))


def main():
    lightnet, tap = os.path.abspath(sys.argv[1]), Tap()
    check_kinds(tap, lightnet, [cases_of_the_standard, windows, forms, types], TOLERANCE, is_written=True)
    check_open(tap, lightnet)
    check_rejected(tap, lightnet, one_node("", "Attention", inputs(), real(2, 3, 4, 8), 25, left_window_size=-2),
                   "a size below -1 is rejected", "attribute 'left_window_size' is -2, expected -1 to 2147483647")
    check_rejected(tap, lightnet, one_node("", "Attention", inputs(), real(2, 3, 4, 8), 24, right_window_size=1),
                   "operator set 24 has no windows", "unrecognized attribute 'right_window_size' for operator Attention; "
                   "operator set 25 is the first with it")
    tap.end()


if __name__ == "__main__":
    main()
