# SPDX-License-Identifier: Apache-2.0
"""Random graphs of ONNX operators that are computed with NumPy while they are drawn.

Elements are small whole numbers, so all sums and products are exact in any order, and the results of an engine must be equal.
A step adds a node, or nothing if the drawn operands do not fit.
"""
import random

import numpy as np

INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
FLOATS = (np.float32, np.float32, np.float32, np.float64, np.float16)
# Whole numbers up to these are exact, and so are their sums of two.
EXACT = {"float16": 2**10, "float32": 2**23, "float64": 2**52}
LARGEST = 4096  # elements of a tensor


class Value:
    """A tensor of the graph: its name, its elements, and whether a node made it."""

    def __init__(self, name, array, is_made):
        self.name, self.array, self.is_made = name, array, is_made

    @property
    def dtype(self):
        return self.array.dtype

    @property
    def shape(self):
        return self.array.shape


class Graph:
    """Nodes (operator, inputs, outputs, attributes), inputs and constants by name, and what NumPy computes."""

    def __init__(self, seed, number):
        self.random = random.Random(f"{seed} {number}")
        self.numbers = np.random.Generator(np.random.PCG64(self.random.getrandbits(64)))
        self.nodes, self.inputs, self.constants, self.values = [], {}, {}, []

    # Choices

    def chance(self, part):
        return self.random.random() < part

    def one_of(self, items):
        return items[self.random.randrange(len(items))]

    def size(self):
        return self.one_of((0, 1, 1, 1, 2, 2, 3, 4, 4, 5, 8, 8, 16, 17)) if self.chance(0.2) else self.one_of((1, 2, 3, 4, 5, 8))

    def shape(self, most=3):
        return tuple(self.size() for _ in range(self.random.randrange(most + 1)))

    def some(self, fits=lambda v: True):
        """A value that fits, the last results rather than others; None: none."""
        fitting = [v for v in self.values if fits(v)]
        if not fitting:
            return None
        made = [v for v in fitting if v.is_made]
        return self.one_of(made[-2:]) if made and self.chance(0.7) else self.one_of(fitting)

    # Parts

    def name(self):
        return f"t{len(self.values) + len(self.constants)}"

    def new(self, array):
        """An input of the model or a constant."""
        name = self.name()
        (self.constants if self.chance(0.3) else self.inputs)[name] = array
        self.values.append(Value(name, array, False))
        return self.values[-1]

    def drawn(self, dtype, shape):
        if dtype == np.bool_:
            return self.new(self.numbers.integers(0, 2, shape).astype(np.bool_))
        low = 0 if np.dtype(dtype).kind == "u" else -3
        return self.new(self.numbers.integers(low, 4, shape).astype(dtype))

    def constant(self, array):
        """A constant that only one node reads: a shape, axes."""
        name = f"c{len(self.values) + len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def add(self, operator, inputs, arrays, **attributes):
        """Adds a node, unless a result is inexact or large. `inputs`: values or names."""
        arrays = arrays if isinstance(arrays, list) else [arrays]
        if not all(is_exact(array) for array in arrays):
            return
        outputs = []
        for array in arrays:
            outputs.append(self.name())
            self.values.append(Value(outputs[-1], array, True))
        self.nodes.append((operator, [v.name if isinstance(v, Value) else v for v in inputs], outputs, attributes))

    def outputs(self):
        """Results that no node reads, and some others."""
        read = {name for _, inputs, _, _ in self.nodes for name in inputs}
        return [v for v in self.values if v.is_made and (v.name not in read or self.chance(0.1))]


def whole(array):
    """A contiguous copy; np.ascontiguousarray adds an axis to scalars."""
    return np.array(array, order="C")


def is_exact(array):
    if array.size > LARGEST or array.ndim > 6:
        return False
    return array.dtype.kind != "f" or not array.size or float(np.abs(array).max()) <= EXACT[array.dtype.name]


def draw(seed, number):
    g = Graph(seed, number)
    g.drawn(g.one_of(FLOATS + INTEGERS + (np.bool_,)), g.shape())
    for _ in range(g.random.randrange(2, 9)):
        g.one_of(STEPS)(g)
    return g


