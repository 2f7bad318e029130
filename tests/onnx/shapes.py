#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: shapes.py LIGHTNET. Operators on shapes and indices, in the forms and opsets that ONNX's own tests do not reach."""
import os
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import NUMPY, Part, check_rejected, elements, faults_of_parts, ranged_faults_of
from onnx_writer import graph, model, node, sparse_tensor, tensor, value
from tap import Tap

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def constant(name, array):
    return tensor(name, *elements(array))


class Case:
    """One operator, its inputs that are given at run time, and those that are constants."""

    def __init__(self, sentence, opset, op_type, inputs, constants=(), /, **attributes):
        self.sentence = f"{op_type} of opset {opset} {sentence}"
        self.opset, self.op_type, self.attributes = opset, op_type, attributes
        self.inputs = {f"x{k}": np.asarray(array) for k, array in enumerate(inputs)}
        self.constants = {f"c{k}": elements(array) for k, array in enumerate(constants) if array is not None}
        self.names = [*self.inputs, *("" if array is None else f"c{k}" for k, array in enumerate(constants))]

    def part(self, expected):
        """With its outputs: arrays in order."""
        wanted = {f"y{k}": np.asarray(array) for k, array in enumerate(expected)}
        return Part(self.sentence, self.opset, [node(self.op_type, self.names, list(wanted), **self.attributes)], self.inputs,
                    wanted, self.constants)


def check_cases(tap, lightnet, right, wrong, tolerance=0):
    """A test for each case with an output, and for each with a message."""
    parts = [case.part(expected) for case, expected in right]
    for part, faults in zip(parts, faults_of_parts(lightnet, parts, lambda part: tolerance)):
        tap.check(part.sentence, faults)
    for case, words in wrong:
        check_rejected(tap, lightnet, case.part([np.float32(0)]), case.sentence, words)


def ints(*values):
    return np.array(values, np.int64)


def int32s(*values):
    return np.array(values, np.int32)


def f32(*values):
    return np.array(values, np.float32)


EMPTY = np.zeros((0, 4), np.float32)
FIVE = np.float32(5)

BOXES = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [5, 5, 6, 6]]], np.float32)
SCORES = np.array([[[0.5, 0.75, 0.25], [0.5, 0.125, 0.1]]], np.float32)

