# SPDX-License-Identifier: Apache-2.0
"""Files of adapters (LoRA), by the names of onnxruntime: values of inputs that have a default.

A file is a FlatBuffers message. The root table is Adapter; offsets count from where they are, vtables lie before their tables:

    Adapter:    0 format_version: int32, 1 adapter_version: int32, 2 model_version: int32, 3 parameters: [Parameter]
    Parameter:  0 name: string, 1 dims: [int64], 2 data_type: int32, a number of onnx.TensorProto, 3 raw_data: [uint8]
"""
from __future__ import annotations

import os
import struct
from typing import Any, Dict, List, Mapping, Optional, Tuple

from ._arrays import BITS, ELEMENT_TYPES, NAMES, OrtValue, as_array, numpy
from ._errors import InvalidArgument, InvalidGraph, NoSuchFile
from ._files import AnyPath, whole_file

IDENTIFIER = b"TORT"
FORMAT_VERSION = 1
MAX_NDIM = 8  # of a tensor
MAX_SPAN = 2 ** 63 - 1  # bytes of an array, axes of length 0 left out
SIZE = 4  # of an offset, a length and an int32


# ---- reading ----

class _Message:
    """The bytes of a file. InvalidGraph: what they contain lies outside."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._left = len(data)  # of all texts, which share no bytes

    def number(self, kind: str, at: int) -> int:
        """An element of the struct type `kind`."""
        size = struct.calcsize(kind)
        if at < 0 or at + size > len(self.data):
            raise InvalidGraph(f"the adapter is damaged: byte {at} of {len(self.data)}")
        return struct.unpack_from(kind, self.data, at)[0]

    def follow(self, at: int) -> int:
        """Where the offset points to."""
        return at + self.number("<I", at)

    def field(self, table: int, i: int) -> Optional[int]:
        """Where field i of a table is; None: it has its default."""
        vtable = table - self.number("<i", table)
        entry = SIZE + 2 * i
        offset = self.number("<H", vtable + entry) if entry < self.number("<H", vtable) else 0
        return table + offset if offset else None

    def int32(self, table: int, i: int) -> int:
        """A field that is a number."""
        at = self.field(table, i)
        return 0 if at is None else self.number("<i", at)

    def vector(self, table: int, i: int, size: int) -> Tuple[int, int]:
        """(where it begins, length) of a field that has elements of `size` bytes."""
        at = self.field(table, i)
        if at is None:
            return 0, 0
        start = self.follow(at)
        length = self.number("<I", start)
        if start + SIZE + length * size > len(self.data):
            raise InvalidGraph(f"the adapter is damaged: {length} elements at byte {start} of {len(self.data)}")
        return start + SIZE, length

    def content(self, table: int, i: int) -> memoryview:
        """A string, or a vector of bytes. No copy: tables may share them."""
        start, length = self.vector(table, i, 1)
        return memoryview(self.data)[start:start + length]

    def text(self, table: int, i: int) -> str:
        """A string."""
        content = self.content(table, i)
        self._left -= len(content)
        if self._left < 0:
            raise InvalidGraph("the adapter is damaged: names share bytes")
        return bytes(content).decode("utf-8", "surrogateescape")


def _parameter(message: _Message, table: int) -> Tuple[str, OrtValue]:
    name = message.text(table, 0)
    start, ndim = message.vector(table, 1, 8)
    if ndim > MAX_NDIM:
        raise InvalidGraph(f"the adapter is damaged: parameter '{name}' has {ndim} dimensions, at most {MAX_NDIM} are supported")
    dims = [message.number("<q", start + 8 * k) for k in range(ndim)]
    number = message.int32(table, 2)
    if number not in NAMES or NAMES[number] == "str":
        raise InvalidGraph(f"the adapter is damaged: element type {number} of parameter '{name}'")
    kind = numpy().dtype(BITS.get(NAMES[number], NAMES[number]))
    data, n_bytes, span = message.content(table, 3), kind.itemsize, kind.itemsize
    for size in dims:
        n_bytes, span = n_bytes * size, span * max(size, 1)
    if min(dims, default=0) < 0 or n_bytes != len(data) or span > MAX_SPAN:
        raise InvalidGraph(f"the adapter is damaged: parameter '{name}' {dims} of {NAMES[number]} has {len(data)} bytes")
    array = numpy().frombuffer(data, kind.newbyteorder("<")).astype(kind, copy=False).reshape(dims)
    return name, OrtValue(array, NAMES[number])


def _read(path: AnyPath) -> Dict[str, Any]:
    """{"adapter_version", "model_version", "format_version", "parameters"} of a file. Errors name it."""
    try:
        with open(path, "rb") as file:
            return _content(_Message(file.read()))
    except FileNotFoundError as error:
        raise NoSuchFile(f"{os.fsdecode(path)}: no such file") from error
    except InvalidGraph as error:
        raise InvalidGraph(f"{os.fsdecode(path)}: {error}") from None


def _content(message: _Message) -> Dict[str, Any]:
    if message.data[SIZE:2 * SIZE] != IDENTIFIER:
        raise InvalidGraph("not an adapter, expected the identifier 'TORT'")
    root = message.follow(0)
    version = message.int32(root, 0)
    if version != FORMAT_VERSION:
        raise InvalidGraph(f"an adapter of format version {version}, expected {FORMAT_VERSION}")
    start, length = message.vector(root, 3, SIZE)
    tables = [message.follow(start + SIZE * k) for k in range(length)]
    return {"format_version": version, "adapter_version": message.int32(root, 1), "model_version": message.int32(root, 2),
            "parameters": dict(_parameter(message, table) for table in tables)}


# ---- writing ----

class _Writer:
    """Appends to a message: each table before what it refers to."""

    def __init__(self) -> None:
        self.data = bytearray()

    def append(self, content: bytes, before: int = 0, alignment: int = SIZE) -> int:
        """Adds bytes, of which those after the first `before` are aligned. Returns where they begin."""
        self.data += bytes(-(len(self.data) + before) % alignment)
        self.data += content
        return len(self.data) - len(content)

    def point(self, at: int, target: int) -> None:
        """Writes the offset from `at` to `target`."""
        struct.pack_into("<I", self.data, at, target - at)

    def table(self, numbers: List[int]) -> List[int]:
        """A table of fields of 4 bytes. Returns where they are; those that are offsets are written later."""
        n = len(numbers)
        vtable = struct.pack(f"<{n + 2}H", SIZE + 2 * n, SIZE * (n + 1), *(SIZE * (k + 1) for k in range(n)))
        start = self.append(vtable)
        table = self.append(struct.pack(f"<{n + 1}i", 0, *numbers))
        struct.pack_into("<i", self.data, table, table - start)
        return [table + SIZE * k for k in range(n + 1)]

    def vector(self, at: int, length: int, content: bytes, alignment: int = SIZE) -> int:
        """A vector or string that the field `at` refers to. Returns where its elements begin."""
        start = self.append(struct.pack("<I", length) + content, SIZE, alignment)
        self.point(at, start)
        return start + SIZE


def _bytes_of(adapter_version: int, model_version: int, parameters: Mapping[str, OrtValue]) -> bytes:
    writer = _Writer()
    writer.append(bytes(SIZE) + IDENTIFIER)
    root, *_, values = writer.table([FORMAT_VERSION, adapter_version, model_version, 0])
    writer.point(0, root)
    at = writer.vector(values, len(parameters), bytes(SIZE * len(parameters)))
    for k, (name, value) in enumerate(parameters.items()):
        array, kind = as_array(value)
        if kind == "str":
            raise InvalidArgument(f"parameter '{name}' has strings, which adapters do not contain")
        table, name_at, dims, _, raw = writer.table([0, 0, ELEMENT_TYPES[kind or array.dtype.name], 0])
        writer.point(at + SIZE * k, table)
        text = name.encode("utf-8", "surrogateescape")
        writer.vector(name_at, len(text), text + b"\0")
        writer.vector(dims, array.ndim, struct.pack(f"<{array.ndim}q", *array.shape), 8)
        writer.vector(raw, array.nbytes, array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes(), 8)
    return bytes(writer.data)


def _checked_version(version: int) -> int:
    if not hasattr(version, "__index__") or not -2 ** 31 <= version < 2 ** 31:
        raise InvalidArgument(f"the version is {version!r}, expected an integer of 32 bits")
    return version


class AdapterFormat:
    """The content of a file of an adapter."""

    def __init__(self, adapter: Optional[Mapping[str, Any]] = None) -> None:
        """adapter: what _read returns; None: an empty one."""
        self._content: Dict[str, Any] = dict(adapter or {"format_version": FORMAT_VERSION, "adapter_version": 0,
                                                         "model_version": 0, "parameters": {}})

    @staticmethod
    def read_adapter(file_path: AnyPath) -> AdapterFormat:
        """The content of the file. NoSuchFile; InvalidGraph: it is not an adapter, or is damaged."""
        return AdapterFormat(_read(file_path))

    def export_adapter(self, file_path: AnyPath) -> None:
        """Writes a file."""
        data = _bytes_of(self._content["adapter_version"], self._content["model_version"], self._content["parameters"])
        with whole_file(file_path) as file:
            file.write(data)

    def get_format_version(self) -> int:
        """1"""
        return self._content["format_version"]

    def get_adapter_version(self) -> int:
        """The version of the adapter."""
        return self._content["adapter_version"]

    def set_adapter_version(self, adapter_version: int) -> None:
        """The version of the adapter, an int32."""
        self._content["adapter_version"] = _checked_version(adapter_version)

    def get_model_version(self) -> int:
        """The version of the model that it is for."""
        return self._content["model_version"]

    def set_model_version(self, model_version: int) -> None:
        """The version of the model that it is for, an int32."""
        self._content["model_version"] = _checked_version(model_version)

    def get_parameters(self) -> Dict[str, OrtValue]:
        """{name of an input: value}"""
        return dict(self._content["parameters"])

    def set_parameters(self, params: Mapping[str, OrtValue]) -> None:
        """{name of an input: value}"""
        for name, value in params.items():
            if not isinstance(value, OrtValue):
                raise TypeError(f"parameter '{name}' is of type {type(value).__name__}, expected OrtValue")
        self._content["parameters"] = dict(params)


class LoraAdapter:
    """Values of inputs, for RunOptions.add_active_adapter."""

    def __init__(self) -> None:
        self._parameters: Dict[str, OrtValue] = {}

    def Load(self, file_path: AnyPath) -> None:  # the name is onnxruntime's
        """Reads a file. NoSuchFile; InvalidGraph: it is not an adapter, or is damaged."""
        self._parameters = _read(file_path)["parameters"]
