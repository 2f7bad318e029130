# SPDX-License-Identifier: Apache-2.0
"""Element types in numpy: conversion, rounding, edge values and tolerances, written from the operator catalogue.

A tensor is a numpy array plus the name of its dtype. numpy has no bfloat16: such arrays are float32 with values that
bfloat16 has, and become uint16 in files.
"""
import numpy as np

NUMPY = {
    "TL_DOUBLE": np.float64, "TL_FLOAT": np.float32, "TL_FLOAT16": np.float16, "TL_BFLOAT16": np.float32,
    "TL_INT64": np.int64, "TL_INT32": np.int32, "TL_INT16": np.int16, "TL_INT8": np.int8,
    "TL_UINT64": np.uint64, "TL_UINT32": np.uint32, "TL_UINT16": np.uint16, "TL_UINT8": np.uint8,
    "TL_BOOL": np.bool_,
}
ALL = tuple(NUMPY)
FLT = ALL[:4]
INT = ALL[4:12]
NUM = ALL[:12]

# Bits of the significand in the type, and in the type that computes it ("16-bit floats compute in float").
SIGNIFICAND = {"TL_DOUBLE": 53, "TL_FLOAT": 24, "TL_FLOAT16": 11, "TL_BFLOAT16": 8}
WORKING = {"TL_DOUBLE": 53, "TL_FLOAT": 24, "TL_FLOAT16": 24, "TL_BFLOAT16": 24}
SMALLEST = {"TL_DOUBLE": 2.0**-1074, "TL_FLOAT": 2.0**-149, "TL_FLOAT16": 2.0**-24, "TL_BFLOAT16": 2.0**-133}
LARGEST = {"TL_DOUBLE": np.finfo(np.float64).max, "TL_FLOAT": float(np.finfo(np.float32).max),
           "TL_FLOAT16": 65504.0, "TL_BFLOAT16": (2 - 2.0**-7) * 2.0**127}


def limits(dtype):
    """The least and the greatest value, as Python numbers."""
    if dtype == "TL_BOOL":
        return 0, 1
    if dtype in FLT:
        return -LARGEST[dtype], LARGEST[dtype]
    info = np.iinfo(NUMPY[dtype])
    return int(info.min), int(info.max)


def bfloat16_bits(values):
    """The upper halves of float32 values, rounded to nearest, ties to even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)).astype(np.uint16)
    quiet = ((bits >> np.uint64(16)) | np.uint64(0x40)).astype(np.uint16)
    return np.where(np.isnan(values), quiet, rounded)


def bfloat16_values(bits):
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def rounded(dtype, values):
    """Values of a wider floating-point type as an array of `dtype`."""
    with np.errstate(over="ignore"):
        array = np.asarray(values).astype(NUMPY[dtype])
    return bfloat16_values(bfloat16_bits(array)).reshape(array.shape) if dtype == "TL_BFLOAT16" else array


def bits_of(dtype, array):
    """The bit patterns, for comparisons that distinguish -0 from 0."""
    if dtype == "TL_BFLOAT16":
        return bfloat16_bits(array).reshape(array.shape)
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(array.shape)


def as_numbers(array):
    """Python numbers, of which the whole ones have no limits."""
    return [bool(v) if isinstance(v, np.bool_) else v.item() if hasattr(v, "item") else v for v in array.ravel()]


def convert_one(dtype, value):
    """Section 5.3 for one Python number; the value it gives is one of `dtype`."""
    low, high = limits(dtype)
    if dtype == "TL_BOOL":
        return not (value != value) and value != 0
    if dtype in INT:
        if value != value:
            return 0
        return low if value <= low else high if value >= high else int(value)
    if dtype == "TL_FLOAT" and value == value:
        return min(max(value, low), high)
    return value


def convert(dtype, array):
    """Section 5.3 for an array; its conversion to 16-bit floats rounds once."""
    values = [convert_one(dtype, v) for v in as_numbers(array)]
    if dtype in FLT:
        return rounded(dtype, np.array(values, np.float64)).reshape(array.shape)
    return np.array(values, NUMPY[dtype]).reshape(array.shape)


def edges(dtype):
    """Values at which computing goes wrong first."""
    if dtype == "TL_BOOL":
        return [False, True]
    low, high = limits(dtype)
    if dtype in FLT:
        return [float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1.0, -1.0, low, high, SMALLEST[dtype],
                -SMALLEST[dtype]]
    return sorted({low, low + 1, 0, 1, high // 2, high - 1, high} | ({-1} if low else set()))


def random_values(rng, dtype, shape, scale=1.0, edged=False):
    """Random elements: floats around 0, integers of the whole range; `edged`: edge values among them."""
    n = int(np.prod(shape))
    if dtype == "TL_BOOL":
        return rng.random(shape) < 0.5
    if dtype in FLT:
        array = rounded(dtype, rng.normal(0, scale, n))
    else:
        low, high = limits(dtype)
        array = rng.integers(low, high, n, NUMPY[dtype], endpoint=True)
        array = np.where(rng.random(n) < 0.5, array, array % NUMPY[dtype](11)).astype(NUMPY[dtype])
    if edged:
        special = np.array(edges(dtype), NUMPY[dtype])
        array = np.where(rng.random(n) < 0.4, rng.choice(special, n), array).astype(NUMPY[dtype])
    return array.reshape(shape)


def tolerance(dtype, magnitude, steps=1):
    """How far a result may be from the true value.

    Each of `steps` roundings, and four more for a different order or a function of the C library, is wrong by at most
    half a unit in the last place of the sum so far, which `magnitude`, the sum of all terms' absolute
    values, bounds; then both sides round to `dtype`, where the smallest number is the least possible error.
    """
    magnitude = np.nan_to_num(np.asarray(magnitude, np.float64), nan=0, posinf=0, neginf=0)
    return magnitude * ((steps + 4) * 2.0**-WORKING[dtype] + 2 * 2.0**-SIGNIFICAND[dtype]) + 2 * SMALLEST[dtype]