# Operands that broadcast


def is_number(v):
    return v.dtype != np.bool_


def partner(g, a):
    """A value that broadcasts with `a`: one that is there, or a new one with fewer axes, axes of 1, or longer ones."""
    there = g.some(lambda v: v.dtype == a.dtype and fits(v.shape, a.shape)) if g.chance(0.4) else None
    if there:
        return there
    dims = list(a.shape)
    for k, d in enumerate(dims):
        if d == 1 and g.chance(0.5):
            dims[k] = g.size()
        elif g.chance(0.4):
            dims[k] = 1
    if g.chance(0.3):
        dims = dims[g.random.randrange(len(dims) + 1):]
    elif g.chance(0.5):
        dims = [g.one_of((1, 2, 4, 8, g.size()))] + dims
    b = g.drawn(a.dtype, tuple(dims))
    if g.chance(0.6):  # a result, too
        step_unary(g, b)
        return g.values[-1] if g.values[-1].is_made and g.values[-1].dtype == b.dtype else b
    return b


def fits(one, other):
    return all(a == b or a == 1 or b == 1 for a, b in zip(one[::-1], other[::-1]))


def pair(g, fits_type):
    a = g.some(lambda v: fits_type(v) and v.array.ndim < 5)
    if not a:
        return None
    operands = [a, partner(g, a)]
    g.random.shuffle(operands)
    x, y = operands
    dims = np.broadcast_shapes(x.shape, y.shape)
    return operands if int(np.prod(dims)) <= LARGEST else None


def quietly(formula, *arrays):
    with np.errstate(all="ignore"):
        return np.asarray(formula(*arrays))