# A case and its output.
RIGHT = [
    (Case("takes its shape from an attribute", 1, "Reshape", [X], shape=[0, 2, -1]), [X.reshape(3, 2, 2)]),
    (Case("makes a scalar", 14, "Reshape", [f32(5)], [ints()]), [FIVE]),
    (Case("takes a scalar", 14, "Reshape", [FIVE], [ints(1, -1)]), [FIVE.reshape(1, 1)]),
    (Case("keeps nothing nothing", 14, "Reshape", [EMPTY], [ints(0, 2, -1)]), [EMPTY.reshape(0, 2, 2)]),
    (Case("takes zeros as they are", 14, "Reshape", [EMPTY], [ints(7, 0)], allowzero=1), [np.zeros((7, 0), np.float32)]),
    (Case("takes all axes before it", 1, "Flatten", [X], axis=2), [X.reshape(12, 1)]),
    (Case("takes a scalar", 13, "Flatten", [FIVE], axis=0), [FIVE.reshape(1, 1)]),
    (Case("takes nothing", 13, "Flatten", [EMPTY]), [EMPTY]),
    (Case("takes axes from an attribute", 1, "Squeeze", [X.reshape(1, 3, 1, 4)], axes=[2]), [X.reshape(1, 3, 4)]),
    (Case("takes all axes of 1", 11, "Squeeze", [X.reshape(1, 3, 1, 4)]), [X]),
    (Case("takes all axes of 1", 13, "Squeeze", [X.reshape(1, 3, 1, 4)]), [X]),
    (Case("makes a scalar", 13, "Squeeze", [f32(5)], [ints(-1)]), [FIVE]),
    (Case("takes axes from an attribute", 1, "Unsqueeze", [X], axes=[0, 3]), [X.reshape(1, 3, 4, 1)]),
    (Case("takes a scalar", 13, "Unsqueeze", [FIVE], [ints(0)]), [f32(5)]),
    (Case("takes a scalar", 13, "Transpose", [FIVE]), [FIVE]),
    (Case("turns nothing round", 13, "Transpose", [EMPTY]), [EMPTY.T]),
    (Case("turns nothing round", 13, "Transpose", [np.zeros((1, 0), np.float32)]), [np.zeros((0, 1), np.float32)]),
    (Case("of a scalar is empty", 15, "Shape", [FIVE]), [ints()]),
    (Case("clamps its ends", 15, "Shape", [X], start=-9, end=-1), [ints(3)]),
    (Case("of a scalar is 1", 13, "Size", [FIVE]), [np.int64(1)]),
    (Case("of nothing is 0", 13, "Size", [EMPTY]), [np.int64(0)]),
    (Case("has axis 1 by default", 1, "Concat", [X, X]), [np.concatenate([X, X], 1)]),
    (Case("takes one", 13, "Concat", [X], axis=0), [X]),
    (Case("takes many, empty ones too", 13, "Concat", [X, EMPTY, X, X], axis=0), [np.concatenate([X, X, X])]),
    (Case("takes lengths from an attribute", 1, "Split", [X], axis=1, split=[1, 3]), [X[:, :1], X[:, 1:]]),
    (Case("takes lengths from an input", 1, "Split", [X], [ints(2, 1)]), [X[:2], X[2:]]),
    (Case("takes lengths from an attribute", 11, "Split", [X], axis=-1, split=[3, 1]), [X[:, :3], X[:, 3:]]),
    (Case("makes even parts", 2, "Split", [X]), [X[:1], X[1:2], X[2:]]),
    (Case("makes a shorter last part", 18, "Split", [X], num_outputs=2), [X[:2], X[2:]]),
    (Case("makes one part", 18, "Split", [X], num_outputs=1), [X]),
    (Case("takes all from attributes", 1, "Slice", [X], starts=[1, -3], ends=[2**31, -1]), [X[1:, -3:-1]]),
    (Case("takes axes from an attribute", 1, "Slice", [X], starts=[1], ends=[2], axes=[1]), [X[:, 1:2]]),
    (Case("goes backward over everything", 13, "Slice", [X], [ints(2**63 - 1), ints(-2**63), ints(-1), ints(-1)]),
     [X[:, ::-1]]),
    (Case("takes TL_INT32", 10, "Slice", [X], [int32s(0), int32s(3), int32s(0), int32s(2)]), [X[0:3:2]]),
    (Case("can take nothing", 13, "Slice", [X], [ints(2), ints(1)]), [X[2:1]]),
    (Case("can take all", 13, "Slice", [X], [ints(0), ints(2**63 - 1)]), [X]),
    (Case("has paddings", 1, "Pad", [X], paddings=[1, 0, 0, 2], value=1.5),
     [np.pad(X, [(1, 0), (0, 2)], constant_values=1.5)]),
    (Case("pads with -inf", 2, "Pad", [X], pads=[0, 1, 0, 0], value=-np.inf), [np.pad(X, [(0, 0), (1, 0)], constant_values=-np.inf)]),
    (Case("pads halves with what is infinite for them", 2, "Pad", [X.astype(np.float16)], pads=[0, 0, 1, 0], value=1e5),
     [np.pad(X.astype(np.float16), [(0, 1), (0, 0)], constant_values=np.inf)]),
    (Case("has pads", 2, "Pad", [X], pads=[0, 2, 0, 1], mode="reflect"), [np.pad(X, [(0, 0), (2, 1)], "reflect")]),
    (Case("crops", 13, "Pad", [X], [ints(-1, 0, 1, -2), FIVE]), [np.pad(X[1:, :2], [(0, 1), (0, 0)], constant_values=5)]),
    (Case("pads with 0 by default", 13, "Pad", [X.astype(np.int64)], [ints(1, 0, 0, 0)]),
     [np.pad(X.astype(np.int64), [(1, 0), (0, 0)])]),
    (Case("pads some axes", 18, "Pad", [X], [ints(1, 2), FIVE, ints(-1)]), [np.pad(X, [(0, 0), (1, 2)], constant_values=5)]),
    (Case("wraps", 19, "Pad", [X], [ints(4, 1, 0, 5)], mode="wrap"), [X[np.ix_(np.arange(-4, 3) % 3, np.arange(-1, 9) % 4)]]),
    (Case("pads nothing", 13, "Pad", [EMPTY], [ints(1, 0, 1, 0)]), [np.zeros((2, 4), np.float32)]),
    (Case("broadcasts both ways", 8, "Expand", [X[:, :1]], [ints(2, 1, 5)]), [np.broadcast_to(X[:, :1], (2, 3, 5))]),
    (Case("takes a scalar", 13, "Expand", [FIVE], [ints(2, 0)]), [np.zeros((2, 0), np.float32)]),
    (Case("copies along one axis", 1, "Tile", [X], [f32(2), f32(1)]), [np.tile(X, (1, 2))]),
    (Case("can make nothing", 6, "Tile", [X], [ints(0, 1)]), [EMPTY]),
    (Case("takes a scalar for an index", 13, "Gather", [X], [np.int32(-1)], axis=1), [X[:, -1]]),
    (Case("takes no indices", 13, "Gather", [X], [ints()]), [EMPTY]),
    (Case("takes no indices", 13, "GatherElements", [X], [np.zeros((0, 4), np.int64)]), [EMPTY]),
    (Case("has batches", 12, "GatherND", [X], [np.array([[-1], [0], [1]], np.int64)], batch_dims=1), [f32(3, 4, 9)]),
    (Case("puts the last of several", 9, "Scatter", [X[0]], [ints(1, 1), f32(7, 8)]), [f32(0, 8, 2, 3)]),
    (Case("adds", 16, "ScatterElements", [X[0]], [ints(1, -3), f32(7, 8)], reduction="add"), [f32(0, 16, 2, 3)]),
    (Case("multiplies", 16, "ScatterElements", [X[0]], [ints(1, 1), f32(7, 8)], reduction="mul"), [f32(0, 56, 2, 3)]),
    (Case("takes the maximum", 18, "ScatterElements", [X[0]], [ints(1, 2), f32(7, -8)], reduction="max"), [f32(0, 7, 2, 3)]),
    (Case("takes the minimum", 18, "ScatterElements", [X[0]], [ints(1, 2), f32(7, -8)], reduction="min"), [f32(0, 1, -8, 3)]),
    (Case("adds to an axis", 18, "ScatterElements", [X], [np.zeros((3, 2), np.int64), np.ones((3, 2), np.float32)], axis=-1,
          reduction="add"), [X + np.array([[2, 0, 0, 0]], np.float32)]),
    (Case("takes the maximum of slices", 18, "ScatterND", [X], [ints(-1)[None], np.full((1, 4), 9.5, np.float32)],
          reduction="max"), [np.array([X[0], X[1], [9.5, 9.5, 10, 11]], np.float32)]),
    (Case("takes the minimum of elements", 18, "ScatterND", [X[0]], [np.array([[3], [0]], np.int64), f32(1, 1)],
          reduction="min"), [f32(0, 1, 2, 1)]),
    (Case("puts ranges", 24, "TensorScatter", [X.reshape(3, 2, 2), np.full((3, 1, 2), -1, np.float32)], [ints(1, 0, 1)]),
     [np.array([[[0, 1], [-1, -1]], [[-1, -1], [6, 7]], [[8, 9], [-1, -1]]], np.float32)]),
    (Case("puts ranges around the end", 24, "TensorScatter", [X, np.full((3, 2), -1, np.float32)], [ints(3, 0, 2)],
          axis=1, mode="circular"),
     [np.array([[-1, 1, 2, -1], [-1, -1, 6, 7], [8, 9, -1, -1]], np.float32)]),
    (Case("puts ranges from 0 by default", 24, "TensorScatter", [X, np.full((3, 1), -1, np.float32)], axis=-1),
     [np.concatenate([np.full((3, 1), -1, np.float32), X[:, 1:]], 1)]),
    (Case("has no place for what is out of range", 11, "OneHot", [ints(0, -2, 2, -3)], [np.int64(2), int32s(1, 9)]),
     [np.array([[9, 1], [9, 1], [1, 1], [1, 1]], np.int32)]),
    (Case("takes floats", 11, "OneHot", [f32(1, 0)], [f32(2), f32(0, 1)], axis=0), [np.array([[0, 1], [1, 0]], np.float32)]),
    (Case("is empty when it leads away", 11, "Range", [], [np.int64(3), np.int64(1), np.int64(1)]), [ints()]),
    (Case("is exact in TL_INT64", 11, "Range", [], [np.int64(2**62 + 1), np.int64(2**62 + 4), np.int64(2)]),
     [ints(2**62 + 1, 2**62 + 3)]),
    (Case("goes down", 11, "Range", [], [np.float64(1), np.float64(-1), np.float64(-0.5)]), [np.array([1, .5, 0, -.5])]),
    (Case("takes TL_INT16", 11, "Range", [], [np.int16(1), np.int16(7), np.int16(3)]), [np.array([1, 4], np.int16)]),
    (Case("makes scalars", 9, "ConstantOfShape", [], [ints()]), [np.float32(0)]),
    (Case("has a value", 9, "ConstantOfShape", [], [ints(2, 1)], value=constant("v", ints(2**53 + 1))),
     [np.full((2, 1), 2**53 + 1)]),
    (Case("has a diagonal below", 9, "EyeLike", [X], k=-1, dtype=11), [np.eye(3, 4, -1)]),
    (Case("has a diagonal far outside", 9, "EyeLike", [X], k=2**40), [np.zeros((3, 4), np.float32)]),
    (Case("has its diagonal at run time", 14, "Trilu", [X, np.int64(1)], upper=0), [np.tril(X, 1)]),
    (Case("turns each round", 10, "ReverseSequence", [X, ints(2, 1, 4)], batch_axis=0, time_axis=1),
     [np.array([[1, 0, 2, 3], [4, 5, 6, 7], [11, 10, 9, 8]], np.float32)]),
    (Case("crops and pads", 18, "CenterCropPad", [X], [ints(6, 1)]), [np.pad(X[:, 1:2], [(1, 2), (0, 0)])]),
    (Case("leaves other axes", 18, "CenterCropPad", [X], [ints(7)], axes=[-1]), [np.pad(X, [(0, 0), (1, 2)])]),
    (Case("is a row for a scalar", 13, "NonZero", [FIVE]), [np.zeros((1, 1), np.int64)]),
    (Case("can find nothing", 13, "NonZero", [X * 0]), [np.zeros((2, 0), np.int64)]),
    (Case("looks at nothing", 13, "NonZero", [EMPTY]), [np.zeros((2, 0), np.int64)]),
    (Case("takes NaN for something", 13, "NonZero", [f32(0, np.nan, -0.0)]), [ints(1)[None]]),
    (Case("finds constants", 13, "NonZero", [], [X]), [np.array(np.nonzero(X))]),
    (Case("may leave the end out", 11, "Compress", [X, np.array([0, 1], bool)], axis=0), [X[1:2]]),
    (Case("makes a line", 9, "Compress", [X, np.array([0, 1, 0, 0, 0, 1], bool)]), [f32(1, 5)]),
    (Case("can leave nothing", 11, "Compress", [X, np.zeros(4, bool)], axis=-1), [X[:, :0]]),
    (Case("takes what has no elements", 11, "Unique", [EMPTY]), [f32(), ints(), ints(), ints()]),
    (Case("finds columns", 11, "Unique", [np.array([[2, 1, 2], [0, 5, 0]], np.int8)], axis=-1),
     [np.array([[1, 2], [5, 0]], np.int8), ints(1, 0), ints(1, 0, 1), ints(1, 2)]),
    (Case("keeps the order", 11, "Unique", [ints(7, 3, 7)], sorted=0), [ints(7, 3), ints(0, 1), ints(0, 1, 0), ints(2, 1)]),
    (Case("chooses none by default", 11, "NonMaxSuppression", [BOXES, SCORES]), [np.zeros((0, 3), np.int64)]),
    (Case("takes its numbers at run time", 11, "NonMaxSuppression", [BOXES, SCORES, ints(9), f32(0.5), f32(0.2)]),
     [np.array([[0, 0, 1], [0, 0, 2], [0, 1, 0]])]),
    (Case("takes constants", 10, "NonMaxSuppression", [BOXES, SCORES], [ints(1), None, np.float32(0.6)]),
     [np.array([[0, 0, 1]])]),
    (Case("can be a number", 13, "Constant", [], value_float=1.5), [np.float32(1.5)]),
    (Case("can be numbers", 13, "Constant", [], value_floats=[1.5, 2.0]), [f32(1.5, 2)]),
    (Case("can be an integer", 13, "Constant", [], value_int=2**53 + 1), [np.int64(2**53 + 1)]),
    (Case("can be integers", 13, "Constant", [], value_ints=[2**53 + 1, -1]), [ints(2**53 + 1, -1)]),
    (Case("can be sparse, elements being counted", 11, "Constant", [],
          sparse_value=sparse_tensor([2, 3], constant("v", f32(7, 8)), constant("i", ints(1, 5)))),
     [np.array([[0, 7, 0], [0, 0, 8]], np.float32)]),
    (Case("can be sparse, by coordinates", 13, "Constant", [],
          sparse_value=sparse_tensor([2, 3], constant("v", ints(7, 8)), constant("i", np.array([[0, 1], [1, 2]])))),
     [np.array([[0, 7, 0], [0, 0, 8]])]),
    (Case("can be a tensor", 1, "Constant", [], value=constant("v", X)), [X]),
]

