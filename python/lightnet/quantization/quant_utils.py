# SPDX-License-Identifier: Apache-2.0
"""Types of quantized numbers, and steps: the scale and zero point of a range of values.

A quantized number q stands for (q - zero point) * scale, as in ONNX's QuantizeLinear.
"""
from __future__ import annotations

import enum
from typing import Any, NamedTuple, Optional, Tuple

from .._arrays import numpy
from .._errors import InvalidArgument, NotImplemented
from ._graph import Model, read

SMALLEST_SCALE = 2.0 ** -126  # below it, a range counts as a single value


class QuantFormat(enum.Enum):
    """The form of a quantized model: QDQ has QuantizeLinear and DequantizeLinear around operators of floats."""

    QOperator = 0
    QDQ = 1

    def __str__(self) -> str:
        return self.name


class QuantizationMode(enum.Enum):
    """The forms of dynamic and of QOperator models."""

    IntegerOps = 0
    QLinearOps = 1

    def __str__(self) -> str:
        return self.name


class QuantType(enum.Enum):
    """The type of quantized numbers."""

    QInt8 = 0
    QUInt8 = 1
    QFLOAT8E4M3FN = 2
    QInt16 = 3
    QUInt16 = 4
    QInt4 = 5
    QUInt4 = 6

    def __str__(self) -> str:
        return self.name

    @staticmethod
    def from_string(name: str) -> QuantType:
        try:
            return QuantType[name]
        except KeyError:
            raise ValueError(f"'{name}' is no QuantType, expected one of {[kind.name for kind in QuantType]}") from None


_DTYPES = {QuantType.QInt8: "int8", QuantType.QUInt8: "uint8", QuantType.QInt16: "int16", QuantType.QUInt16: "uint16"}
HALVED = 2  # reduce_range: the divisor of the range of 8 bits


def dtype_of(kind: QuantType) -> Any:
    """The type of NumPy. NotImplemented: of 4 bits, or a float."""
    if kind not in _DTYPES:
        raise NotImplemented(f"the type is {kind!r}, expected one of {[str(known) for known in _DTYPES]} of QuantType")
    return numpy().dtype(_DTYPES[kind])


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


def step_of(low: Any, high: Any, kind: QuantType, is_symmetric: bool = False, is_reduced: bool = False,
            smallest_range: Optional[float] = None) -> Step:
    """The step whose numbers cover [low, high] and 0, numbers or an array for each channel."""
    np = numpy()
    low, high = np.minimum(np.asarray(low, "f8"), 0), np.maximum(np.asarray(high, "f8"), 0)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise InvalidArgument(f"the range [{low.min()}, {high.max()}] is not finite")
    least, most = limits(kind, is_reduced, is_symmetric)
    if smallest_range is not None:
        high = np.maximum(high, low + smallest_range)
    if is_symmetric:
        high = np.maximum(np.abs(low), high)
        low = -high
    with np.errstate(all="ignore"):
        scale = ((high - low) / (most - least)).astype("f4")
        is_point = scale < SMALLEST_SCALE
        scale = np.where(is_point, np.float32(1), scale)
        middle = (least + most + 1) // 2 if is_symmetric else least - low / scale
    zero = np.where(is_point & ~np.asarray(is_symmetric), np.clip(0, least, most), np.clip(np.rint(middle), least, most))
    return Step(scale, zero.astype(dtype_of(kind)))


def compute_scale_zp(rmin: Any, rmax: Any, qmin: int, qmax: int, symmetric: bool = False,
                     min_real_range: Optional[float] = None) -> Tuple[Any, Any]:
    """(zero point, scale) of numbers qmin .. qmax that cover [rmin, rmax] and 0."""
    kind = next((k for k in _DTYPES if numpy().iinfo(dtype_of(k)).min <= qmin and qmax <= numpy().iinfo(dtype_of(k)).max), None)
    if kind is None or qmin >= qmax:
        raise InvalidArgument(f"qmin is {qmin} and qmax {qmax}, expected a range of integers of 8 or 16 bits")
    np = numpy()
    low, high = min(float(np.asarray(rmin)), 0.0), max(float(np.asarray(rmax)), 0.0)
    if min_real_range is not None:
        high = max(high, low + min_real_range)
    if symmetric:
        high = max(-low, high)
        low = -high
    scale = (high - low) / (qmax - qmin)
    if scale < SMALLEST_SCALE:
        return np.array(0, dtype_of(kind)), np.array(1, "f4")
    return np.array(round(qmin - low / scale), dtype_of(kind)), np.array(scale, "f4")


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
