# SPDX-License-Identifier: Apache-2.0
"""Rows of corners.py for operators that move, select, sort, accumulate or reduce elements, in forms of real models."""
import numpy as np
from small_models import indices, ints, random, single

F, D, I64, I32, I8, U8, B = np.float32, np.float64, np.int64, np.int32, np.int8, np.uint8, np.bool_


def name_of(dtype):
    return np.dtype(dtype).name


def shape_text(shape):
    return "x".join(str(size) for size in shape)


def each(rows, text, build):
    """A row for each tuple: its name, of `text`, and a function that builds its model."""
    def named(row):
        return text.format(*(shape_text(v) if isinstance(v, tuple) else name_of(v) if isinstance(v, type) else v for v in row))
    return {named(row): lambda row=row: build(*row) for row in rows}


def distinct(dtype, *shape):
    """No ties, whose order runtimes may choose."""
    return np.random.default_rng(3).permutation(int(np.prod(shape))).reshape(shape).astype(dtype)


def top_distinct(k, shape, axis, dtype):
    return single("TopK", distinct(dtype, *shape), constants=[ints(k)], to=[dtype, I64], axis=axis)


def gather(shape, axis, count, dtype):
    return single("Gather", random(dtype, *shape), indices(shape[axis], *count), axis=axis)


def gather_elements(shape, axis, count, dtype):
    places = [count if k == axis else size for k, size in enumerate(shape)]
    return single("GatherElements", random(dtype, *shape), indices(shape[axis], *places), axis=axis)


def gather_nd(shape, count, depth, dtype):
    places = np.stack([indices(shape[k], count) for k in range(depth)], -1)
    return single("GatherND", random(dtype, *shape), places)


def scatter_nd(shape, count, depth, dtype):
    """Distinct places of the last axis that indices choose."""
    picked = np.random.default_rng(3).choice(shape[depth - 1], count, replace=False)
    places = np.stack([np.zeros(count, I64)] * (depth - 1) + [picked], -1).astype(I64)
    return single("ScatterND", random(dtype, *shape), places, random(dtype, count, *shape[depth:]))


def scatter(shape, axis, count, dtype, reduction):
    """Rows as a graph network adds those of edges to those of nodes, or distinct ones."""
    if reduction == "none":
        picked = np.random.default_rng(3).choice(shape[axis], count, replace=False)
    else:
        picked = indices(shape[axis], count)
    places = [count if k == axis else size for k, size in enumerate(shape)]
    lengths = [count if k == axis else 1 for k in range(len(shape))]
    spread = np.ascontiguousarray(np.broadcast_to(picked.reshape(lengths), places)).astype(I64)
    return single("ScatterElements", random(dtype, *shape), spread, random(dtype, *places), axis=axis, reduction=reduction)


def cumsum(shape, axis, dtype, exclusive, reverse):
    return single("CumSum", random(dtype, *shape), constants=[np.array(axis, I64)], exclusive=exclusive, reverse=reverse)


def pad(shape, pads, mode, dtype):
    """pads: per axis, before and after alike."""
    return single("Pad", random(dtype, *shape), constants=[ints(*pads, *pads)], mode=mode)


def reduced(op, shape, axes, dtype):
    if op == "ReduceSum":
        return single(op, random(dtype, *shape), constants=[ints(*axes)], keepdims=0)
    return single(op, random(dtype, *shape), axes=list(axes), keepdims=0)


def argmax(shape, axis, dtype):
    return single("ArgMax", random(dtype, *shape), to=[I64], axis=axis, keepdims=0)


def transpose(shape, perm, dtype):
    return single("Transpose", random(dtype, *shape), perm=list(perm))


def sliced(shape, axis, start, end, step, dtype):
    return single("Slice", random(dtype, *shape), constants=[ints(start), ints(end), ints(axis), ints(step)])


def concat(shape, axis, count, dtype):
    return single("Concat", *(random(dtype, *shape) for _ in range(count)), axis=axis)


def expand(shape, result, dtype):
    return single("Expand", random(dtype, *shape), constants=[ints(*result)])


def tile(shape, times, dtype):
    return single("Tile", random(dtype, *shape), constants=[ints(*times)])


def one_hot(count, depth, dtype):
    return single("OneHot", indices(depth, count), constants=[ints(depth), np.array([0, 1], dtype)], to=[dtype])