# A case and its message.
WRONG = [
    (Case("is rejected with other numbers of elements", 14, "Reshape", [X], [ints(5)]), "expected 12 elements"),
    (Case("is rejected with two open axes", 14, "Reshape", [X], [ints(-1, -1)]), "-1 at 1 of the new shape"),
    (Case("is rejected with a negative axis", 14, "Reshape", [X], [ints(-2, 6)]), "the new shape has -2 at index 0, expected at least -1"),
    (Case("is rejected with a copied axis that is not there", 14, "Reshape", [X], [ints(3, 4, 0)]), "-2 at 2 of the new shape"),
    (Case("is rejected where nothing may be any number", 14, "Reshape", [EMPTY], [ints(0, -1)], allowzero=1),
     "the other axes, of 0 elements, to divide 0"),
    (Case("is rejected with too many dimensions", 14, "Reshape", [X], [np.ones(9, np.int64)]), "9 dimensions, expected at most 8"),
    (Case("is rejected with a shape of floats", 14, "Reshape", [X], [f32(3, 4)]), "expected TL_INT64 or TL_INT32"),
    (Case("is rejected with many axes", 13, "Squeeze", [X], [np.zeros(100, np.int64)]), "100 axes, expected at most 2"),
    (Case("is rejected with an axis of 3", 13, "Squeeze", [X], [ints(0)]), "axis 0 has length 3, expected 1"),
    (Case("is rejected with an axis twice", 13, "Unsqueeze", [X], [ints(0, -4)]), "duplicate axis 0"),
    (Case("is rejected with an axis outside", 13, "Unsqueeze", [X], [ints(3)]), "axis 3 of a tensor with 3 dimensions"),
    (Case("is rejected with an axis twice", 13, "Transpose", [X], perm=[1, 1]), "duplicate axis 1"),
    (Case("is rejected with too few axes", 13, "Transpose", [X], perm=[0]), "attribute 'perm' has 1 axes, expected 2"),
    (Case("is rejected without an axis", 13, "Concat", [X, X]), "attribute 'axis' is missing"),
    (Case("is rejected with different lengths", 13, "Concat", [X, EMPTY], axis=1), "axis 0 of 'x1' has length 0"),
    (Case("is rejected with a wrong sum", 13, "Split", [X], [ints(2)]), "has the sum 2, expected 3, the length of axis 0"),
    (Case("is rejected with unlike lists", 13, "Slice", [X], [ints(0), ints(1, 2)]), "1 starts, 2 ends"),
    (Case("is rejected with a step of 0", 13, "Slice", [X], [ints(0), ints(1), ints(0), ints(0)]), "'steps' has 0 at index 0"),
    (Case("is rejected with too few pads", 13, "Pad", [X], [ints(1, 1)]), "2 pads, expected two for each of 2 axes"),
    (Case("is rejected where nothing is left", 13, "Pad", [X], [ints(-3, 0, 1, 0)], mode="edge"), "axis 0"),
    (Case("is rejected with a mode of later", 18, "Pad", [X], [ints(1, 1, 1, 1)], mode="wrap"), "attribute 'mode' is \"wrap\""),
    (Case("is rejected where shapes do not broadcast", 13, "Expand", [X], [ints(2)]), "[3, 4] and [2]"),
    (Case("is rejected with too few repeats", 13, "Tile", [X], [ints(2)]), "1 repeats, expected one for each of 2 axes"),
    (Case("is rejected with an index outside", 13, "Gather", [X, ints(0, 3)]), "index 3 at position 1, expected -3 to 2"),
    (Case("is rejected with an index outside", 13, "ScatterND", [X, ints(-4)[None], X[:1]]), "index -4 at position 0"),
    (Case("is rejected with a reduction of later", 16, "ScatterND", [X], [ints(0)[None], X[:1]], reduction="max"),
     "attribute 'reduction' is \"max\""),
    (Case("is rejected with a range outside", 24, "TensorScatter", [X, X[:, :2], ints(0, 0, 3)], axis=1),
     "index 3 at position 2, expected 0 to 2"),
    (Case("is rejected with a negative depth", 11, "OneHot", [ints(0)], [np.int64(-1), f32(0, 1)]), "a depth of -1"),
    (Case("is rejected with a step of 0", 11, "Range", [], [np.int64(0), np.int64(1), np.int64(0)]), "'delta' is 0"),
    (Case("is rejected when it is endless", 11, "Range", [], [f32(0)[0], f32(np.inf)[0], f32(1)[0]]), "at most 2147483647 elements"),
    (Case("is rejected without a number", 13, "Constant", []), "no attribute with a value"),
    (Case("is rejected with an element outside", 11, "Constant", [],
          sparse_value=sparse_tensor([3], constant("v", f32(7)), constant("i", ints(3)))), "index 3 at position 0"),
    (Case("is rejected with a dimension outside", 11, "Constant", [],
          sparse_value=sparse_tensor([2**40], constant("v", f32(7)), constant("i", ints(3)))), "a dimension of 1099511627776"),
    (Case("is rejected with more indices than values", 11, "Constant", [],
          sparse_value=sparse_tensor([9], constant("v", f32(7)), constant("i", ints(3, 4)))), "expected the shape of"),
    (Case("is rejected with a negative length", 18, "CenterCropPad", [X], [ints(-1, 2)]), "a length of -1"),
]


