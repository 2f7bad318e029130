# SPDX-License-Identifier: Apache-2.0
"""Sparse tensors, by the names of onnxruntime: values, and where they are. Models have dense inputs only."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, Sequence, Tuple

from ._arrays import OrtValue, TENSOR_TYPES, as_array, numpy
from ._device import OrtDevice, OrtSparseFormat, check_device
from ._errors import InvalidArgument, NotImplemented

if TYPE_CHECKING:
    import numpy as np


def _indices(values: Any, what: str) -> np.ndarray:
    """An array of int64; an empty one may be a list. InvalidArgument: it has other elements."""
    array = numpy().asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise InvalidArgument(f"{what} are of type {array.dtype}, expected int64")
    return numpy().ascontiguousarray(array, numpy().int64)


def _check(condition: bool, text: str) -> None:
    if not condition:
        raise InvalidArgument(text)


def _check_range(indices: np.ndarray, end: int, what: str) -> None:
    _check(not indices.size or (0 <= indices.min() and indices.max() < end), f"{what} are not within 0 .. {end - 1}")


class _CooView:
    """The places of values."""

    def __init__(self, indices: np.ndarray) -> None:
        self._indices = indices

    def indices(self) -> np.ndarray:
        """Of each value its index in the flat tensor, or its row and column."""
        return self._indices


class _CsrView:
    """The places of values in rows."""

    def __init__(self, inner: np.ndarray, outer: np.ndarray) -> None:
        self._inner, self._outer = inner, outer

    def inner(self) -> np.ndarray:
        """The column of each value."""
        return self._inner

    def outer(self) -> np.ndarray:
        """For each row, and the end, the number of values before it."""
        return self._outer


class SparseTensor:
    """A sparse tensor in memory, in coordinates or in rows; see the class of this name in onnxruntime. Operators on sparse
    tensors are not supported: to run a model, pass a dense array."""

    def __init__(self, sparse_tensor: SparseTensor) -> None:
        if not isinstance(sparse_tensor, SparseTensor):
            raise TypeError(f"a SparseTensor is made by sparse_coo_from_numpy or sparse_csr_from_numpy, not from a "
                            f"{type(sparse_tensor).__name__}")
        self.__dict__.update(sparse_tensor.__dict__)

    @classmethod
    def _make(cls, shape: Sequence[int], values: Any, device: OrtDevice, view: Any, kind: OrtSparseFormat) -> SparseTensor:
        check_device(device)
        made = cls.__new__(cls)
        array = numpy().asarray(values)
        _check(array.ndim == 1, f"the values have {array.ndim} dimensions, expected 1")
        made._values = array if array.dtype.kind in "USO" else as_array(array)[0]
        made._shape = tuple(int(size) for size in shape)
        _check(all(size >= 0 for size in made._shape), f"the dense shape {list(made._shape)} has a negative size")
        made._view, made._format = view, kind
        return made

    @classmethod
    def sparse_coo_from_numpy(cls, dense_shape: Sequence[int], values: Any, coo_indices: Any,
                              ort_device: OrtDevice) -> SparseTensor:
        """coo_indices: for each value its index in the flat tensor, or its row and column. InvalidArgument: they do not fit."""
        indices = _indices(coo_indices, "the indices")
        made = cls._make(dense_shape, values, ort_device, _CooView(indices), OrtSparseFormat.ORT_SPARSE_COO)
        size = len(made._values)
        if indices.ndim == 2:
            _check(indices.shape == (size, 2) and len(made._shape) == 2,
                   f"indices {list(indices.shape)} for {size} values of a tensor {list(made._shape)}, expected [{size}, 2]")
            for axis in (0, 1):
                _check_range(indices[:, axis], made._shape[axis], f"indices of axis {axis}")
        else:
            _check(indices.shape == (size,), f"indices {list(indices.shape)} for {size} values, expected [{size}]")
            _check_range(indices, _count(made._shape), "indices")
        return made

    @classmethod
    def sparse_csr_from_numpy(cls, dense_shape: Sequence[int], values: Any, inner_indices: Any, outer_indices: Any,
                              ort_device: OrtDevice) -> SparseTensor:
        """inner_indices: the column of each value; outer_indices: for each row, and the end, the number of values before it.
        InvalidArgument: they do not fit."""
        inner, outer = _indices(inner_indices, "inner indices"), _indices(outer_indices, "outer indices")
        made = cls._make(dense_shape, values, ort_device, _CsrView(inner, outer), OrtSparseFormat.ORT_SPARSE_CSRC)
        _check(len(made._shape) == 2, f"a tensor {list(made._shape)} has no rows and columns")
        size, (rows, columns) = len(made._values), made._shape
        _check(inner.shape == (size,), f"inner indices {list(inner.shape)} for {size} values, expected [{size}]")
        _check(outer.shape == (rows + 1,), f"outer indices {list(outer.shape)} for {rows} rows, expected [{rows + 1}]")
        _check(outer[0] == 0 and outer[-1] == size and bool((outer[1:] >= outer[:-1]).all()),
               f"outer indices do not ascend from 0 to {size}")
        _check_range(inner, columns, "inner indices")
        return made

    def _get_c_tensor(self) -> SparseTensor:
        return self

    def values(self) -> np.ndarray:
        """The values, without a copy."""
        return self._values

    def dense_shape(self) -> np.ndarray:
        """The shape of the dense tensor, an array of int64."""
        return numpy().array(self._shape, numpy().int64)

    def format(self) -> OrtSparseFormat:
        """ORT_SPARSE_COO or ORT_SPARSE_CSRC."""
        return self._format

    def data_type(self) -> str:
        """Such as "sparse_tensor(float)"."""
        kind = "str" if self._values.dtype.kind in "USO" else self._values.dtype.name
        return f"sparse_{TENSOR_TYPES[kind]}"

    def device_name(self) -> str:
        """cpu"""
        return "cpu"

    def as_coo_view(self) -> _CooView:
        """as_coo_view().indices(): where the values are. InvalidArgument: it has another format."""
        return self._as(_CooView)

    def as_csrc_view(self) -> _CsrView:
        """as_csrc_view().inner() and .outer(): where the values are. InvalidArgument: it has another format."""
        return self._as(_CsrView)

    def as_blocksparse_view(self) -> NoReturn:
        """Raises InvalidArgument: LightNet has no blocks."""
        return self._as(type(None))

    get_coo_data, get_csrc_data, get_blocksparse_data = as_coo_view, as_csrc_view, as_blocksparse_view

    def _as(self, kind: type) -> Any:
        _check(isinstance(self._view, kind), f"the sparse tensor has the format {self._format.name}")
        return self._view

    def to_cuda(self, ort_device: OrtDevice) -> NoReturn:
        """Raises InvalidArgument: there is no such device."""
        raise InvalidArgument("device 'cuda' is not supported, expected 'cpu'")


def _count(shape: Tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


class SparseValue(OrtValue):
    """An OrtValue that is a sparse tensor."""

    def __init__(self, tensor: SparseTensor) -> None:  # pylint: disable=super-init-not-called
        if not isinstance(tensor, SparseTensor):
            raise TypeError(f"expected a SparseTensor, not {type(tensor).__name__}")
        self._sparse, self._type = tensor, None

    @property
    def _array(self) -> NoReturn:  # of what reads dense values
        raise NotImplemented("the value is a sparse tensor, expected a dense array, such as scipy's matrix.toarray()")

    def as_sparse_tensor(self) -> SparseTensor:
        """The sparse tensor."""
        return self._sparse

    def is_tensor(self) -> bool:
        """False"""
        return False

    def is_sparse_tensor(self) -> bool:
        """True"""
        return True

    def data_type(self) -> str:
        """Such as "sparse_tensor(float)"."""
        return self._sparse.data_type()

    def shape(self) -> Any:
        """The shape of the dense tensor."""
        return self._sparse.dense_shape().tolist()
