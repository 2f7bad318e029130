# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models and their inputs, which rows of corners.py are made of."""
import math

import numpy as np
from onnx import TensorProto, helper, numpy_helper

TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.float64): TensorProto.DOUBLE,
         np.dtype(np.int64): TensorProto.INT64, np.dtype(np.int32): TensorProto.INT32, np.dtype(np.int8): TensorProto.INT8,
         np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.bool_): TensorProto.BOOL}

rng = np.random.default_rng(7)


def type_of(dtype):
    return TYPES[np.dtype(dtype)]


def value(name, array):
    return helper.make_tensor_value_info(name, TYPES[array.dtype], array.shape)


def outputs_of(names, dtype=TensorProto.FLOAT):
    return [helper.make_tensor_value_info(name, dtype, None) for name in names]


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def model(nodes, inputs, outputs, constants):
    """A model of these nodes, and its inputs in order."""
    graph = helper.make_graph(nodes, "corner", [value(name, array) for name, array in inputs.items()], outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), list(inputs.values())


def single(op, *inputs, constants=(), to=None, **attributes):
    """One operator of these inputs, then constants (None: an omitted one); `to`: types of the outputs, that of an input."""
    names = [f"x{k}" for k in range(len(inputs))]
    fixed = {f"c{k}": array for k, array in enumerate(constants)}
    types = [inputs[0].dtype] if to is None else to
    results = [f"y{k}" for k in range(len(types))]
    node = helper.make_node(op, names + [name if array is not None else "" for name, array in fixed.items()], results, **attributes)
    return model([node], dict(zip(names, inputs)), [outputs_of([name], type_of(t))[0] for name, t in zip(results, types)],
                 [constant(name, array) for name, array in fixed.items() if array is not None])


def normal(*shape):
    return rng.standard_normal(shape, dtype=np.float32)


def weights(*shape):
    """Such that sums keep the magnitude of their terms."""
    return normal(*shape) / np.float32(math.sqrt(np.prod(shape[1:])))


def ints(*numbers):
    return np.array(numbers, np.int64)


def random(dtype, *shape):
    """Normal floats; integers of 0 to 99; bools."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return normal(*shape).astype(kind)
    return rng.integers(0, 2 if kind == np.bool_ else 100, shape).astype(kind)


def indices(most, *shape):
    return rng.integers(0, most, shape)
