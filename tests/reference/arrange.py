#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: arrange.py LIGHTNET. The operators on shapes and indices agree with numpy, for every type and number of axes."""
import os
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from dtypes import ALL, FLT, INT, NUM, NUMPY
from operators import SEED, Cases, shapes
from tap import Tap

INDICES = ("TL_INT64", "TL_INT32")


def some_shapes(t, low=1, high=8):
    """Shapes of every number of axes, and one without elements."""
    return [*shapes(t.rng, low, high), (2, 0, 3)[:max(low, 3)]]


def axis_of(t, shape):
    """Any axis that has elements."""
    return int(t.rng.choice([k for k, d in enumerate(shape) if d]))


def indices(t, kind, dim, *shape):
    return kind, t.rng.integers(-dim, dim, shape).astype(NUMPY[kind])


def view(t):
    for dtype in ALL:
        for shape in some_shapes(t):
            src = t.values(dtype, *shape)
            t.add(dtype, [("src", src)], [("dst", dtype, src.ravel(), None)], dims=[-1])


def stride_slice(t):
    for dtype in ALL:
        for shape in some_shapes(t):
            src = t.values(dtype, *shape, edged=True)
            n = int(t.rng.integers(1, len(shape) + 1))
            axes = [int(a) for a in t.rng.permutation(len(shape))[:n]]
            starts, ends = (t.rng.integers(-9, 10, n).tolist() for _ in range(2))
            steps = t.rng.choice([-3, -2, -1, 1, 2, 3], n).tolist()
            where = [slice(None)] * len(shape)
            for axis, start, end, step in zip(axes, starts, ends, steps):  # unlike Python, a start before the first is the first
                where[axis] = slice(max(start, -shape[axis]) if step < 0 else start, end, step)
            t.add(dtype, [("src", src)], [("dst", dtype, np.ascontiguousarray(src[tuple(where)]), None)], axes=axes,
                  starts=starts, ends=ends, steps=steps)


def join(t):
    for dtype in ALL:
        for shape in some_shapes(t):
            axis = axis_of(t, shape)
            parts = [t.values(dtype, *[int(t.rng.integers(0, 4)) if k == axis else d for k, d in enumerate(shape)])
                     for _ in range(int(t.rng.integers(1, 5)))]
            t.add(dtype, [(f"src{k}", part) for k, part in enumerate(parts)],
                  [("dst", dtype, np.concatenate(parts, axis), None)], axis=axis)


def split(t):
    for dtype in ALL:
        for shape in some_shapes(t):
            src, axis = t.values(dtype, *shape), axis_of(t, shape)
            cuts = sorted(t.rng.integers(0, shape[axis] + 1, int(t.rng.integers(0, 3))).tolist())
            parts = np.split(src, cuts, axis)
            t.add(dtype, [("src", src)], [(f"dst{k}", dtype, np.ascontiguousarray(part), None) for k, part in enumerate(parts)],
                  axis=axis, lens=[part.shape[axis] for part in parts])


def expand(t):
    for dtype in ALL:
        for shape in some_shapes(t):
            kept = t.rng.random(len(shape)) < 0.5
            src = t.values(dtype, *[d if keep else 1 for d, keep in zip(shape, kept)])
            t.add(dtype, [("src", src)], [("dst", dtype, np.ascontiguousarray(np.broadcast_to(src, shape)), None)],
                  dims=[1 if keep and d != 0 else d for d, keep in zip(shape, kept)])


def tile(t):
    for dtype in ALL:
        for shape in some_shapes(t, 1, 5):
            src, repeats = t.values(dtype, *shape), t.rng.integers(0, 4, len(shape)).tolist()
            t.add(dtype, [("src", src)], [("dst", dtype, np.tile(src, repeats), None)], repeats=repeats)


PAD_MODES = {"TL_PAD_CONSTANT": "constant", "TL_PAD_EDGE": "edge", "TL_PAD_REFLECT": "reflect", "TL_PAD_WRAP": "wrap"}


def pad(t):
    for dtype in ALL:
        for mode, name in PAD_MODES.items():
            for shape in shapes(t.rng, 1, 5):
                # numpy's own repetition goes wrong farther out than the tensor is long.
                most = {"wrap": lambda d: d + 1, "reflect": lambda d: d}.get(name, lambda d: 9)
                widths = [[int(w) for w in t.rng.integers(0, most(d), 2)] for d in shape]
                src = t.values(dtype, *shape, edged=True)
                value = t.values(dtype, 1, edged=True)
                expected = np.pad(src, widths, name, **({"constant_values": value[0]} if name == "constant" else {}))
                t.add(dtype, [("src", src), ("value", value)], [("dst", dtype, expected, None)],
                      before=[w[0] for w in widths], after=[w[1] for w in widths], mode=mode)


def trilu(t):
    for dtype in ALL:
        for shape in some_shapes(t, 2):
            for upper, formula in ((True, np.triu), (False, np.tril)):
                src, k = t.values(dtype, *shape), np.array(int(t.rng.integers(-4, 5)))
                t.add(dtype, [("src", src), ("k", ("TL_INT64", k))],
                      [("dst", dtype, formula(src, int(k)).astype(NUMPY[dtype]), None)], upper=upper)


def take(t):
    for dtype in ALL:
        for shape in shapes(t.rng, 1, 6):
            axis, kind = axis_of(t, shape), INDICES[t.n % 2]
            src, index = t.values(dtype, *shape, edged=True), indices(t, kind, shape[axis], *[(), (3,), (2, 0), (2, 4)][t.n % 4])
            t.add(dtype, [("src", src), ("index", index)], [("dst", dtype, np.take(src, index[1], axis), None)], axis=axis)


