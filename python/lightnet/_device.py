# SPDX-License-Identifier: Apache-2.0
"""Devices and memory, by the names of onnxruntime: LightNet has one device, the CPU, and one allocator."""
from __future__ import annotations

import enum
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Union

from ._errors import InvalidArgument

CPU = 0  # onnxruntime's number of the device
PROVIDER = "CPUExecutionProvider"


class OrtDevice:
    """The CPU: OrtDevice.make("cpu", 0), or OrtDevice(OrtDevice.cpu(), OrtDevice.default_memory(), 0)."""

    def __init__(self, device: Union[str, int, OrtDevice] = "cpu", *numbers: int) -> None:
        """device: its name and `numbers` its id; or the number of its type, and `numbers` memory type, [vendor,] id."""
        check_device(device)
        self._id = numbers[-1] if numbers else device._id if isinstance(device, OrtDevice) else 0

    @staticmethod
    def make(ort_device_name: str, device_id: int, vendor_id: int = -1) -> OrtDevice:
        """The device of that name; InvalidArgument: any but "cpu"."""
        return OrtDevice(ort_device_name, device_id)

    @staticmethod
    def cpu() -> int:
        """The number of the device type CPU: 0."""
        return CPU

    @staticmethod
    def gpu() -> int:
        """The number of the device type GPU: 1. LightNet has no such device."""
        return 1

    @staticmethod
    def fpga() -> int:
        """The number of the device type FPGA: 2. LightNet has no such device."""
        return 2

    @staticmethod
    def npu() -> int:
        """The number of the device type NPU: 3. LightNet has no such device."""
        return 3

    @staticmethod
    def dml() -> int:
        """The number of the device type DirectML: 4. LightNet has no such device."""
        return 4

    cuda = webgpu = gpu
    cann = npu

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

    vendor_id, mem_type = device_vendor_id, device_mem_type

    def _get_c_device(self) -> OrtDevice:
        return self

    def __repr__(self) -> str:
        return f"OrtDevice('cpu', {self._id})"


def check_device(device: Union[str, int, OrtDevice]) -> None:
    """Raises InvalidArgument unless the device, or its type, is the CPU."""
    known = device.lower() == "cpu" if isinstance(device, str) else isinstance(device, OrtDevice) or device == CPU
    if not known:
        raise InvalidArgument(f"device {device!r} is not supported, expected 'cpu'")


# ---- memory ----

class OrtAllocatorType(enum.IntEnum):
    """The kinds of allocators of onnxruntime."""

    INVALID = -1
    ORT_DEVICE_ALLOCATOR = 0
    ORT_ARENA_ALLOCATOR = 1


class OrtMemType(enum.IntEnum):
    """The kinds of memory of onnxruntime."""

    CPU_INPUT = -2
    CPU_OUTPUT = -1
    CPU = -1
    DEFAULT = 0


class OrtDeviceMemoryType(enum.IntEnum):
    """The kinds of memory of a device."""

    DEFAULT = 0
    HOST_ACCESSIBLE = 5


class OrtMemoryInfoDeviceType(enum.IntEnum):
    """The kinds of devices that memory belongs to."""

    CPU = 0
    GPU = 1
    FPGA = 2
    NPU = 3


class OrtMemoryInfo:
    """Describes memory."""

    def __init__(self, name: str, allocator_type: OrtAllocatorType, device_id: int, mem_type: OrtMemType) -> None:
        self.name: str = name
        self.allocator_type: OrtAllocatorType = allocator_type
        self.device_id: int = device_id
        self.mem_type: OrtMemType = mem_type
        self.device_mem_type: OrtDeviceMemoryType = OrtDeviceMemoryType.DEFAULT
        self.device_vendor_id: int = 0

    @staticmethod
    def create_v2(name: str, device_type: OrtMemoryInfoDeviceType, vendor_id: int, device_id: int,
                  device_mem_type: OrtDeviceMemoryType, alignment: int, allocator_type: OrtAllocatorType) -> OrtMemoryInfo:
        """Memory of a device of that type. InvalidArgument: any but the CPU."""
        check_device(int(device_type))
        info = OrtMemoryInfo(name, allocator_type, device_id, OrtMemType.DEFAULT)
        info.device_mem_type, info.device_vendor_id = device_mem_type, vendor_id
        return info

    def __repr__(self) -> str:
        return f"OrtMemoryInfo({self.name!r}, {self.allocator_type!r}, {self.device_id}, {self.mem_type!r})"


