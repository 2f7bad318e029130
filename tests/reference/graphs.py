#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: graphs.py LIGHTNET [FIRST [COUNT]]. Random graphs agree with numpy, before and after rewrites.

numpy has views and writes in place as LightNet does: a reshape is a numpy view of the same elements, a sort changes
them for all views, and earlier copies stay. So a graph is run by numpy while it is drawn, operator by
operator, and compared in the end.
"""
import os
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
import formulas as f
from dtypes import FLT, NUM, random_values
from model import Model
from tap import Tap

SEED = 20240301
GRAPHS = 200
KINDS = tuple(dtype for dtype in NUM if dtype != "TL_BFLOAT16")
EPSILON = 2.0**-24


class Tensor:
    """`array` shares memory with the arrays of its views; `error`, in a list that the views share too, bounds how far
    each element may be from LightNet's, 0: the same to the bit."""

    def __init__(self, name, dtype, array, error, const=False):
        self.name, self.dtype, self.array, self.error, self.const = name, dtype, array, error, const

    @property
    def shape(self):
        return self.array.shape

    @property
    def largest(self):
        return float(np.abs(self.array.astype(np.float64)).max())


class Graph:
    """A model that grows by random operators."""

    def __init__(self, seed):
        self.rng = np.random.default_rng([SEED, seed])
        self.model = Model()
        self.tensors = []
        self.dtype = str(self.rng.choice(KINDS)) if self.rng.random() < 0.5 else "TL_FLOAT"

    # Choices

    def below(self, n):
        return int(self.rng.integers(n))

    def one_of(self, items):
        return items[self.below(len(items))]

    def some(self, fits=lambda t: True):
        """A tensor of the graph's dtype that fits, the last ones rather than others; None: none."""
        fitting = [t for t in self.tensors if t.dtype == self.dtype and fits(t)]
        if not fitting:
            return None
        return fitting[-1] if self.rng.random() < 0.5 else self.one_of(fitting)

    # Operators

    def create(self, *shape, const=False, low=None, high=None):
        values = random_values(self.rng, self.dtype, shape)
        if low is not None:
            values = self.rng.uniform(low, high, shape).astype(values.dtype)
        t = Tensor(self.model.create(self.dtype, values, const), self.dtype, values.copy(), [0.0], const)
        if not const:
            self.tensors.append(t)
        return t

    def op(self, optype, ins, array, error=0.0, /, **params):
        """Adds an operator that makes a new tensor."""
        name, = self.model.op(optype, [(arg, t.name) for arg, t in ins], **params)
        return self.made(name, np.array(array, order="C"), [float(error)])

    def made(self, name, array, error, dtype=None):
        self.tensors.append(Tensor(name, dtype or self.dtype, array, error))
        return self.tensors[-1]

    def view(self, optype, src, dims, arg="src", out="dst", /, **params):
        """Adds an operator whose output shares the memory of its input."""
        name, = self.model.op(optype, [(arg, src.name)], [out], **params)
        return self.made(name, src.array.reshape(dims), src.error)

    def flat(self, src):
        return src if src.array.ndim == 1 else self.view("reshape", src, [src.array.size], dims=[src.array.size])

    def grow(self):
        """Adds one or a few operators, if the drawn ones can be added."""
        steps = MOVING + (COMPUTING if self.dtype == "TL_FLOAT" else ())
        step = self.one_of(steps)
        step(self)

    def finish(self):
        """Some tensors become outputs: among them each that nothing reads, so that all is needed."""
        read = {entry["name"] for op in self.model.ops for entry in op["tensors_in"]}
        made = [t for t in self.tensors if t.name not in self.model.inputs and not t.const]
        for t in made:
            if t.name not in read or self.rng.random() < 0.15:
                bound = t.error[0] if t.error[0] else None
                self.model.expect(t.name, t.dtype, t.array, bound)


def random_dims(g, n):
    """A shape of `n` elements."""
    dims = []
    for prime in (2, 2, 2, 3, 3, 5, 7):
        if n % prime == 0 and g.below(2):
            dims.append(prime)
            n //= prime
    dims.append(n)
    g.rng.shuffle(dims)
    return [int(d) for d in dims][:8]