def nonzero(shape, dtype):
    return single("NonZero", random(dtype, *shape), to=[I64])


MOVES = {
    **each([(300, (1, 24000), 1, F), (300, (1, 672000), 1, F), (1000, (1, 200000), 1, F), (100, (80, 8400), 1, F),
            (300, (1, 8400, 80), 1, F), (50, (1, 50257), 1, F), (2, (512, 64), 1, F), (2, (4096, 8), 1, F),
            (6, (512, 64), 1, F),
            (1000, (1, 1000), 1, F), (100000, (1, 100000), 1, F), (100000, (1, 100000), 1, I64), (100, (1, 100000), 1, I64),
            (20, (1024, 1024), 1, F), (16, (1, 1024, 64), 1, F), (1, (1, 8400, 80), 2, F), (400, (21, 8732), 1, F)],
           "top {} of {} axis {} {}", top_distinct),
    **each([((30522, 384), 0, (1, 128), F), ((30522, 384), 0, (128, 128), F), ((1, 8400, 4), 1, (300,), F),
            ((1, 8400, 80), 1, (8400,), F),
            ((1, 8400, 85), 2, (4,), F), ((1, 8400, 85), 2, (80,), F), ((1, 64, 56, 56), 1, (64,), F),
            ((1, 12, 197, 64), 2, (1,), F),
            ((3, 1, 12, 197, 64), 0, (1,), F), ((1, 64, 4096), 2, (4096,), F), ((49, 4), 0, (49, 49), F),
            ((8400,), 0, (8400,), F),
            ((8400,), 0, (8400,), I64), ((100000,), 0, (100000,), I64), ((1, 480, 640, 3), 3, (3,), U8),
            ((1, 3, 480, 640), 1, (3,), U8),
            ((10000, 1), 0, (200000,), F), ((10000, 2), 0, (200000,), F), ((10000, 16), 0, (50000,), F),
            ((10000, 64), 0, (50000,), F),
            ((1, 8400, 4), 1, (8400,), I64), ((1000, 8), 0, (100000,), B)],
           "gather {} axis {} {} {}", gather),
    **each([((1, 8400, 80), 1, 300, F), ((1, 8400, 4), 1, 300, F), ((512, 64), 1, 2, F), ((1, 1024, 1024), 2, 256, F),
            ((8400, 80), 1, 80, F), ((8400, 80), 0, 8400, F), ((1, 100000), 1, 100000, I64), ((12, 128, 255), 2, 128, F),
            ((1, 16, 4096), 1, 16, F)],
           "gather elements {} axis {} {} {}", gather_elements),
    **each([((1, 8400, 85), 300, 2, F), ((1, 80, 8400), 8400, 3, F), ((1, 8400, 6), 8400, 2, F), ((1, 8400), 8400, 2, I64),
            ((64, 64, 64), 100000, 3, F)],
           "gather nd {} {} of {} axes {}", gather_nd),
    **each([((8400, 85), 300, 1, F), ((8400, 85), 8400, 1, F), ((1, 100000), 100000, 2, F), ((1, 100000), 1000, 2, I64),
            ((2048, 8, 64), 16, 1, F),
            ((1, 8400, 4), 8400, 2, F)],
           "scatter nd {} {} of {} axes {}", scatter_nd),
    **each([((2708, 64), 0, 13264, F, "add"), ((2708, 16), 0, 13264, F, "add"), ((10000, 1), 0, 200000, F, "add"),
            ((512, 64), 1, 2, F, "none"),
            ((1, 8400, 80), 1, 300, F, "none"), ((1, 100000), 1, 50000, I64, "none"), ((1, 50257), 1, 128, F, "none"),
            ((1000, 64), 0, 13264, I64, "add")],
           "scatter elements {} axis {} {} {} {}", scatter),
    **each([((1, 128), 1, I64, 0, 0), ((32, 512), 1, I64, 0, 0), ((1, 100000), 1, F, 0, 0), ((1, 100000), 1, F, 1, 1),
            ((16, 512, 64), 1, F, 0, 0),
            ((512, 256), 0, F, 0, 0), ((1, 80, 3000), 2, F, 0, 0), ((64, 256, 256), 1, F, 0, 0), ((64, 256, 256), 2, F, 0, 0),
            ((1, 64, 64), 2, F, 0, 0), ((1, 64, 64), 1, F, 0, 0),
            ((32, 512), 1, I32, 0, 0), ((1, 512, 256), 1, D, 0, 0)],
           "cumsum {} axis {} {} exclusive {} reverse {}", cumsum),
    **each([((2048, 150, 1), (0, 12, 0), "constant", F), ((1, 2048, 150, 1), (0, 0, 12, 0), "constant", F), ((2048, 150),
            (0, 12), "constant", F),
            ((1, 64, 112, 112), (0, 0, 1, 1), "constant", F), ((1, 3, 640, 640), (0, 0, 16, 16), "constant", F),
            ((1, 3, 512, 512), (0, 0, 40, 40), "reflect", F),
            ((1, 64, 256, 256), (0, 0, 1, 1), "reflect", F), ((1, 64, 256, 256), (0, 0, 1, 1), "edge", F), ((1, 32, 512, 512),
            (0, 0, 4, 4), "reflect", F),
            ((1, 80, 3000), (0, 0, 1), "constant", F), ((1, 512, 400), (0, 0, 15), "constant", F), ((1, 16, 32, 32),
            (0, 8, 0, 0), "constant", F),
            ((1, 480, 640, 3), (0, 80, 0, 0), "constant", U8), ((1, 480, 640, 3), (0, 8, 8, 0), "constant", U8),
            ((1, 480, 640, 3), (0, 8, 8, 0), "reflect", U8), ((1, 56, 56, 64), (0, 1, 1, 0), "constant", F),
            ((1, 16000), (0, 200), "reflect", F), ((1, 1, 160000), (0, 0, 200), "reflect", F), ((1, 128),
            (0, 128), "constant", I64), ((1, 16, 8, 56, 56), (0, 0, 1, 1, 1), "constant", F),
            ((12, 128, 128), (0, 0, 1), "constant", F), ((2048, 150, 2), (0, 12, 0), "edge", F)],
           "pad {} by {} {} {}", pad),
    **each([(op, shape, axes, F) for op in ("ReduceMax", "ReduceSum", "ReduceMean") for shape, axes in
            [((1, 8400, 80), (2,)), ((1, 80, 8400), (1,)), ((1, 256, 56, 56), (2, 3)), ((1, 256, 56, 56), (1,)),
                ((1, 56, 56, 64), (1, 2)), ((1, 128, 768), (2,)), ((1, 128, 768), (1,)),
             ((458752, 4), (1,)), ((1, 1000000), (0, 1))]]
           + [("ReduceL2", (1, 8400, 80), (2,), F), ("ReduceL2", (1, 512), (1,), F), ("ReduceMin", (1, 8400, 80), (2,), F),
               ("ReduceProd", (100000, 4), (1,), F),
              ("ReduceSum", (32, 512), (1,), I64), ("ReduceMax", (32, 512), (1,), I64), ("ReduceMax", (1, 8400, 80), (2,), U8),
              ("ReduceSum", (1, 8400, 80), (1,), I32),
              ("ReduceSumSquare", (1, 128, 768), (2,), F), ("ReduceLogSumExp", (1, 8400, 80), (2,), F)],
           "{} {} axes {} {}", reduced),
    **each([((1, 8400, 80), 2, F), ((1, 80, 8400), 1, F), ((1, 21, 513, 513), 1, F), ((1, 2, 1024, 1024), 1, F),
            ((1, 513, 513, 21), 3, F), ((1, 50257), 1, F), ((32, 50257), 1, F),
            ((1, 80, 8400), 1, U8), ((32, 512), 1, I64), ((32, 512), 1, I32), ((1, 33, 96, 96), 1, F), ((40, 97), 1, F)],
           "argmax {} axis {} {}", argmax),
    **each([((1, 116, 8400), (0, 2, 1), F), ((1, 84, 8400), (0, 2, 1), F), ((1, 8400, 80), (0, 2, 1), F), ((1, 8400, 116),
            (0, 2, 1), F), ((1, 8400, 4), (0, 2, 1), F), ((1, 480, 640, 3), (0, 3, 1, 2), U8),
            ((1, 3, 480, 640), (0, 2, 3, 1), U8), ((1, 480, 640, 3), (0, 3, 1, 2), F), ((1, 3, 480, 640), (0, 2, 3, 1), F),
            ((1, 56, 56, 64), (0, 3, 1, 2), F), ((1, 64, 56, 56), (0, 2, 3, 1), F),
            ((1, 3, 85, 80, 80), (0, 1, 3, 4, 2), F), ((1, 2, 58, 28, 28), (0, 2, 1, 3, 4), F), ((1, 64, 2, 2, 64, 64),
            (0, 1, 4, 2, 5, 3), F), ((1, 4, 16, 8400), (0, 2, 1, 3), F), ((1, 16, 4, 8400), (0, 3, 1, 2), F),
            ((1, 128, 12, 64), (0, 2, 1, 3), F), ((1, 128, 12, 64), (0, 2, 3, 1), F), ((197, 3, 12, 64), (1, 2, 0, 3), F),
            ((1, 8, 7, 8, 7, 96), (0, 1, 3, 2, 4, 5), F), ((1, 1000, 1000), (0, 2, 1), I64),
            ((1, 1000, 1000), (0, 2, 1), I32), ((1, 1000, 1000), (0, 2, 1), U8), ((100000, 2), (1, 0), F), ((2, 100000),
            (1, 0), F), ((1, 80, 3000), (0, 2, 1), F), ((64, 1, 128, 1024), (3, 1, 2, 0), F)],
           "transpose {} to {} {}", transpose),
    **each([((1, 3, 640, 640), 3, 0, 640, 2, F), ((1, 3, 640, 640), 2, 1, 640, 2, F), ((1, 8400, 85), 2, 0, 4, 1, F),
            ((1, 8400, 85), 2, 5, 85, 1, F), ((1, 8400, 85), 2, 4, 5, 1, F), ((1, 480, 640, 3), 3, 2, -100, -1, U8),
            ((1, 1, 160000), 2, -1, -200000, -1, F),
            ((1, 100, 640), 1, 0, 100, 2, F), ((1, 8400, 84), 2, 0, 84, 2, I64), ((1, 128, 768), 1, 0, 1, 1, F),
            ((1, 256, 56, 56), 1, 0, 128, 1, F)],
           "slice {} axis {} {}:{}:{} {}", sliced),
    **each([((1, 8400, 4), 2, 2, F), ((1, 8400, 1), 2, 4, F), ((1, 8400, 1), 2, 6, F), ((1, 8400, 80), 2, 2, F),
            ((1, 64, 56, 56), 1, 4, F), ((1, 8400, 1), 2, 3, I64), ((1, 56, 56, 64), 3, 2, F), ((1, 128, 64), 2, 2, F),
            ((1, 12, 128, 32), 3, 2, F), ((1, 640, 640, 1), 3, 3, U8),
            ((100, 1), 1, 7, F)],
           "concat {} axis {} of {} {}", concat),
    **each([((1, 8400, 1), (1, 8400, 80), F), ((1, 1, 80), (1, 8400, 80), F), ((1, 8, 1, 128, 64), (1, 8, 4, 128, 64), F),
            ((1, 1, 1, 128), (1, 12, 128, 128), F), ((1, 64, 1, 1), (1, 64, 56, 56), F), ((1, 300, 1), (1, 300, 4), I64),
            ((13264, 1), (13264, 64), I64), ((1, 1, 1, 128), (1, 1, 128, 128), B), ((1, 8400, 1), (1, 8400, 4), F),
            ((1, 8400, 1), (1, 8400, 2), F)],
           "expand {} to {} {}", expand),
    **each([((1, 8400, 2), (1, 1, 2), F), ((1, 64, 32, 32), (1, 4, 1, 1), F), ((1, 100, 1), (1, 1, 256), F), ((1, 1, 256),
            (1, 100, 1), F), ((80, 80, 1), (1, 1, 3), I64), ((1, 1, 512, 512), (1, 3, 1, 1), U8)],
           "tile {} by {} {}", tile),
    **each([(8400, 80, F), (128, 30522, F), (1000, 10, I64)], "one hot {} of {} {}", one_hot),
    **each([((1, 8400, 80), B), ((8400,), F), ((1, 100000), I64), ((640, 640), F)], "nonzero {} {}", nonzero),
}
