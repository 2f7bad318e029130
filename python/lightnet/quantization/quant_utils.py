# SPDX-License-Identifier: Apache-2.0
"""Types of quantized numbers, and steps: the scale and zero point of a range of values.

A quantized number q stands for (q - zero point) * scale, as in ONNX's QuantizeLinear.
"""
from __future__ import annotations

import enum
from typing import Any, NamedTuple, Optional, Tuple

from .._arrays import BITS, ELEMENT_TYPES, numpy
from .._errors import InvalidArgument, NotImplemented
from ._graph import Model, read

SMALLEST_SCALE = 2.0 ** -126  # below it, a range counts as a single value


class _Named(enum.Enum):
    """Members that print as their names."""

    def __str__(self) -> str:
        return self.name

    @classmethod
    def from_string(cls, name: str) -> Any:
        """The member of that name. ValueError: there is none."""
        if name not in cls.__members__:
            raise ValueError(f"'{name}' is no {cls.__name__}, expected one of {list(cls.__members__)}")
        return cls[name]


class QuantFormat(_Named):
    """The form of a quantized model: QDQ has QuantizeLinear and DequantizeLinear around operators of floats."""

    QOperator = 0
    QDQ = 1


class QuantizationMode(_Named):
    """The forms of dynamic and of QOperator models."""

    IntegerOps = 0
    QLinearOps = 1


class QuantType(_Named):
    """The type of quantized numbers."""

    QInt8 = 0
    QUInt8 = 1
    QFLOAT8E4M3FN = 2
    QInt16 = 3
    QUInt16 = 4
    QInt4 = 5
    QUInt4 = 6

    @property
    def tensor_type(self) -> int:
        """The number of onnx.TensorProto.DataType."""
        return ELEMENT_TYPES[_ELEMENTS[self]]


_ELEMENTS = {QuantType.QInt8: "int8", QuantType.QUInt8: "uint8", QuantType.QFLOAT8E4M3FN: "float8_e4m3fn", QuantType.QInt16: "int16",
             QuantType.QUInt16: "uint16", QuantType.QInt4: "int4", QuantType.QUInt4: "uint4"}
SUPPORTED = tuple(kind for kind, name in _ELEMENTS.items() if name not in BITS)  # those that NumPy has
HALVED = 2  # reduce_range: the divisor of the range of 8 bits


def dtype_of(kind: QuantType) -> Any:
    """The type of NumPy. NotImplemented: of 4 bits, or a float."""
    if kind not in SUPPORTED:
        raise NotImplemented(f"the type is {kind!r}, expected one of {[str(known) for known in SUPPORTED]} of QuantType")
    return numpy().dtype(_ELEMENTS[kind])


def is_signed(kind: QuantType) -> bool:
    return dtype_of(kind).kind == "i"


def limits(kind: QuantType, is_reduced: bool = False, is_symmetric: bool = False) -> Tuple[int, int]:
    """The smallest and the largest quantized number. Reduced: with one bit less. Symmetric: as many below zero as above."""
    info = numpy().iinfo(dtype_of(kind))
    low, high = int(info.min), int(info.max)
    if is_reduced:
        low, high = int(low / HALVED), high // HALVED
    return (-high if is_symmetric and low < 0 else low), high


class Step(NamedTuple):
    """Scales (float32), and zero points of the type of the quantized numbers: single ones, or one for each channel."""

    scale: Any
    zero: Any


def _scale_and_zero(low: Any, high: Any, least: int, most: int, is_symmetric: bool, smallest_range: Optional[float]) -> Tuple[Any, Any]:
    """Scales, and zero points as floats, with which least .. most cover [low, high] and 0. InvalidArgument: a range is not finite."""
    np = numpy()
    low, high = np.minimum(np.asarray(low, "f8"), 0), np.maximum(np.asarray(high, "f8"), 0)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise InvalidArgument(f"the range [{low.min()}, {high.max()}] is not finite")
    if smallest_range is not None:
        high = np.maximum(high, low + smallest_range)
    if is_symmetric:
        high = np.maximum(-low, high)
        low = -high
    with np.errstate(all="ignore"):
        scale = (high - low) / (most - least)
        is_point = scale < SMALLEST_SCALE
        zero = (least + most + 1) // 2 if is_symmetric else np.rint(least - low / scale)
    return np.where(is_point, 1, scale).astype("f4"), np.clip(np.where(is_point, 0, zero), least, most)


def step_of(low: Any, high: Any, kind: QuantType, is_symmetric: bool = False, is_reduced: bool = False,
            smallest_range: Optional[float] = None) -> Step:
    """The step whose numbers cover [low, high] and 0, numbers or an array for each channel."""
    scale, zero = _scale_and_zero(low, high, *limits(kind, is_reduced, is_symmetric), is_symmetric, smallest_range)
    return Step(scale, zero.astype(dtype_of(kind)))


def compute_scale_zp(rmin: Any, rmax: Any, qmin: Any, qmax: Any, symmetric: bool = False,
                     min_real_range: Optional[float] = None) -> Tuple[Any, Any]:
    """(zero point, scale) of numbers qmin .. qmax that cover [rmin, rmax] and 0. The zero point has the type of qmin, or, if that is
    an int, the smallest that has both. InvalidArgument: qmin and qmax are no range of 8 or 16 bits with 0."""
    dtypes = [dtype_of(kind) for kind in SUPPORTED]
    given = getattr(qmin, "dtype", None)
    least, most = int(qmin), int(qmax)
    fits = [dtype for dtype in dtypes if numpy().iinfo(dtype).min <= least and most <= numpy().iinfo(dtype).max]
    if not fits or not least <= 0 <= most or least == most:
        raise InvalidArgument(f"qmin is {qmin} and qmax {qmax}, expected a range of integers of 8 or 16 bits with 0")
    scale, zero = _scale_and_zero(rmin, rmax, least, most, symmetric, min_real_range)
    return zero.astype(given if given in dtypes else fits[0]), scale


def quantized(array: Any, step: Step, axis: Optional[int] = None, kind_limits: Optional[Tuple[int, int]] = None) -> Any:
    """The numbers of the array: rounded to the nearest, ties to even, and clipped."""
    np = numpy()
    scale, zero = step
    if axis is not None:
        shape = [1] * array.ndim
        shape[axis] = -1
        scale, zero = scale.reshape(shape), zero.reshape(shape)
    info = np.iinfo(zero.dtype)
    least, most = kind_limits or (info.min, info.max)
    rounded = np.rint(np.asarray(array, "f4") / scale) + zero.astype("f4")
    return np.clip(rounded, least, most).astype(zero.dtype)


def weight_step(array: Any, kind: QuantType, axis: Optional[int], is_symmetric: bool, is_reduced: bool,
                low: Optional[float] = None, high: Optional[float] = None) -> Step:
    """The step of a constant, or those of its channels along an axis. low, high: bounds in place of its extremes."""
    np = numpy()
    others = None if axis is None else tuple(i for i in range(array.ndim) if i != axis)
    if array.size == 0:
        least = most = np.zeros([] if axis is None else [array.shape[axis]])
    else:
        least, most = array.min(axis=others), array.max(axis=others)
    return step_of(least if low is None else np.full_like(least, low), most if high is None else np.full_like(most, high), kind,
                   is_symmetric, is_reduced)


def load_model_with_shape_infer(model_path: Any) -> Model:
    """The model, for a quantizer: quantizers need no shapes."""
    return read(model_path)