# Steps that move elements, or compute the same to the bit in any way


def add_create(g):
    shape = g.one_of([(2, 3, 4), (1, 6, 2, 2), (12,), (7, 3), (2, 4, 3, 3)])
    t = g.create(*shape, const=g.below(5) == 0)
    if t.const:
        g.tensors.append(t)


def add_reshape(g):
    src = g.some()
    dims = random_dims(g, src.array.size) if g.below(4) else list(src.shape)
    g.view("reshape", src, dims, dims=dims)


def add_forward(g):
    src = g.some()
    g.view("forward", src, src.shape)


def add_transpose(g):
    src = g.some()
    axes = [int(a) for a in g.rng.permutation(src.array.ndim)]
    g.op("transpose", [("src", src)], src.array.transpose(axes), src.error[0], axes=axes)


def add_transposes(g):
    """Two that may cancel each other, perhaps with a reshape between."""
    src = g.some(lambda t: t.array.ndim > 1)
    if not src:
        return
    axes = [int(a) for a in g.rng.permutation(src.array.ndim)]
    mid = g.op("transpose", [("src", src)], src.array.transpose(axes), src.error[0], axes=axes)
    if g.below(3) == 0:
        mid = g.view("reshape", mid, mid.shape, dims=list(mid.shape))
    back = [int(a) for a in (np.argsort(axes) if g.below(2) else g.rng.permutation(len(axes)))]
    g.op("transpose", [("src", mid)], mid.array.transpose(back), mid.error[0], axes=back)


def add_rewritten_between(g):
    """Two equal operators, except for a write in place between them."""
    src = g.some(lambda t: t.array.ndim > 1)
    if not src:
        return
    which = g.below(3)
    if which == 0:
        axes = [int(a) for a in g.rng.permutation(src.array.ndim)]
        mid = g.op("transpose", [("src", src)], src.array.transpose(axes), src.error[0], axes=axes)
    elif which == 1:
        mid = add_slice(g, src, 0)
    else:
        mid = g.op("relu", [("src", src)], f.relu(src.array), src.error[0])
    sort_in_place(g, g.one_of([src, mid, mid]))
    if which == 0:
        back = [int(a) for a in np.argsort(axes)]
        g.op("transpose", [("src", mid)], mid.array.transpose(back), mid.error[0], axes=back)
    elif which == 1:
        add_slice(g, mid, 0)
    else:
        g.op("relu", [("src", mid)], f.relu(mid.array), mid.error[0])


def add_slice(g, src=None, axis=None):
    src = src or g.some()
    axis = g.below(src.array.ndim) if axis is None else axis
    start = g.below(src.shape[axis])
    length = 1 + g.below(src.shape[axis] - start)
    if g.below(5) == 0:
        start, length = 0, src.shape[axis]
    part = src.array.take(range(start, start + length), axis)
    return g.op("slice", [("src", src)], part, src.error[0], axis=axis, start=start, len=length)


def add_concat(g):
    a = g.some(lambda t: t.array.size < 500)
    b = a and g.some(lambda t: t.shape == a.shape)
    if not a:
        return
    axis = g.below(a.array.ndim)
    g.op("concat", [("src1", a), ("src2", b)], np.concatenate([a.array, b.array], axis),
         max(a.error[0], b.error[0]), axis=axis)


def add_gather(g):
    first = g.some(lambda t: t.array.ndim < 6 and t.array.size < 200)
    if not first:
        return
    parts = [first] + [g.some(lambda t: t.shape == first.shape) for _ in range(g.below(3))]
    g.op("gather", [(f"src{k}", t) for k, t in enumerate(parts)], np.stack([t.array for t in parts]),
         max(t.error[0] for t in parts))


def add_scatter(g):
    src = g.some(lambda t: t.array.ndim > 1 and t.shape[0] < 5)
    if not src:
        return
    names = g.model.op("scatter", [("src", src.name)], [f"dst{k}" for k in range(src.shape[0])])
    for name, part in zip(names, src.array):
        g.made(name, part.copy(), [src.error[0]])


