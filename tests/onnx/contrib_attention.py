#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: contrib_attention.py LIGHTNET. Attention and rotary embedding of ONNX Runtime's domain com.microsoft agree with formulas
in double precision."""
import os
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import FLOATS, check_kinds, check_rejected, contrib, elements, error_of, joined, ops_of, ranged_faults_of
from onnx_writer import node
from tap import Tap

# Sums of a few dozen numbers around 1, twice, in the precision of the type.
TOLERANCE = {"float": 2e-5, "float16": 1e-2}
F32 = np.float32
rng = np.random.default_rng(20261127)
BATCH, HEADS, SIZE, VALUES = 2, 3, 4, 5


def real(*dims, kind="float", low=-1.0, high=1.0):
    return rng.uniform(low, high, dims).astype(FLOATS[kind])


def wide(*arrays):
    return [None if array is None else array.astype(float) for array in arrays]


def like(kind, *arrays):
    cast = [None if array is None else np.asarray(array).astype(FLOATS[kind]) for array in arrays]
    return cast if len(cast) > 1 else cast[0]


def int32s(*values):
    return np.array(values, np.int32)


# ---- formulas, heads second ----

def softmax(x, sink=None):
    """`sink`: a score for each head, whose share is lost."""
    most = x.max(-1, keepdims=True)
    most = np.where(np.isinf(most), 0, most)
    e = np.exp(x - most)
    total = e.sum(-1, keepdims=True) + (0 if sink is None else np.exp(np.reshape(sink, (-1, 1, 1)) - most))
    return e / np.where(total == 0, 1, total)


def heads_of(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def merged(x):
    x = x.transpose(0, 2, 1, 3)
    return x.reshape(*x.shape[:2], -1)


def scores_of(q, k, bias=0, scale=None, softcap=0):
    s = q @ np.repeat(k, q.shape[1] // k.shape[1], 1).swapaxes(-1, -2) * (scale or q.shape[-1] ** -0.5)
    if softcap:
        s = softcap * np.tanh(s / softcap)
    return s + bias


def attention(q, k, v, bias=0, scale=None, softcap=0, sink=None):
    return softmax(scores_of(q, k, bias, scale, softcap), sink) @ np.repeat(v, q.shape[1] // v.shape[1], 1)


def not_after(queries, keys):
    """-infinity where a key is after the query, the last of which is the last key."""
    return np.where(np.arange(keys) <= np.arange(queries)[:, None] + keys - queries, 0, -np.inf)


def rotated(x, cosines, sines, is_paired, size=None):
    """The last axis of x, in pairs; the angles broadcast."""
    size = size or x.shape[-1]
    rest, x = x[..., size:], x[..., :size]
    a, b = (x[..., ::2], x[..., 1::2]) if is_paired else np.split(x, 2, -1)
    first, second = a * cosines - b * sines, a * sines + b * cosines
    y = np.stack([first, second], -1).reshape(x.shape) if is_paired else np.concatenate([first, second], -1)
    return np.concatenate([y, rest], -1)


def caches(length, half, kind="float"):
    angles = np.outer(np.arange(length), 10.0 ** -np.arange(half))
    return like(kind, np.cos(angles), np.sin(angles))


# ---- rotary embedding ----

def rotary_embedding():
    for kind in ("float", "float16"):
        for is_paired in (0, 1):
            cosines, sines = caches(9, SIZE // 2, kind)
            c, s = wide(cosines, sines)
            x = real(BATCH, 5, HEADS * SIZE, kind=kind)
            split = wide(x)[0].reshape(BATCH, 5, HEADS, SIZE)
            order = np.int64([[3, 1, 4, 0, 2], [8, 7, 6, 5, 4]])
            for sentence, ids in (("each position", order), ("the first position", np.int64([2]))):
                at = ids if ids.ndim == 2 else ids + np.arange(5)[None]
                y = rotated(split, c[at][:, :, None], s[at][:, :, None], is_paired)
                how = {"interleaved": is_paired} if is_paired else {}
                yield contrib(f"{kind}, pairs {is_paired}, {sentence}", "RotaryEmbedding", [x, ids, cosines, sines],
                              like(kind, y.reshape(x.shape)), **how)
                yield contrib(f"{kind}, pairs {is_paired}, {sentence}, heads second", "RotaryEmbedding",
                              [like(kind, split.transpose(0, 2, 1, 3)), ids, cosines, sines], like(kind, y.transpose(0, 2, 1, 3)),
                              **how)
            x = real(BATCH, 5, HEADS * 6, kind=kind)
            y = rotated(wide(x)[0].reshape(BATCH, 5, HEADS, 6), c[order][:, :, None], s[order][:, :, None], is_paired, SIZE)
            yield contrib(f"{kind}, pairs {is_paired}, a part of each head", "RotaryEmbedding", [x, order, cosines, sines],
                          like(kind, y.reshape(x.shape)), interleaved=is_paired, num_heads=HEADS, rotary_embedding_dim=SIZE)


# ---- MultiHeadAttention ----

def padded(mask, value=-10000.0):
    return np.where(mask, 0, value)


def multi_head():
    for kind in ("float", "float16"):
        for queries, keys in ((4, 4), (1, 6), (5, 3)):
            q, k = real(BATCH, queries, HEADS * SIZE, kind=kind), real(BATCH, keys, HEADS * SIZE, kind=kind)
            v, bias = real(BATCH, keys, HEADS * VALUES, kind=kind), real(HEADS * (2 * SIZE + VALUES), kind=kind)
            a, b, c = (heads_of(x, HEADS) for x in wide(q, k, v))
            more = np.split(wide(bias)[0], [HEADS * SIZE, 2 * HEADS * SIZE])
            d, e, f = (heads_of(x + y, HEADS) for x, y in zip(wide(q, k, v), more))
            what = f"{kind}, {queries} x {keys}"
            how = {"num_heads": HEADS}
            yield contrib(what, "MultiHeadAttention", [q, k, v], like(kind, merged(attention(a, b, c))), **how)
            yield contrib(f"{what}, a length of no past", "MultiHeadAttention", [q, k, v, *[None] * 5, int32s(3)],
                          like(kind, merged(attention(a, b, c))), **how)
            yield contrib(f"{what}, bias", "MultiHeadAttention", [q, k, v, bias],
                          like(kind, merged(attention(d, e, f)), e, f), **how)
            yield contrib(f"{what}, scale", "MultiHeadAttention", [q, k, v], like(kind, merged(attention(a, b, c, scale=0.75))),
                          scale=0.75, **how)
            lens = int32s(keys, keys - 2)
            ends = np.arange(keys) < lens[:, None, None, None]
            yield contrib(f"{what}, lengths", "MultiHeadAttention", [q, k, v, None, lens],
                          like(kind, merged(attention(a, b, c, padded(ends)))), **how)
            mask = (np.arange(keys) % 3 != np.int32([[0], [1]])).astype(np.int32)
            yield contrib(f"{what}, padding", "MultiHeadAttention", [q, k, v, None, mask],
                          like(kind, merged(attention(a, b, c, padded(mask[:, None, None], -50)))), mask_filter_value=-50.0,
                          **how)
            whole = rng.integers(0, 2, (BATCH, queries, keys)).astype(np.int32)
            whole[..., 0] = 1
            yield contrib(f"{what}, a mask for each query", "MultiHeadAttention", [q, k, v, bias, whole],
                          like(kind, merged(attention(d, e, f, padded(whole[:, None])))), **how)
            for dims in ((BATCH, HEADS), (1, HEADS), (BATCH, 1), (1, 1)):
                extra = real(*dims, queries, keys, kind=kind)
                yield contrib(f"{what}, a bias of scores {dims}", "MultiHeadAttention", [q, k, v, None, mask, extra],
                              like(kind, merged(attention(a, b, c, padded(mask[:, None, None]) + wide(extra)[0]))), **how)
            past_k, past_v = real(BATCH, HEADS, 2, SIZE, kind=kind), real(BATCH, HEADS, 2, VALUES, kind=kind)
            g, h = np.concatenate([wide(past_k)[0], b], 2), np.concatenate([wide(past_v)[0], c], 2)
            yield contrib(f"{what}, past", "MultiHeadAttention", [q, k, v, None, None, None, past_k, past_v],
                          like(kind, merged(attention(a, g, h)), g, h), **how)
            yield contrib(f"{what}, heads second", "MultiHeadAttention", [q, *like(kind, b, c)], like(kind,
                    merged(attention(a, b, c))), **how)
            if queries <= keys:
                yield contrib(f"{what}, causal", "MultiHeadAttention", [q, k, v],
                              like(kind, merged(attention(a, b, c, not_after(queries, keys)))), unidirectional=1, **how)
        x = real(BATCH, 4, HEADS, 3, SIZE, kind=kind)
        a, b, c = wide(x)[0].transpose(3, 0, 2, 1, 4)
        yield contrib(f"{kind}, packed", "MultiHeadAttention", [x], like(kind, merged(attention(a, b, c))), num_heads=HEADS)
        q, x = real(BATCH, 2, HEADS * SIZE, kind=kind), real(BATCH, 4, HEADS, 2, SIZE, kind=kind)
        b, c = wide(x)[0].transpose(3, 0, 2, 1, 4)
        yield contrib(f"{kind}, packed keys and values", "MultiHeadAttention", [q, x],
                      like(kind, merged(attention(heads_of(wide(q)[0], HEADS), b, c))), num_heads=HEADS)
    q, k, v = real(1, 2, 8), real(1, 3, 8), real(1, 3, 8)
    a, b, c = (heads_of(x, 2) for x in wide(q, k, v))
    mask, extra = int32s([1, 0, 1]), real(1, 2, 2, 3)
    bias = padded(mask[:, None, None]) + extra
    yield contrib("scores", "MultiHeadAttention", [q, k, v, None, mask, extra],
                  [like("float", merged(attention(a, b, c, bias))), None, None, like("float", scores_of(a, b, bias))],
                  num_heads=2)


# ---- Attention, QAttention ----

def projected(x, w, bias, sizes):
    parts = np.split(x @ w + (0 if bias is None else bias), np.cumsum(sizes)[:2], -1)
    return [heads_of(part, HEADS) for part in parts]


def projections():
    width, steps = HEADS * SIZE, 5
    for kind in ("float", "float16"):
        for sizes in ((width, width, width), (width, width, HEADS * VALUES)):
            x, w, bias = real(BATCH, steps, 7, kind=kind), real(7, sum(sizes), kind=kind), real(sum(sizes), kind=kind)
            q, k, v = projected(*wide(x, w, bias), sizes)
            how = {"num_heads": HEADS} | ({} if sizes[2] == width else {"qkv_hidden_sizes": list(sizes)})
            what = f"{kind}, {sizes}"
            yield contrib(what, "Attention", [x, w, bias], like(kind, merged(attention(q, k, v))), **how)
            yield contrib(f"{what}, no bias, a scale", "Attention", [x, w],
                          like(kind, merged(attention(*projected(*wide(x, w), None, sizes), scale=0.3))), scale=0.3, **how)
            yield contrib(f"{what}, a length of no past", "Attention", [x, w, bias, None, None, None, int32s(3)],
                          like(kind, merged(attention(q, k, v))), **how)
            yield contrib(f"{what}, causal", "Attention", [x, w, bias],
                          like(kind, merged(attention(q, k, v, not_after(steps, steps)))), unidirectional=1, **how)
            index = np.arange(steps)
            for sentence, mask, allowed in (
                    ("ends", int32s(5, 3), index < int32s(5, 3)[:, None, None, None]),
                    ("ends and starts", int32s(5, 4, 1, 0), (index < int32s(5, 4)[:, None, None, None]) &
                     (index >= int32s(1, 0)[:, None, None, None])),
                    ("keys", int32s([1, 1, 0, 1, 1], [1, 1, 1, 0, 0]), int32s([1, 1, 0, 1, 1], [1, 1, 1, 0, 0])[:, None, None]),
                    ("queries", some := np.maximum(rng.integers(0, 2, (BATCH, steps, steps)), np.eye(steps,
                            dtype=int)).astype(np.int32), some[:, None])):
                yield contrib(f"{what}, a mask of {sentence}", "Attention", [x, w, bias, mask],
                              like(kind, merged(attention(q, k, v, padded(allowed)))), **how)
            extra = real(1, HEADS, steps, steps, kind=kind)
            yield contrib(f"{what}, a bias of scores", "Attention", [x, w, bias, None, None, extra],
                          like(kind, merged(attention(q, k, v, wide(extra)[0]))), **how)
        past = real(2, BATCH, HEADS, 3, SIZE, kind=kind)
        w, bias = real(7, 3 * width, kind=kind), real(3 * width, kind=kind)
        q, k, v = projected(*wide(x, w, bias), (width,) * 3)
        k, v = (np.concatenate([old, new], 2) for old, new in zip(wide(past)[0], (k, v)))
        present = np.stack([k, v])
        yield contrib(f"{kind}, past", "Attention", [x, w, bias, None, past], like(kind, merged(attention(q, k, v)), present),
                      num_heads=HEADS)
        yield contrib(f"{kind}, past, causal", "Attention", [x, w, bias, None, past],
                      like(kind, merged(attention(q, k, v, not_after(steps, steps + 3))), present), num_heads=HEADS,
                      unidirectional=1)
    yield contrib("present", "Attention", [x, w, bias], like(kind, merged(attention(*projected(*wide(x, w, bias), (width,) * 3))),
                  np.stack(projected(*wide(x, w, bias), (width,) * 3)[1:])), num_heads=HEADS)


def integer_projections():
    """Their projections are exact."""
    width, steps = HEADS * SIZE, 5
    for w_kind in (np.int8, np.uint8):
        for sentence, w_scale, w_zero in (("a scale", F32(0.03125), w_kind(3)), ("a scale for each column",
                (2.0 ** -(np.arange(3 * width) % 3 + 4)).astype(F32), None)):
            x = rng.integers(0, 256, (BATCH, steps, 7)).astype(np.uint8)
            w = rng.integers(0, 20, (7, 3 * width)).astype(w_kind)
            bias, scale, zero = real(3 * width), F32(0.0078125), np.uint8(120)
            real_x = (x.astype(float) - 120) * float(scale)
            real_w = (w.astype(float) - (0 if w_zero is None else float(w_zero))) * w_scale
            q, k, v = projected(real_x, real_w, bias.astype(float), (width,) * 3)
            given = [x, w, bias, scale, w_scale, None, zero, *([] if w_zero is None else [w_zero])]
            what = f"{np.dtype(w_kind).name}, {sentence}"
            const = range(1, 9)
            yield contrib(what, "QAttention", given, like("float", merged(attention(q, k, v))), const, num_heads=HEADS)
            mask = int32s([1, 1, 0, 1, 1], [1, 1, 1, 0, 0])
            given[5] = mask
            yield contrib(f"{what}, masked and causal", "QAttention", given,
                          like("float", merged(attention(q, k, v, padded(mask[:, None, None]) + not_after(steps, steps)))), const,
                          num_heads=HEADS, unidirectional=1)
            past = real(2, BATCH, HEADS, 3, SIZE)
            given = [*given[:5], None, zero, w_zero, past]
            k, v = (np.concatenate([old, new], 2) for old, new in zip(past.astype(float), (k, v)))
            yield contrib(f"{what}, past", "QAttention", given, like("float", merged(attention(q, k, v)), np.stack([k, v])), (1,
                    2, 3, 4, 6, 7),
                          num_heads=HEADS, unidirectional=0)


# ---- GroupQueryAttention ----

GROUPS, QUERIES = 2, 4


def allowed_at(first, steps, total, window=-1):
    """[B, 1, S, T]: which keys each query sees; its position is first + its index."""
    at = np.reshape(first, (-1, 1, 1, 1)) + np.arange(steps)[:, None]
    keys = np.arange(total)
    return np.where((keys <= at) & ((window < 0) | (keys > at - window)), 0, -np.inf)


class Grouped:
    """Operands, and the cache with what is new: `first` for each batch."""

    def __init__(self, kind, batch, steps, total, first=None, past=None, size=16):
        self.kind, self.batch, self.steps, self.total, self.size = kind, batch, steps, total, size
        self.q = real(batch, steps, QUERIES * size, kind=kind)
        self.k, self.v = (real(batch, steps, GROUPS * size, kind=kind) for _ in range(2))
        self.past = [real(batch, GROUPS, past, size, kind=kind) for _ in range(2)] if past is not None else [None, None]
        self.first = np.full(batch, total - steps) if first is None else np.array(first)
        self.lens = (self.first + steps - 1).astype(np.int32)

    def inputs(self, *more):
        return [self.q, self.k, self.v, *self.past, self.lens, np.int32(self.total), *more]

    def packed(self, *more):
        return [np.concatenate([self.q, self.k, self.v], -1), None, None, *self.inputs(*more)[3:]]

    def heads(self):
        return heads_of(*wide(self.q), QUERIES), heads_of(*wide(self.k), GROUPS), heads_of(*wide(self.v), GROUPS)

    def present(self, new, past):
        """[B, G, max of total and past, D]"""
        room = max(self.total, 0 if past is None else past.shape[2])
        out = np.zeros((self.batch, GROUPS, room, self.size))
        if past is not None:
            out[:, :, :past.shape[2]] = past
        for b, first in enumerate(self.first):
            out[b, :, first:first + self.steps] = new[b]
        return out

    def expected(self, how=None, rotate=None, window=-1, **more):
        q, k, v = self.heads()
        if rotate is not None:
            q, k = rotate(q), rotate(k)
        k, v = self.present(k, self.past[0]), self.present(v, self.past[1])
        bias = allowed_at(self.first, self.steps, self.total, window) + more.pop("bias", 0)
        y = attention(q, k[:, :, :self.total], v[:, :, :self.total], bias, **more)
        return like(self.kind, merged(y), k, v)


HOW = {"num_heads": QUERIES, "kv_num_heads": GROUPS}


def grouped():
    """The lengths of the keys must be known; those of the batches need not be."""
    for kind in ("float", "float16"):
        for sentence, case in (
                ("a prompt", Grouped(kind, 2, 5, 5)),
                ("a prompt, an empty past", Grouped(kind, 2, 5, 5, past=0)),
                ("a prompt into a buffer", Grouped(kind, 2, 5, 5, past=9)),
                ("one token", Grouped(kind, 1, 1, 7, past=6)),
                ("one token into a buffer", Grouped(kind, 1, 1, 7, past=9)),
                ("tokens of two batches", Grouped(kind, 2, 1, 7, past=6)),
                ("tokens of different lengths", Grouped(kind, 2, 1, 7, first=[6, 3], past=6)),
                ("tokens of different lengths into a buffer", Grouped(kind, 2, 1, 7, first=[2, 6], past=9)),
                ("several tokens", Grouped(kind, 1, 3, 7, past=4))):
            yield contrib(f"{kind}, {sentence}", "GroupQueryAttention", case.inputs(), case.expected(), const=(6,), **HOW)
            yield contrib(f"{kind}, {sentence}, packed", "GroupQueryAttention", case.packed(), case.expected(), const=(6,), **HOW)
            cosines, sines = caches(12, case.size // 2, kind)
            at = case.first[:, None] + np.arange(case.steps)
            for is_paired in (0, 1):
                def rotate(x, c=cosines.astype(float)[at][:, None], s=sines.astype(float)[at][:, None]):
                    return rotated(x, c, s, is_paired)
                yield contrib(f"{kind}, {sentence}, rotated, pairs {is_paired}", "GroupQueryAttention", case.packed(cosines,
                        sines),
                              case.expected(rotate=rotate), const=(6,), do_rotary=1, rotary_interleaved=is_paired, **HOW)
            yield contrib(f"{kind}, {sentence}, softcap and scale", "GroupQueryAttention", case.inputs(),
                          case.expected(softcap=0.5, scale=0.9), const=(6,), softcap=0.5, scale=float(F32(0.9)), **HOW)
            yield contrib(f"{kind}, {sentence}, a window of 2", "GroupQueryAttention", case.inputs(), case.expected(window=2),
                          const=(6,), local_window_size=2, **HOW)
            extra = real(1, QUERIES, case.steps, case.total, kind=kind)
            yield contrib(f"{kind}, {sentence}, a bias", "GroupQueryAttention", case.inputs(None, None, None, extra),
                          case.expected(bias=wide(extra)[0]), const=(6,), **HOW)
            yield contrib(f"{kind}, {sentence}, smooth", "GroupQueryAttention", case.inputs(),
                          case.expected(sink=np.zeros(QUERIES)),
                          const=(6,), smooth_softmax=1, **HOW)
            sink = real(QUERIES, kind=kind)
            yield contrib(f"{kind}, {sentence}, sinks", "GroupQueryAttention", case.inputs(None, None, None, None, sink),
                          case.expected(sink=wide(sink)[0]), const=(6,), **HOW)


def grouped_more():
    case = Grouped("float", 2, 4, 4)
    cosines, sines = caches(12, case.size // 2)
    order = np.arange(2, 6)[None].repeat(2, 0)
    c, s = (x.astype(float)[order][:, None] for x in (cosines, sines))
    yield contrib("given positions", "GroupQueryAttention", case.inputs(cosines, sines, order),
                  case.expected(rotate=lambda x: rotated(x, c, s, 0)), const=(6,), do_rotary=1, **HOW)
    cosines, sines = caches(12, 2)
    at = np.arange(4)
    yield contrib("a part of each head", "GroupQueryAttention", case.inputs(cosines, sines),
                  case.expected(rotate=lambda x: rotated(x, cosines.astype(float)[at], sines.astype(float)[at], 0, 4)), const=(6,
                          ),
                  do_rotary=1, **HOW)
    q, k, v = case.heads()
    for stage, matrix in ((1, scores_of(q, k, allowed_at(0, 4, 4))), (2, softmax(scores_of(q, k, allowed_at(0, 4, 4))))):
        yield contrib(f"stage {stage} of the scores", "GroupQueryAttention", case.inputs(), [*case.expected(),
                like("float", matrix + np.zeros((2, 1, 1, 1)))],
                      const=(6,), qk_output=stage, **HOW)
    yield contrib("not causal", "GroupQueryAttention", case.inputs(), like("float", merged(attention(q, k, v))), const=(6,),
                  causal=0, **HOW)
    norms = real(2, case.size, low=0.5)
    n = [x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-3) * w for x, w in zip((q, k), norms.astype(float))]
    yield contrib("normalized heads", "GroupQueryAttention", case.inputs(*[None] * 7, *norms),
                  like("float", merged(attention(*n, v, allowed_at(0, 4, 4)))), const=(6,), qk_norm_epsilon=1e-3, **HOW)


def ranged(steps):
    """Attention of a length that is known only at run time."""
    w, bias = real(7, 3 * HEADS * SIZE), real(3 * HEADS * SIZE)
    for len_ in steps:
        x, mask = real(1, len_, 7), (np.arange(len_) % 3 < 2).astype(np.int32)[None]
        yield contrib("", "Attention", [x, w, bias, mask],
                      like("float", merged(attention(*projected(*wide(x, w, bias), (HEADS * SIZE,) * 3),
                                                     padded(mask[:, None, None])))),
                      (1, 2), num_heads=HEADS)


# Queries, all keys, the length of the cache.
STEPS = ((5, 5, 0), (1, 6, 5), (1, 7, 6), (3, 9, 6), (2, 6, 9), (1, 4, 9))


def decoding(**more):
    """GroupQueryAttention as decoders have it: its lengths come from a mask."""
    lens = [node("ReduceSum", ["mask", "one"], ["sums"], keepdims=0), node("Sub", ["sums", "by"], ["last"]),
            node("Cast", ["last"], ["x5"], to=6), node("Shape", ["mask"], ["shape"]),
            node("Gather", ["shape", "by"], ["all"], axis=0), node("Cast", ["all"], ["x6"], to=6)]
    cosines, sines = caches(16, 8)
    tables = {"x7": elements(cosines), "x8": elements(sines), "one": ("int64", [1], [1]), "by": ("int64", [], [1])}
    for len_, total, past in STEPS:
        def rotate(x, at=np.arange(total - len_, total)):
            return rotated(x, *(cache.astype(float)[at] for cache in (cosines, sines)), 0)
        case = Grouped("float", 1, len_, total, past=past)
        part = contrib("", "GroupQueryAttention", case.inputs(cosines, sines), case.expected(rotate=rotate, **more), (5, 6, 7, 8),
                       do_rotary=1, **more, **HOW)
        part.nodes, part.constants = lens + part.nodes, tables
        part.given |= {"mask": np.ones((1, total), np.int64)}
        yield part


KINDS = (rotary_embedding, multi_head, projections, integer_projections, grouped, grouped_more)
X = real(2, 3, 8)
CASE = Grouped("float", 2, 1, 7, past=6)


def changed(arrays, i, array):
    return [array if k == i else old for k, old in enumerate(arrays)]


# Operator, inputs, attributes, and words of the message.
WRONG = [
    ("MultiHeadAttention", [X, X, X], {}, "attribute 'num_heads' is missing"),
    ("MultiHeadAttention", [X, X, X], {"num_heads": 3}, "input 0 has a last axis of length 8, expected a multiple of 3"),
    ("MultiHeadAttention", [X, X], {"num_heads": 2}, "input 2 is missing"),
    ("MultiHeadAttention", [X, X, X, X[0, 0]], {"num_heads": 2}, "input 3, 'bias', has shape [8], expected [24]"),
    ("MultiHeadAttention", [X, X, X, None, int32s(1, 2, 3, 4, 5, 6, 7, 8)], {"num_heads": 2},
     "input 4, the mask, has 8 elements, expected 2"),
    ("MultiHeadAttention", [X, X, X, None, int32s([1, 0], [1, 1])], {"num_heads": 2},
     "input 4, 'mask', has shape [2, 2], expected [2, 3]"),
    ("MultiHeadAttention", [X, X, X, None, None, X], {"num_heads": 2},
     "input 5, 'attention_bias', has shape [2, 3, 8], expected"),
    ("MultiHeadAttention", [X, X, X, None, None, None, real(2, 2, 1, 4)], {"num_heads": 2},
     "'past_key' and 'past_value', is missing"),
    ("MultiHeadAttention", [X, X, X, None, None, None, real(2, 2, 1, 4), real(2, 2, 1, 4), int32s(1)], {"num_heads": 2},
     "input 8, 'past_sequence_length', is not supported"),
    ("MultiHeadAttention", [real(2, 3, 2, 2, 4)], {"num_heads": 2}, "has shape [2, 3, 2, 2, 4], expected [B, S, 2, 3, D]"),
    ("Attention", [X, real(8, 24)], {"num_heads": 2, "do_rotary": 1}, "attribute 'do_rotary' is 1, expected 0"),
    ("Attention", [X, real(8, 24)], {"num_heads": 2, "past_present_share_buffer": 1},
     "attribute 'past_present_share_buffer' is 1, expected 0"),
    ("Attention", [X, real(8, 24)], {"num_heads": 2, "qkv_hidden_sizes": [8, 4, 12]},
     "expected the first two equal and a sum of 24"),
    ("Attention", [X, real(8, 24)], {"num_heads": 5}, "a width of 8, expected a multiple of the 5 heads"),
    ("Attention", [X, real(8, 24), None, real(2, 1, 4, 4).astype(np.int32)], {"num_heads": 2},
     "the mask, has 4 dimensions, expected 1 to 3"),
    ("Attention", [X, real(8, 24), None, None, X], {"num_heads": 2},
     "input 4, 'past', has shape [2, 3, 8], expected [2, B, H, P, D]"),
    ("Attention", [X, real(8, 24), None, None, real(3, 2, 2, 1, 4)], {"num_heads": 2},
     "input 4, 'past', has shape [3, 2, 2, 1, 4], expected [2, B, H, P, D]"),
    ("RotaryEmbedding", [X, np.int64([[0, 1]]), *caches(4, 2)], {}, "input 1, 'position_ids', has shape [1, 2], expected [2, 3]"),
    ("RotaryEmbedding", [X, np.int64([0]), *caches(4, 3)], {"num_heads": 2}, "has shape [4, 3], expected [.., 2]"),
    ("RotaryEmbedding", [X, np.int64([0]), *caches(4, 2)], {"scale": 2.0}, "attribute 'scale' is 2, expected 1"),
    ("RotaryEmbedding", [X, np.int64([0]), *caches(4, 2)], {"is_packed_batching": 1},
     "attribute 'is_packed_batching' is 1, expected 0"),
    ("GroupQueryAttention", CASE.inputs(), {"num_heads": 4}, "attribute 'kv_num_heads' is missing"),
    ("GroupQueryAttention", CASE.inputs(), {"num_heads": 4, "kv_num_heads": 3}, "expected [2, 1, 48]"),
    ("GroupQueryAttention", changed(CASE.inputs(), 6, np.int32(0)), HOW, "'total_sequence_length', is 0, expected at least 1"),
    ("GroupQueryAttention", changed(CASE.inputs(), 6, np.int32(9)), HOW,
     "input 3 (past_key) has 6 tokens, expected at least 8: 'total_sequence_length', the length of the mask, less that of 'query'"),
    ("GroupQueryAttention", changed(CASE.inputs(), 5, int32s(6)), HOW, "input 5, 'seqlens_k', has 1 elements, expected 2"),
    ("GroupQueryAttention", changed(CASE.inputs(), 3, real(2, 3, 6, 16)), HOW,
     "input 3, 'past_key', has shape [2, 3, 6, 16], expected [2, 2, 6, 16]"),
    ("GroupQueryAttention", CASE.inputs(), HOW | {"k_quant_type": "PER_TENSOR"},
     "attribute 'k_quant_type' is \"PER_TENSOR\", expected"),
    ("GroupQueryAttention", CASE.inputs(), HOW | {"sliding_window_cache": 1},
     "attribute 'sliding_window_cache' is 1, expected 0"),
    ("GroupQueryAttention", CASE.inputs(), HOW | {"do_rotary": 1}, "input 7 is missing"),
    ("GroupQueryAttention", CASE.inputs(*[None] * 5, F32([1])), HOW, "input 12, 'k_scale', is not supported"),
    ("GroupQueryAttention", CASE.inputs(), HOW | {"causal": 0, "local_window_size": 2},
     "'local_window_size' is 2 without causality"),
]


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    check_kinds(tap, lightnet, KINDS, TOLERANCE, is_written=True)
    for op_type, arrays, attributes, message in WRONG:
        const = (6,) if op_type == "GroupQueryAttention" else ()
        check_rejected(tap, lightnet, contrib("", op_type, arrays, X, const, **attributes), f"{op_type} is rejected: {message}",
                       message)
    part = contrib("", "GroupQueryAttention", CASE.inputs(), CASE.expected(), **HOW)
    message = error_of(lightnet, joined([part])[0], {}, ("show",))
    tap.check("GroupQueryAttention is rejected: an unknown number of keys",
              [] if message and "input 6" in message else [f"expected 'input 6' in: {message!r}"])
    tap.check("Attention of a length known only at run time",
              ranged_faults_of(lightnet, list(ranged((1, 4, 9))), {"x0": "1x1..9x7", "x3": "1x1..9"}, TOLERANCE["float"]))
    open_sizes = {"x0": "1x1..5x64", "x1": "1x1..5x32", "x2": "1x1..5x32", "x3": "1x2x0..9x16", "x4": "1x2x0..9x16", "mask": "1x1..9"}
    for sentence, more in (("", {}), (", capped", {"softcap": 0.5})):
        tap.check(f"GroupQueryAttention of lengths known only at run time{sentence}",
                  ranged_faults_of(lightnet, list(decoding(**more)), open_sizes, TOLERANCE["float"]))
    for sentence, part in (("MultiHeadAttention", contrib("", "MultiHeadAttention", [X, X, X], X, num_heads=2)),
                           ("GroupQueryAttention", contrib("", "GroupQueryAttention", CASE.inputs(), CASE.expected(), (6,),
                                                           **HOW))):
        ops = ops_of(lightnet, joined([part])[0])
        tap.check(f"{sentence} becomes attention without scores",
                  [] if "attention_cpu" in ops and "softmax_cpu" not in ops else [str(ops)])
    tap.end()


if __name__ == "__main__":
    main()
