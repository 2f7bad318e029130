# SPDX-License-Identifier: Apache-2.0
"""Weights of 2, 4 and 8 bits for the operator MatMulNBits, by the names and arguments of onnxruntime.

Each column of a matrix [K, N] is cut in blocks of block_size elements. A block has one scale s and zero point z, and its
elements are q = round(w / s + z), of `bits` bits, the first in the lowest bits of a byte:

    symmetric:  z = 2 ** (bits - 1), s = w_max / -z, where w_max is the element of the largest absolute value, with its sign
    asymmetric: s = (max(w, 0) - min(w, 0)) / (2 ** bits - 1), z = round(-min(w, 0) / s)
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Tuple

from ._arrays import numpy
from ._errors import InvalidArgument

if TYPE_CHECKING:
    import numpy as np


def _blocks(src: Any, block_size: int, n: int, k: int) -> np.ndarray:
    """The matrix as [N, number of blocks, block_size], float32; zeros follow its end."""
    np = numpy()
    matrix = np.asarray(src)
    if matrix.shape != (k, n):
        raise InvalidArgument(f"the matrix is {list(matrix.shape)}, expected [{k}, {n}]")
    n_blocks = -(-k // block_size)
    padded = np.zeros((n, n_blocks * block_size), np.float32)
    padded[:, :k] = matrix.T
    return padded.reshape(n, n_blocks, block_size)


def _rounded(values: np.ndarray) -> np.ndarray:
    """Halves away from zero, of numbers that are not negative."""
    return numpy().floor(values.astype("float64") + 0.5)


def _parameters(blocks: np.ndarray, bits: int, is_symmetric: bool) -> Any:
    """(scales, zero points) of the blocks."""
    np = numpy()
    low, high = blocks.min(2), blocks.max(2)
    if is_symmetric:
        middle = 1 << (bits - 1)
        return np.where(np.abs(high) > np.abs(low), high, low) / np.float32(-middle), np.full(low.shape, middle, np.uint8)
    low, high = np.minimum(low, 0), np.maximum(high, 0)
    most = (1 << bits) - 1
    scales = (high - low) / np.float32(most)
    with np.errstate(divide="ignore", invalid="ignore"):
        zeros = np.where(scales != 0, -low / scales, 0)
    return scales, np.clip(_rounded(zeros), 0, most).astype(np.uint8)


def _packed(elements: np.ndarray, bits: int) -> np.ndarray:
    """Elements of the last axis side by side in bytes."""
    np = numpy()
    per_byte = 8 // bits
    rows = np.zeros((*elements.shape[:-1], -(-elements.shape[-1] // per_byte) * per_byte), np.uint8)
    rows[..., :elements.shape[-1]] = elements
    parts = rows.reshape(*rows.shape[:-1], -1, per_byte) << (np.arange(per_byte) * bits).astype(np.uint8)
    return np.bitwise_or.reduce(parts, axis=-1)


def _fill(target: Any, values: np.ndarray, what: str, is_optional: bool = False) -> None:
    """Copies values to the caller's array; an optional one may be None or empty. InvalidArgument: it has another type or size."""
    if is_optional and (target is None or target.size == 0):
        return
    if getattr(target, "dtype", None) != values.dtype or target.size != values.size:
        found = "missing" if target is None else f"an array of {target.size} elements of {target.dtype}"
        raise InvalidArgument(f"{what} are {found}, expected {values.size} elements of {values.dtype}")
    target[...] = values.reshape(target.shape)


def check_block_size(block_size: int) -> None:
    """InvalidArgument: MatMulNBits has no such blocks."""
    if block_size < 16 or block_size & (block_size - 1):
        raise InvalidArgument(f"block_size is {block_size}, expected a power of two, 16 or more")


def in_blocks(src: Any, bits: int, block_size: int, n: int, k: int, is_symmetric: bool, dtype: Any) -> Tuple[Any, Any, Any]:
    """Of the matrix src [k, n]: packed elements [n, blocks, block_size * bits / 8], scales [n, blocks] of a type, and packed zero
    points of each column."""
    np = numpy()
    check_block_size(block_size)
    blocks = _blocks(src, block_size, n, k)
    scales, zeros = _parameters(blocks, bits, is_symmetric)
    scales = scales.astype(dtype)
    stored = scales.astype(np.float32)
    with np.errstate(divide="ignore"):
        factors = np.where(stored != 0, np.float32(1) / stored, np.float32(0))
    elements = np.clip(blocks * factors[:, :, None] + zeros[:, :, None], 0, (1 << bits) - 1)
    return _packed(_rounded(elements).astype(np.uint8), bits), scales, _packed(zeros, bits)


def _quantize(bits: int, dst: Any, src: Any, scale: Any, zero_points: Any, block_size: int, n: int, k: int, is_symmetric: bool) -> None:
    if scale.dtype.kind in "iub":
        raise InvalidArgument(f"scales are of type {scale.dtype}, expected floats")
    packed, scales, zeros = in_blocks(src, bits, block_size, n, k, is_symmetric, scale.dtype)
    _fill(dst, packed, "packed weights")
    _fill(scale, scales, "scales")
    _fill(zero_points, zeros, "zero points", is_symmetric)


def quantize_matmul_4bits(dst: np.ndarray, src: np.ndarray, scale: np.ndarray, zero_points: np.ndarray, block_size: int, N: int,
                          K: int, is_symmetric: bool) -> None:
    """Fills dst [N, K / block_size, block_size / 2] of uint8, scale [N * K / block_size] and zero_points (packed alike, of each
    column) from the matrix src [K, N]."""
    _quantize(4, dst, src, scale, zero_points, block_size, N, K, is_symmetric)


def quantize_matmul_2bits(dst: np.ndarray, src: np.ndarray, scale: np.ndarray, zero_points: np.ndarray, block_size: int, N: int,
                          K: int, is_symmetric: bool) -> None:
    """As quantize_matmul_4bits, of 2 bits."""
    _quantize(2, dst, src, scale, zero_points, block_size, N, K, is_symmetric)


def quantize_matmul_8bits(dst: np.ndarray, src: np.ndarray, scale: np.ndarray, zero_points: np.ndarray, block_size: int, N: int,
                          K: int, is_symmetric: bool) -> None:
    """As quantize_matmul_4bits, of 8 bits."""
    _quantize(8, dst, src, scale, zero_points, block_size, N, K, is_symmetric)