def step_binary(g):
    operator, formula = g.one_of((("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply)))
    operands = pair(g, is_number)
    if operands:
        g.add(operator, operands, quietly(formula, operands[0].array, operands[1].array))


def step_extreme(g):
    operator, formula = g.one_of((("Max", np.maximum), ("Min", np.minimum)))
    operands = pair(g, is_number)
    if operands:
        g.add(operator, operands, formula(operands[0].array, operands[1].array))


def step_compare(g):
    operator, formula = g.one_of((("Equal", np.equal), ("Less", np.less), ("Greater", np.greater), ("LessOrEqual", np.less_equal),
                                  ("GreaterOrEqual", np.greater_equal)))
    operands = pair(g, is_number)
    if operands:
        g.add(operator, operands, np.asarray(formula(operands[0].array, operands[1].array)))


def step_logic(g):
    operator, formula = g.one_of((("And", np.logical_and), ("Or", np.logical_or), ("Xor", np.logical_xor)))
    operands = pair(g, lambda v: not is_number(v))
    if operands:
        g.add(operator, operands, np.asarray(formula(operands[0].array, operands[1].array)))


def step_where(g):
    operands = pair(g, lambda v: True)
    if not operands:
        return
    dims = np.broadcast_shapes(operands[0].shape, operands[1].shape)
    condition = g.some(lambda v: v.dtype == np.bool_ and fits(v.shape, dims)) or g.drawn(np.bool_, dims)
    if int(np.prod(np.broadcast_shapes(dims, condition.shape))) <= LARGEST:
        g.add("Where", [condition, *operands], np.where(condition.array, operands[0].array, operands[1].array))


# One operand


def step_unary(g, src=None):
    src = src or g.some()
    if not is_number(src):
        g.add("Not", [src], ~src.array)
        return
    rows = [("Relu", lambda x: np.maximum(x, x.dtype.type(0))), ("Abs", np.abs), ("Sign", np.sign), ("Identity", lambda x: x)]
    if src.dtype.kind != "u":
        rows.append(("Neg", np.negative))
    operator, formula = g.one_of(rows)
    if operator == "Sign" and src.dtype.kind == "u":
        formula = lambda x: (x > 0).astype(x.dtype)
    g.add(operator, [src], quietly(formula, src.array).astype(src.dtype))


def step_clip(g):
    src = g.some(is_number)
    if src:
        low, high = np.array(0, src.dtype), np.array(2, src.dtype)
        g.add("Clip", [src, g.constant(low), g.constant(high)], np.clip(src.array, low, high))


def step_cast(g):
    """To a type that has all elements."""
    src, to = g.some(), np.dtype(g.one_of(FLOATS + INTEGERS + (np.bool_,)))
    if to == np.bool_:
        array = src.array != 0
    elif to.kind == "f":
        array = quietly(lambda x: x.astype(to), src.array)
    else:
        info = np.iinfo(to)
        if src.array.size and not (info.min <= int(src.array.min()) and int(src.array.max()) <= info.max):
            return
        array = src.array.astype(to)
    g.add("Cast", [src], array, to=CODES[to.name])


def step_quantize(g):
    """To bytes and back, by a scale of 1."""
    src = g.some(lambda v: v.dtype == np.float32)
    if not src:
        return
    kind = g.one_of((np.uint8, np.int8))
    zero = np.array(g.random.randrange(0, 100), kind)
    info, scale = np.iinfo(kind), g.constant(np.array(1, np.float32))
    bytes_ = np.clip(src.array + np.float32(zero), info.min, info.max).astype(kind)
    zero_name = g.constant(zero)
    before = len(g.nodes)
    g.add("QuantizeLinear", [src, scale, zero_name], bytes_)
    if len(g.nodes) > before and g.chance(0.7):
        g.add("DequantizeLinear", [g.values[-1], scale, zero_name], bytes_.astype(np.float32) - np.float32(zero))


# Views and moves


def factors(g, n):
    dims = []
    for prime in (2, 2, 2, 3, 5):
        if n and n % prime == 0 and g.chance(0.5):
            dims.append(prime)
            n //= prime
    dims += [n] + [1] * g.chance(0.3)
    g.random.shuffle(dims)
    return dims


def step_reshape(g):
    src = g.some()
    dims = factors(g, src.array.size)
    g.add("Reshape", [src, g.constant(np.array(dims, np.int64))], src.array.reshape(dims), **({} if src.array.size else {"allowzero": 1}))


def step_unsqueeze(g):
    src = g.some(lambda v: v.array.ndim < 4)
    if src:
        axis = g.random.randrange(src.array.ndim + 1)
        g.add("Unsqueeze", [src, g.constant(np.array([axis], np.int64))], np.expand_dims(src.array, axis))


def step_squeeze(g):
    src = g.some(lambda v: 1 in v.shape)
    if src:
        axis = g.one_of([k for k, d in enumerate(src.shape) if d == 1])
        g.add("Squeeze", [src, g.constant(np.array([axis], np.int64))], src.array.squeeze(axis))


def step_transpose(g):
    src = g.some(lambda v: v.array.ndim > 0)
    if src:
        axes = list(range(src.array.ndim))
        g.random.shuffle(axes)
        g.add("Transpose", [src], whole(src.array.transpose(axes)), perm=axes)


def step_slice(g):
    src = g.some(lambda v: v.array.ndim > 0)
    if not src:
        return
    axis = g.random.randrange(src.array.ndim)
    length = src.shape[axis]
    start = g.random.randrange(length + 1)
    end, step = g.random.randrange(start, length + 1), g.one_of((1, 1, 1, 2))
    where = [slice(None)] * src.array.ndim
    where[axis] = slice(start, end, step)
    ends = [g.constant(np.array([v], np.int64)) for v in (start, end, axis, step)]
    g.add("Slice", [src, *ends], whole(src.array[tuple(where)]))


def step_split(g):
    src = g.some(lambda v: v.array.ndim > 0 and v.shape[-1] > 1)
    if src:
        at = g.random.randrange(1, src.shape[-1])
        parts = [whole(part) for part in np.split(src.array, [at], -1)]
        g.add("Split", [src, g.constant(np.array([at, src.shape[-1] - at], np.int64))], parts, axis=-1)


def step_concat(g):
    a = g.some(lambda v: v.array.ndim > 0)
    b = a and g.some(lambda v: v.dtype == a.dtype and v.array.ndim == a.array.ndim and v.shape[1:] == a.shape[1:])
    if b:
        parts = g.one_of(([a, b], [b, a], [a, b, a]))
        g.add("Concat", parts, np.concatenate([part.array for part in parts]), axis=0)


def step_expand(g):
    src = g.some()
    dims = [g.one_of((1, 2, 4, 8))] + [g.size() if d == 1 else d for d in src.shape]
    if int(np.prod(dims)) <= LARGEST:
        g.add("Expand", [src, g.constant(np.array(dims, np.int64))], np.broadcast_to(src.array, dims).copy())


def step_gather(g):
    src = g.some(lambda v: v.array.ndim > 0 and v.shape[0] > 0)
    if src:
        index = g.numbers.integers(-src.shape[0], src.shape[0], g.shape(2))
        g.add("Gather", [src, g.constant(index.astype(np.int64))], whole(src.array.take(index, 0)), axis=0)


def step_scatter(g):
    """Rows of the operand replaced, each by one update."""
    src = g.some(lambda v: v.array.ndim > 0 and v.shape[0] > 0)
    if not src:
        return
    rows = g.numbers.permutation(src.shape[0])[:g.random.randrange(src.shape[0] + 1)].astype(np.int64)
    update = g.drawn(src.dtype, (len(rows), *src.shape[1:]))
    array = src.array.copy()
    array[rows] = update.array
    g.add("ScatterND", [src, g.constant(rows.reshape(-1, 1)), update], array)


def step_pad(g):
    src = g.some(lambda v: is_number(v) and v.array.ndim > 0)
    if src:
        before, after = g.random.randrange(3), g.random.randrange(3)
        pads = [before] + [0] * (src.array.ndim - 1) + [after] + [0] * (src.array.ndim - 1)
        width = [(before, after)] + [(0, 0)] * (src.array.ndim - 1)
        g.add("Pad", [src, g.constant(np.array(pads, np.int64))], np.pad(src.array, width))


# Several elements to one


def step_reduce(g):
    operator, formula = g.one_of((("ReduceSum", np.sum), ("ReduceMax", np.max), ("ReduceMin", np.min)))
    src = g.some(lambda v: v.dtype in (np.float32, np.float64, np.int32, np.int64) and v.array.ndim > 0 and v.array.size)
    if not src:
        return
    axis, keep = g.random.randrange(src.array.ndim), g.random.randrange(2)
    array = formula(src.array, axis=axis, keepdims=bool(keep)).astype(src.dtype)
    g.add(operator, [src, g.constant(np.array([axis], np.int64))], np.asarray(array), keepdims=keep)


def step_argmax(g):
    src = g.some(lambda v: is_number(v) and v.array.ndim > 0 and v.array.size)
    if src:
        axis = g.random.randrange(src.array.ndim)
        g.add("ArgMax", [src], np.asarray(src.array.argmax(axis)), axis=axis, keepdims=0)


def step_cumsum(g):
    src = g.some(lambda v: v.dtype in (np.float32, np.int32, np.int64) and v.array.ndim > 0)
    if src:
        axis = g.random.randrange(src.array.ndim)
        g.add("CumSum", [src, g.constant(np.array(axis, np.int64))], np.cumsum(src.array, axis, dtype=src.dtype))


def step_matmul(g):
    a = g.some(lambda v: v.dtype in (np.float32, np.float64, np.int32) and v.array.ndim > 0 and v.shape[-1] > 0)
    if not a:
        return
    b = g.drawn(a.dtype, (a.shape[-1], g.size()))
    array = np.matmul(a.array, b.array)
    if array.dtype == a.dtype and float(np.abs(a.array.astype(np.float64)).max(initial=0)) * 3 * a.shape[-1] < 2**20:
        g.add("MatMul", [a, b], array)


STEPS = (step_binary, step_binary, step_binary, step_extreme, step_compare, step_compare, step_compare, step_compare, step_logic,
         step_where, step_where, step_unary, step_unary, step_clip, step_cast, step_cast, step_quantize, step_reshape, step_unsqueeze,
         step_squeeze, step_transpose, step_slice, step_split, step_concat, step_expand, step_gather, step_scatter, step_pad,
         step_reduce, step_argmax, step_cumsum, step_matmul)

# TensorProto.DataType of NumPy's types.
CODES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
         "float64": 11, "uint32": 12, "uint64": 13}
