# SPDX-License-Identifier: Apache-2.0
"""Devices and sparse tensors, by the names of onnxruntime: LightNet has one device, and no sparse tensors."""
from __future__ import annotations

from typing import Any, NoReturn

from ._errors import InvalidArgument, NotImplemented

CPU = 0  # onnxruntime's number of the device


def check_device(device_type: str) -> None:
    """Raises InvalidArgument unless the device is the CPU."""
    if device_type.lower() != "cpu":
        raise InvalidArgument(f"device '{device_type}' is not supported, expected 'cpu'")


class OrtDevice:
    """The CPU, as OrtDevice.make("cpu", 0)."""

    def __init__(self, device_type: str = "cpu", device_id: int = 0) -> None:
        check_device(device_type)
        self._id = device_id

    @staticmethod
    def make(ort_device_name: str, device_id: int, vendor_id: int = -1) -> OrtDevice:
        """The device of that name; InvalidArgument: any but "cpu"."""
        return OrtDevice(ort_device_name, device_id)

    @staticmethod
    def cpu() -> int:
        """The number of the device type CPU: 0."""
        return CPU

    @staticmethod
    def default_memory() -> int:
        """The number of the only memory type: 0."""
        return 0

    def device_id(self) -> int:
        """The number that the device was made with."""
        return self._id

    def device_type(self) -> int:
        """0, the CPU."""
        return CPU

    def device_vendor_id(self) -> int:
        """0: none."""
        return 0

    def device_mem_type(self) -> int:
        """0, the default memory."""
        return 0

    def __repr__(self) -> str:
        return f"OrtDevice('cpu', {self._id})"


def _fail_sparse() -> NoReturn:
    raise NotImplemented("sparse tensors are not supported; pass a dense array, such as scipy's matrix.toarray()")


class SparseTensor:
    """Not supported: each way to make one raises NotImplemented."""

    def __init__(self, sparse_tensor: Any) -> None:
        _fail_sparse()

    @staticmethod
    def sparse_coo_from_numpy(dense_shape: Any, values: Any, coo_indices: Any, ort_device: Any) -> NoReturn:
        """Raises NotImplemented."""
        _fail_sparse()

    @staticmethod
    def sparse_csr_from_numpy(dense_shape: Any, values: Any, inner_indices: Any, outer_indices: Any, ort_device: Any) -> NoReturn:
        """Raises NotImplemented."""
        _fail_sparse()