def add_relu(g):
    src = g.some()
    g.op("relu", [("src", src)], f.relu(src.array), src.error[0])


def add_lrelu(g):
    src = g.some()
    slope = g.one_of([0.125, 0.5])
    error = src.error[0]
    g.op("lrelu", [("src", src)], f.lrelu(src.dtype, src.array, slope), error, negslope=slope)


def add_elew(g):
    a = g.some()
    b = g.some(lambda t: t.shape == a.shape)
    ops = ["TL_SUM", "TL_SUB", "TL_MAX", "TL_MIN"]
    if a.dtype not in FLT or (a.largest < 8 and b.largest < 8):
        ops.append("TL_MUL")
    op = g.one_of(ops)
    array = f.elew(a.dtype, op, a.array, b.array)
    error = a.error[0] + b.error[0]
    if op == "TL_MUL":
        error = a.error[0] * b.largest + b.error[0] * a.largest + a.error[0] * b.error[0]
    error = error and error + 2 * EPSILON * (a.largest + b.largest + 1)
    g.op("elew", [("src1", a), ("src2", b)], array, error, elew_op=op)


def add_maxpool(g):
    src = g.some(lambda t: t.array.ndim == 4)
    if not src:
        return
    size = [1 + g.below(min(3, d)) for d in src.shape[2:]]
    params = {"size": size, "stride": [1 + g.below(3) for _ in range(2)],
              "padding": [g.below(size[k % 2]) for k in range(4)],
              "autopad": g.one_of(["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"])}
    g.op("maxpool2d", [("src", src)], f.maxpool2d(src.array, **params), src.error[0], **params)


def add_maxreduce(g):
    src = g.some()
    axis = g.below(src.array.ndim)
    g.op("maxreduce", [("src", src)], f.maxreduce_arg(src.array, axis)[0], src.error[0], axis=axis)


def add_resize(g):
    src = g.some(lambda t: t.array.size < 300)
    if not src:
        return
    dims = [max(1, d + g.below(4) - 1) if g.below(2) else d for d in src.shape]
    g.op("resize", [("src", src)], f.nearest(src.array, dims), src.error[0], mode="TL_NEAREST", dims=dims)


# Writers in place. A tensor that views share is read before, written, and read again.


def sort_in_place(g, src):
    """The flat view that is sorted, and the output."""
    line = g.flat(src)
    direction = g.one_of(["TL_SORT_DIR_ASCENDING", "TL_SORT_DIR_DESCENDING"])
    done = g.view("sort1d", line, line.shape, "src_key", "dst_key", dir=direction)
    done.array[:] = done.array[f.sorted_order(done.array, direction)]
    return line, done


def add_sort(g):
    src = g.some()
    before = g.one_of([add_relu, add_slice, add_transpose, add_reshape, add_forward])
    if g.below(2):
        before(g)
    line, done = sort_in_place(g, src)
    if g.below(2):   # read through the name from before, and through the new one
        g.op("elew", [("src1", line), ("src2", done)], f.elew(g.dtype, "TL_MAX", line.array, done.array),
             done.error[0], elew_op="TL_MAX")
    if g.below(2):
        g.op("relu", [("src", src)], f.relu(src.array), src.error[0])


def add_sort_by_key(g):
    """Only exact keys have one order."""
    src = g.some(lambda t: not t.error[0])
    if not src:
        return
    line = g.flat(src)
    index = np.arange(line.array.size, dtype=np.int32)
    values = Tensor(g.model.create("TL_INT32", index), "TL_INT32", index.copy(), [0.0])
    direction = g.one_of(["TL_SORT_DIR_ASCENDING", "TL_SORT_DIR_DESCENDING"])
    key, val = g.model.op("sort1d_by_key", [("src_key", line.name), ("src_val", values.name)], ["dst_key", "dst_val"],
                          dir=direction)
    order = f.sorted_order(line.array, direction)
    line.array[:] = line.array[order]
    g.made(key, line.array, line.error)
    chosen = g.made(val, values.array, values.error, "TL_INT32")
    chosen.array[:] = order
    count = 1 + g.below(len(order))
    g.op("pick1d", [("src", line), ("src_index", chosen)], line.array[order[:count]], 0.0, len=count, stride=1)