def cpu_memory() -> OrtMemoryInfo:
    """The memory of inputs and outputs."""
    return OrtMemoryInfo("Cpu", OrtAllocatorType.ORT_DEVICE_ALLOCATOR, 0, OrtMemType.DEFAULT)


ARENA_KEYS = ("max_mem", "arena_extend_strategy", "initial_chunk_size_bytes", "max_dead_bytes_per_chunk",
              "initial_growth_chunk_size_bytes", "max_power_of_two_extend_bytes")


class OrtArenaCfg:
    """The configuration of an arena, OrtArenaCfg(max_mem, arena_extend_strategy, initial_chunk_size_bytes,
    max_dead_bytes_per_chunk) or OrtArenaCfg({name: number}). LightNet plans memory and has no arenas, so it has no effect."""

    __slots__ = ARENA_KEYS

    def __init__(self, *numbers: Any) -> None:
        is_dict = len(numbers) == 1 and isinstance(numbers[0], Mapping)
        if not is_dict and len(numbers) != 4:
            raise TypeError(f"OrtArenaCfg expects a dict or 4 numbers, not {len(numbers)} arguments")
        given: Dict[str, int] = dict(numbers[0]) if is_dict else dict(zip(ARENA_KEYS, numbers))
        for key in given:
            if key not in ARENA_KEYS:
                raise InvalidArgument(f"an arena has no '{key}'; it has: {', '.join(ARENA_KEYS)}")
        for key in ARENA_KEYS:
            setattr(self, key, int(given.get(key, -1)))


class OrtSparseFormat(enum.IntEnum):
    """The formats of a SparseTensor."""

    ORT_SPARSE_UNDEFINED = 0
    ORT_SPARSE_COO = 1
    ORT_SPARSE_CSRC = 2
    ORT_SPARSE_BLOCK_SPARSE = 4


def create_and_register_allocator(mem_info: OrtMemoryInfo, arena_cfg: Optional[OrtArenaCfg] = None) -> None:
    """Accepted: LightNet plans the memory of a program and has no allocators."""


def create_and_register_allocator_v2(provider_type: str, mem_info: OrtMemoryInfo, options: Mapping[str, str],
                                     arena_cfg: Optional[OrtArenaCfg] = None) -> None:
    """Accepted: LightNet plans the memory of a program and has no allocators."""


# ---- providers ----

class OrtHardwareDeviceType(enum.IntEnum):
    """The kinds of devices."""

    CPU = 0
    GPU = 1
    NPU = 2


class OrtHardwareDevice(NamedTuple):
    """A device that a provider computes on."""

    type: OrtHardwareDeviceType
    vendor: str
    vendor_id: int
    device_id: int
    metadata: Dict[str, str]


class OrtEpDevice(NamedTuple):
    """A provider, and a device that it computes on."""

    ep_name: str
    ep_vendor: str
    ep_metadata: Dict[str, str]
    ep_options: Dict[str, str]
    device: OrtHardwareDevice

    def memory_info(self, kind: OrtDeviceMemoryType) -> OrtMemoryInfo:
        """Its memory."""
        return cpu_memory()


def get_ep_devices() -> List[OrtEpDevice]:
    """The only provider, on the only device: CPUExecutionProvider on the CPU."""
    return [OrtEpDevice(PROVIDER, "LightNet", {}, {}, OrtHardwareDevice(OrtHardwareDeviceType.CPU, "", 0, 0, {}))]


class OrtEpAssignedNode(NamedTuple):
    """A node of a model."""

    name: str
    domain: str
    op_type: str


class OrtEpAssignedSubgraph(NamedTuple):
    """Nodes of a model that a provider runs."""

    ep_name: str
    nodes: List[OrtEpAssignedNode]

    def get_nodes(self) -> List[OrtEpAssignedNode]:
        """The nodes."""
        return list(self.nodes)