def of_every_type():
    """The same few cases in each type."""
    for kind in NUMPY.values():
        x = X.astype(kind)
        name = np.dtype(kind).name
        yield Case(f"takes {name}", 13, "Gather", [x], [ints(2, 0)]), [x[[2, 0]]]
        yield Case(f"takes {name}", 13, "Slice", [x], [ints(0), ints(4), ints(1), ints(3)]), [x[:, ::3]]
        yield Case(f"takes {name}", 13, "Concat", [x, x], axis=1), [np.concatenate([x, x], 1)]
        yield Case(f"takes {name}", 13, "Expand", [x[:1]], [ints(2, 4)]), [np.concatenate([x[:1], x[:1]])]
        yield Case(f"takes {name}", 19, "Pad", [x], [ints(1, 1, 1, 1)], mode="wrap"), [np.pad(x, 1, "wrap")]
        yield Case(f"takes {name}", 14, "Trilu", [x]), [np.triu(x)]
        yield Case(f"takes {name}", 18, "ScatterElements", [x[1:2]], [np.array([[3, 1]], np.int64), x[2:, :2]], axis=1), \
            [np.array([[x[1, 0], x[2, 1], x[1, 2], x[2, 0]]], kind)]


# Operators after NonZero: of its result, [2, N] (and its transpose, [N, 2]) "y" after these nodes.
BEHIND = [
    ("Transpose", [node("Transpose", ["n"], ["y"])], lambda n: n.T),
    ("Shape", [node("Shape", ["n"], ["y"])], lambda n: ints(*n.shape)),
    ("Shape of its end", [node("Shape", ["n"], ["y"], start=-1)], lambda n: ints(n.shape[1])),
    ("Size", [node("Size", ["n"], ["y"])], lambda n: np.int64(n.size)),
    ("Flatten", [node("Flatten", ["n"], ["y"], axis=0)], lambda n: n.reshape(1, -1)),
    ("Flatten of its parts", [node("Unsqueeze", ["n", "zero"], ["u"]), node("Flatten", ["u"], ["y"], axis=2)],
     lambda n: n),
    ("Reshape to a line", [node("Reshape", ["n", "open"], ["y"])], lambda n: n.ravel()),
    ("Reshape with copies", [node("Transpose", ["n"], ["t"]), node("Reshape", ["t", "split"], ["y"])],
     lambda n: n.T.reshape(n.shape[1], 1, 2)),
    ("Unsqueeze and Squeeze", [node("Unsqueeze", ["n", "zero"], ["u"]), node("Squeeze", ["u", "zero"], ["y"])], lambda n: n),
    ("Concat", [node("Concat", ["n", "n"], ["y"], axis=1)], lambda n: np.concatenate([n, n], 1)),
    ("Slice", [node("Slice", ["n", "one", "far", "one"], ["y"])], lambda n: n[:, 1:]),
    ("Slice backward", [node("Slice", ["n", "last", "before", "one", "last"], ["y"])], lambda n: n[:, ::-1]),
    ("Split", [node("Split", ["n", "ones"], ["y", "z"], axis=0)], lambda n: n[:1]),
    ("Pad", [node("Pad", ["n", "pads"], ["y"])], lambda n: np.pad(n, [(0, 0), (1, 2)])),
    ("Tile", [node("Tile", ["n", "ones"], ["y"])], lambda n: n),
    ("Gather", [node("Gather", ["n", "zero"], ["y"])], lambda n: n[:1]),
    ("Expand", [node("Expand", ["n", "shape"], ["y"])], lambda n: np.broadcast_to(n, (3, *n.shape))),
    ("GatherND", [node("Transpose", ["n"], ["t"]), node("GatherND", ["x", "t"], ["y"])], lambda n: X[tuple(n)]),
    ("OneHot", [node("OneHot", ["n", "far1", "values"], ["y"], axis=0)],
     lambda n: (np.arange(4)[:, None, None] == n).astype(np.float32)),
    ("Unique", [node("Unique", ["n"], ["y"])], np.unique),
    ("Reshape to a computed shape",
     [node("Transpose", ["n"], ["t"]), node("Shape", ["n"], ["s"]), node("Gather", ["s", "one"], ["l"]),
      node("Concat", ["l", "one", "open"], ["to"], axis=0), node("Reshape", ["t", "to"], ["y"])],
     lambda n: n.T.reshape(n.shape[1], 1, 2)),
    ("Reshape to a computed length",
     [node("Shape", ["n"], ["s"]), node("Size", ["n"], ["z"]), node("Unsqueeze", ["z", "zero"], ["to"]),
      node("Reshape", ["n", "to"], ["y"], allowzero=1)], lambda n: n.ravel()),
    ("ConstantOfShape", [node("Shape", ["n"], ["s"]), node("ConstantOfShape", ["s"], ["y"])],
     lambda n: np.zeros(n.shape, np.float32)),
    ("Expand to a computed shape", [node("Shape", ["n"], ["s"]), node("Expand", ["one", "s"], ["y"])], np.ones_like),
    ("Range", [node("Shape", ["n"], ["s"]), node("Gather", ["s", "scalar1"], ["l"]),
               node("Range", ["scalar0", "l", "scalar1"], ["y"])], lambda n: np.arange(n.shape[1])),
    ("Range, backward", [node("Shape", ["n"], ["s"]), node("Gather", ["s", "scalar1"], ["l"]),
                         node("Range", ["l", "scalar0", "scalar_1"], ["y"])], lambda n: np.arange(n.shape[1], 0, -1)),
    ("Slice up to a computed end", [node("Shape", ["n"], ["e"], start=1), node("Slice", ["ten", "zero", "e"], ["y"])],
     lambda n: np.arange(10)[:n.shape[1]]),
    ("Slice from a known start up to a computed end",
     [node("Shape", ["n"], ["e"], start=1), node("Slice", ["ten", "two", "e"], ["y"])], lambda n: np.arange(10)[2:n.shape[1]]),
    ("Slice backward down to a computed end",
     [node("Shape", ["n"], ["e"], start=1), node("Slice", ["ten", "last", "e", "zero", "last"], ["y"])],
     lambda n: np.arange(10)[:n.shape[1]:-1]),
    ("Slice of itself from a computed start, without the last",
     [node("Shape", ["n"], ["b"], end=1), node("Slice", ["n", "b", "last", "one"], ["y"])], lambda n: n[:, 2:-1]),
    ("Split into computed lengths",
     [node("Shape", ["n"], ["s"], start=1), node("Div", ["s", "two"], ["half"]), node("Sub", ["s", "half"], ["rest"]),
      node("Concat", ["half", "rest"], ["lens"], axis=0), node("Split", ["n", "lens"], ["z", "y"], axis=1)],
     lambda n: n[:, n.shape[1] // 2:]),
    ("Slice from data on", [node("Size", ["n"], ["z"]), node("Unique", ["n"], ["u"]),
                            node("Concat", ["u", "nine"], ["c"], axis=0), node("Slice", ["c", "zero", "one"], ["from"]),
                            node("Slice", ["ten", "from", "far", "zero", "two"], ["y"])],
     lambda n: np.arange(10)[np.append(np.unique(n), 9)[0]::2]),
]
CONSTANTS = {"zero": ints(0), "one": ints(1), "ones": ints(1, 1), "open": ints(-1), "split": ints(0, 1, -1), "far": ints(2**62),
             "last": ints(-1), "before": ints(-2**62), "pads": ints(0, 1, 0, 2), "shape": ints(3, 1, 1), "far1": ints(4),
             "values": f32(0, 1), "scalar0": np.int64(0), "scalar1": np.int64(1), "scalar_1": np.int64(-1),
             "ten": np.arange(10), "nine": ints(9), "two": ints(2),
             "twelve": ints(12)}


def behind(nodes, opset=17):
    return model(graph([node("NonZero", ["x"], ["n"]), *nodes], [value("x", "float", X.shape)], [value("y", "int64")],
                       [constant(name, array) for name, array in CONSTANTS.items()]), opset=opset)


def parts_behind(x):
    """Each of BEHIND, with its constants."""
    for sentence, nodes, expected in BEHIND:
        used = {name for each in nodes for name in each.inputs}
        yield Part(sentence, 17, [node("NonZero", ["x"], ["n"]), *nodes], {"x": x},
                   {"y": np.asarray(expected(np.array(np.nonzero(x))))},
                   {name: elements(array) for name, array in CONSTANTS.items() if name in used})


LENGTH = [node("Shape", ["x"], ["l"], end=1)]


def center(x, rows):
    """As many rows, the middle ones, zeros around."""
    start = abs(rows - len(x)) // 2
    if rows < len(x):
        return x[start:start + rows]
    return np.pad(x, ((start, rows - len(x) - start), (0, 0)))


# What x [L, 3] becomes by pads that are computed from L.
PADS = [
    ("twice as long", [node("Concat", ["none", "l", "zero"], ["p"], axis=0), node("Pad", ["x", "p"], ["y"])],
     lambda x: np.pad(x, ((0, len(x)), (0, 0)))),
    ("to a multiple of 4", [node("Neg", ["l"], ["m"]), node("Mod", ["m", "four"], ["r"]),
                            node("Concat", ["r", "zero", "none"], ["p"], axis=0), node("Pad", ["x", "p"], ["y"])],
     lambda x: np.pad(x, ((-len(x) % 4, 0), (0, 0)))),
    ("to a multiple of 4, as Swin does", [node("Mod", ["l", "four"], ["m"]), node("Sub", ["four", "m"], ["o"]),
                                          node("Mod", ["o", "four"], ["r"]), node("Concat", ["none", "r", "zero"], ["p"], axis=0),
                                          node("Pad", ["x", "p"], ["y"])], lambda x: np.pad(x, ((0, -len(x) % 4), (0, 0)))),
    ("to a row more than twice", [node("Mul", ["l", "two"], ["d"]), node("Add", ["d", "one"], ["w"]),
                                  node("CenterCropPad", ["x", "w"], ["y"], axes=[0])], lambda x: center(x, 2 * len(x) + 1)),
    ("to half", [node("Div", ["l", "two"], ["w"]), node("CenterCropPad", ["x", "w"], ["y"], axes=[0])],
     lambda x: center(x, len(x) // 2)),
    ("to 4", [node("CenterCropPad", ["x", "four"], ["y"], axes=[0])], lambda x: center(x, 4)),
]
PAD_NUMBERS = {"none": [0, 0], "zero": [0], "one": [1], "two": [2], "four": [4]}


def padded(nodes, formula):
    for rows in (1, 2, 5, 8):
        x = np.arange(1, 3 * rows + 1, dtype=np.float32).reshape(rows, 3)
        yield Part("", 18, LENGTH + nodes, {"x": x}, {"y": formula(x)},
                   {name: ("int64", [len(numbers)], numbers) for name, numbers in PAD_NUMBERS.items()})


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    check_cases(tap, lightnet, [*RIGHT, *of_every_type()], WRONG)
    faults = [faults_of_parts(lightnet, list(parts_behind(x))) for x in (X, X * (X > 6), X * 0)]
    for (sentence, *_), *found in zip(BEHIND, *faults):
        tap.check(f"{sentence} behind NonZero", sum(found, []))
    for sentence, nodes, formula in PADS:
        tap.check(f"rows that are known only at run time are padded {sentence}",
                  ranged_faults_of(lightnet, list(padded(nodes, formula)), {"x": "1..8x3"}, 0))
    tap.end()


if __name__ == "__main__":
    main()