def add_rearange(g):
    src = g.some(lambda t: not t.error[0] and t.array.size < 100)
    if not src:
        return
    line = g.flat(src)
    stop = line.array.size
    done = g.view("rearange", line, line.shape, start=0, stop=stop, step=1)
    done.array[:] = f.arange(g.dtype, 0, stop, 1)


MOVING = (add_create, add_reshape, add_reshape, add_forward, add_transpose, add_transposes, add_rewritten_between,
          add_slice, add_slice, add_concat, add_gather, add_scatter, add_relu, add_lrelu, add_elew, add_elew,
          add_maxpool, add_maxreduce, add_resize, add_sort, add_sort, add_sort_by_key, add_rearange)


# Operators that round, which rewrites may compute in another way


def image(g):
    """A tensor [N, C, H, W] of moderate values."""
    return g.some(lambda t: t.array.ndim == 4 and t.largest < 1e3) or g.create(1, 6, 5, 4)


def constant(g, *shape, low=-1.0, high=1.0):
    """A weight; now and then one that is no constant, so that nothing may be folded into it."""
    t = g.create(*shape, const=g.rng.random() < 0.9, low=low, high=high)
    return t


def grown(src, gain, magnitude, steps):
    """The error after an operator that multiplies errors by at most `gain` and sums up to `magnitude`: never 0, which
    would distinguish -0 from 0."""
    return src.error[0] * gain + (steps + 16) * EPSILON * float(np.max(magnitude)) * 2 + 1e-30


def add_batchnorm(g, src=None):
    src = src or image(g)
    c = src.shape[1]
    scale, offset, mean = (constant(g, c) for _ in range(3))
    var = constant(g, c, low=0.5, high=2.0)
    value, magnitude = f.batchnorm_sum(src.array, scale.array, offset.array, mean.array, var.array, 1e-3)
    return g.op("batchnorm", [("src", src), ("scale", scale), ("offset", offset), ("mean", mean), ("var", var)],
                value.astype(np.float32), grown(src, 1.5, magnitude, 8), epsilon=1e-3)


def add_affine(g, src=None):
    src = src or image(g)
    axis = 1 if g.below(3) else g.below(src.array.ndim)
    scale, shift = constant(g, src.shape[axis]), constant(g, src.shape[axis]) if g.below(3) else None
    along = [-1 if k == axis else 1 for k in range(src.array.ndim)]
    product = src.array.astype(np.float64) * scale.array.reshape(along)
    term = shift.array.reshape(along) if shift else np.float32(-0.0)   # which changes nothing
    ins = [("src", src), ("scale", scale)] + ([("shift", shift)] if shift else [])
    return g.op("affine", ins, (product + term).astype(np.float32),
                grown(src, 1.0, np.abs(product) + np.abs(term), 4), axis=axis)


def add_activation(g, src=None):
    src = src or image(g)
    which = g.below(3)
    if which == 0:
        return g.op("relu", [("src", src)], f.relu(src.array), src.error[0])
    if which == 1:
        slope = g.one_of([0.1, 0.25])
        error = src.error[0] and src.error[0] + 2 * EPSILON * src.largest
        return g.op("lrelu", [("src", src)], f.lrelu(g.dtype, src.array, slope), error, negslope=slope)
    value = f.logistic(src.array.astype(np.float64)).astype(np.float32)
    return g.op("sigmoid", [("src", src)], value, grown(src, 0.25, 1, 16))