def take_along(t):
    for dtype in ALL:
        for shape in shapes(t.rng, 1, 8):
            axis, kind = axis_of(t, shape), INDICES[t.n % 2]
            src = t.values(dtype, *shape, edged=True)
            index = indices(t, kind, shape[axis], *[4 if k == axis else d for k, d in enumerate(shape)])
            t.add(dtype, [("src", src), ("index", index)],
                  [("dst", dtype, np.take_along_axis(src, index[1], axis), None)], axis=axis)


def coordinates(t, kind, dims, *shape):
    """[shape, K]: rows of coordinates in a tensor that begins with these K dims."""
    return kind, np.stack([t.rng.integers(-d, d, shape) for d in dims], -1).astype(NUMPY[kind])


def take_nd(t):
    for dtype in ALL:
        for shape in shapes(t.rng, 1, 6):
            width = int(t.rng.integers(1, len(shape) + 1))
            src, index = t.values(dtype, *shape), coordinates(t, INDICES[t.n % 2], shape[:width], 5)
            t.add(dtype, [("src", src), ("index", index)], [("dst", dtype, src[tuple(index[1].T)], None)])


def combined(dtype, op, old, new):
    """The new value of an element; integers wrap, and bool follows its logic."""
    with np.errstate(over="ignore"):
        return {"TL_PUT_SET": new, "TL_PUT_SUM": old + new, "TL_PUT_MUL": old * new, "TL_PUT_MAX": max(old, new),
                "TL_PUT_MIN": min(old, new)}[op]


PUT_OPS = ("TL_PUT_SET", "TL_PUT_SUM", "TL_PUT_MUL", "TL_PUT_MAX", "TL_PUT_MIN")


def put_along(t):
    for dtype in ALL:
        for turn, shape in enumerate(shapes(t.rng, 1, 5)):
            # Sums of bfloat16 are rounded by hardware that numpy does not have.
            op = PUT_OPS[turn % 5] if dtype != "TL_BFLOAT16" else "TL_PUT_SET"
            axis = axis_of(t, shape)
            src, where = t.values(dtype, *shape), [4 if k == axis else d for k, d in enumerate(shape)]
            index, update = indices(t, INDICES[t.n % 2], shape[axis], *where), t.values(dtype, *where)
            expected = src.copy()
            for at in np.ndindex(*where):
                place = tuple(int(index[1][at]) if k == axis else a for k, a in enumerate(at))
                expected[place] = combined(dtype, op, expected[place], update[at])
            t.add(dtype, [("src", src), ("index", index), ("update", update)], [("dst", dtype, expected, None)], axis=axis, op=op)


def put_nd(t):
    for dtype in ALL:
        for turn, shape in enumerate(shapes(t.rng, 1, 5)):
            op = PUT_OPS[turn % 5] if dtype != "TL_BFLOAT16" else "TL_PUT_SET"
            width = int(t.rng.integers(1, len(shape) + 1))
            src, index = t.values(dtype, *shape), coordinates(t, INDICES[t.n % 2], shape[:width], 6)
            update = t.values(dtype, 6, *shape[width:])
            expected = src.copy()
            for i, at in enumerate(index[1]):
                for rest in np.ndindex(*shape[width:]):
                    place = (*[int(a) for a in at], *rest)
                    expected[place] = combined(dtype, op, expected[place], update[(i, *rest)])
            t.add(dtype, [("src", src), ("index", index), ("update", update)], [("dst", dtype, expected, None)], op=op)


def onehot(t):
    for dtype in ALL:
        for shape in shapes(t.rng, 1, 4):
            axis, kind = int(t.rng.integers(0, len(shape) + 1)), INT[t.n % 8]
            src = t.rng.integers(0, 6, shape).astype(NUMPY[kind])
            values = t.values(dtype, 2)
            hit = np.expand_dims(src.astype(np.int64), axis) == np.arange(4).reshape([4 if k == axis else 1 for k in range(len(shape) + 1)])
            t.add(dtype, [("src", (kind, src)), ("values", values)],
                  [("dst", dtype, np.where(hit, values[1], values[0]).astype(NUMPY[dtype]), None)], depth=4, axis=axis)


def range_(t):
    for dtype in NUM:
        for start, delta, n in ((1, 2, 17), (100, -3, 30), (5, 1, 0), (0.5, 0.25, 9)):
            if delta < 0 and dtype not in FLT and NUMPY[dtype](0) - 1 > 0:
                continue
            start, delta = (np.array(v).astype(NUMPY[dtype]) for v in (start, delta))
            t.add(dtype, [("start", start), ("delta", delta)],
                  [("dst", dtype, (start + np.arange(n).astype(NUMPY[dtype]) * delta).astype(NUMPY[dtype]), None)], len=n)


OPERATORS = {"view": view, "stride_slice": stride_slice, "join": join, "split": split, "expand": expand, "tile": tile, "pad": pad,
             "trilu": trilu, "take": take, "take_along": take_along, "take_nd": take_nd, "put_along": put_along,
             "put_nd": put_nd, "onehot": onehot, "range": range_}


def main():
    lightnet, only = os.path.abspath(sys.argv[1]), sys.argv[2:]
    tap = Tap()
    print(f"# seed {SEED}")
    with tempfile.TemporaryDirectory() as folder:
        for k, (optype, cases) in enumerate(OPERATORS.items()):
            if only and optype not in only:
                continue
            t = Cases(optype, np.random.default_rng([SEED, 200 + k]))
            cases(t)
            tap.check(f"{optype} gives what numpy gives", t.check(lightnet, folder)[:20])
    tap.end()


if __name__ == "__main__":
    main()