def add_conv2d(g, src=None):
    src = src or image(g)
    channels = src.shape[1]
    group = g.one_of([d for d in (1, 2, 3, channels) if channels % d == 0])
    outputs = group * (1 + g.below(4))
    size = [1 + g.below(3), 1 + g.below(3)]
    params = {"group": group, "size": size, "stride": [1 + g.below(2) for _ in range(2)],
              "dilation": [1 + g.below(2) for _ in range(2)], "padding": [2, 2, 2, 2],
              "autopad": g.one_of(["NOTSET", "SAME_UPPER", "SAME_LOWER"])}
    weight, bias = constant(g, outputs, channels // group, *size), constant(g, outputs)
    value, magnitude = f.in_double(f.conv2d, src.array, weight.array, bias.array, **params)
    taps = weight.array[0].size
    return g.op("conv2d", [("src", src), ("weight", weight), ("bias", bias)], value.astype(np.float32),
                grown(src, np.abs(weight.array).sum(axis=(1, 2, 3)).max(), magnitude, taps), **params)


def add_deconv2d(g, src=None):
    src = src or image(g)
    group = 2 if src.shape[1] % 2 == 0 and g.below(2) else 1
    size = [1 + g.below(3), 1 + g.below(3)]
    params = {"group": group, "size": size, "stride": [1 + g.below(2) for _ in range(2)], "dilation": [1, 1],
              "padding": [0, 0, 0, 0], "output_padding": [0, g.below(2)], "output_dims": [0, 0, 0, 0],
              "autopad": "NOTSET"}
    weight = constant(g, src.shape[1], 1 + g.below(3), *size)
    bias = constant(g, weight.shape[1] * group)
    value, magnitude = f.in_double(f.deconv2d, src.array, weight.array, bias.array, **params)
    return g.op("deconv2d", [("src", src), ("weight", weight), ("bias", bias)], value.astype(np.float32),
                grown(src, np.abs(weight.array).sum(), magnitude, src.shape[1] * weight.array[0, 0].size), **params)


def add_layer(g):
    """A typical block of networks: a convolution, a normalization or affine steps, an activation."""
    t = g.one_of([add_conv2d, add_conv2d, add_deconv2d])(g)
    for _ in range(g.below(3)):
        t = g.one_of([add_batchnorm, add_affine])(g, t)
    if g.below(4):
        add_activation(g, t)


def add_avgpool(g):
    src = image(g)
    params = {"size": [1 + g.below(min(2, d)) for d in src.shape[2:]], "stride": [1, 1], "padding": [0, 0, 0, 0],
              "autopad": g.one_of(["VALID", "SAME_UPPER"])}
    value, magnitude = f.avgpool2d_sum(src.array, **params)
    g.op("avgpool2d", [("src", src)], value.astype(np.float32), grown(src, 1, magnitude, 4), **params)


def add_softmax(g):
    src = g.some(lambda t: t.largest < 50)
    if not src:
        return
    axis = g.below(src.array.ndim)
    g.op("softmax", [("src", src)], f.softmax(src.array, axis).astype(np.float32), grown(src, 1, 1, 100), axis=axis)


COMPUTING = (add_batchnorm, add_affine, add_activation, add_conv2d, add_layer, add_layer, add_layer, add_layer,
             add_avgpool, add_softmax)


def draw(seed):
    g = Graph(seed)
    add_create(g)
    for _ in range(3 + g.below(12)):
        g.grow()
    g.finish()
    return g


def check(lightnet, seed, folder):
    g = draw(seed)
    allowed = max(t.error[0] for t in g.tensors)
    return g.model.check(lightnet, os.path.join(folder, str(seed)), 0, allowed, ["-w"])


def main():
    lightnet = os.path.abspath(sys.argv[1])
    first, count = (int(sys.argv[2]), int((sys.argv + [1])[3])) if len(sys.argv) > 2 else (0, GRAPHS)
    folder_of = tempfile.TemporaryDirectory if count > 1 else KeptFolder
    tap = Tap()
    print(f"# seed {SEED}")
    with folder_of() as folder:
        for start in range(first, first + count, 20):
            faults = []
            for seed in range(start, min(start + 20, first + count)):
                faults += [f"graph {seed}: {fault}" for fault in check(lightnet, seed, folder)]
            tap.check(f"random graphs from {start} on give what numpy gives", faults[:40])
    tap.end()


class KeptFolder:
    """For one graph alone: its files stay, to be looked at."""

    def __enter__(self):
        self.name = tempfile.mkdtemp()
        print(f"# {self.name}")
        return self.name

    def __exit__(self, *_):
        pass


if __name__ == "__main__":
    main()
