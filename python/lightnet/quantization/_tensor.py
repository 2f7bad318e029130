# SPDX-License-Identifier: Apache-2.0
"""A tensor of an ONNX model, in the message or in a file beside the model."""
from __future__ import annotations

from typing import Any, Iterator, List, Optional

from .._arrays import numpy
from .._errors import InvalidGraph, NotImplemented
from .._external import external_data, external_entries, with_data
from .._protobuf import BYTES, EXTERNAL, LOCATION, RAW, TENSOR_NAME, VARINT, fields, put_bytes, put_number, put_text, text_of, varint

TENSOR_DIMS, TENSOR_TYPE = 1, 2  # numbers of fields
FLOAT, FLOAT16, DOUBLE, BFLOAT16 = 1, 10, 11, 16  # of TensorProto.DataType
# TensorProto.DataType -> the type of NumPy, and the field whose numbers are its elements where there are no raw bytes.
ELEMENTS = {1: ("<f4", 4), 2: ("u1", 5), 3: ("i1", 5), 4: ("<u2", 5), 5: ("<i2", 5), 6: ("<i4", 5), 7: ("<i8", 7), 9: ("?", 5),
            10: ("<f2", 5), 11: ("<f8", 10), 12: ("<u4", 11), 13: ("<u8", 11)}


def signed(number: int) -> int:
    """The int64 of a varint, whose bits beyond 64 do not count."""
    return ((number + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)


def numbers_of(kind: int, content: memoryview) -> Iterator[int]:
    """The numbers of a field of a repeated integer: one, or packed."""
    at = 0
    if kind == VARINT:
        yield signed(varint(content, 0)[0])
        return
    while at < len(content):
        number, at = varint(content, at)
        yield signed(number)


class Tensor:
    """A TensorProto. Its elements are read when they are needed."""

    def __init__(self, content: bytes, folder: Optional[str] = None) -> None:
        self.content = content
        self.name = text_of(memoryview(content), TENSOR_NAME)
        self.dims: List[int] = []
        self.type = 0
        self._folder = folder
        for number, kind, _, value in fields(memoryview(content)):
            if number == TENSOR_DIMS:
                self.dims += numbers_of(kind, value)
            elif number == TENSOR_TYPE:
                self.type = varint(value, 0)[0]

    def array(self) -> Any:
        """The elements. NotImplemented: of a type that NumPy lacks."""
        if self.type not in ELEMENTS:
            raise NotImplemented(f"initializer '{self.name}' is of type {self.type}, expected one that NumPy has")
        dtype, field = ELEMENTS[self.type]
        raw = self.external() if self.is_external() else self.raw()
        flat = self._typed(dtype, field) if raw is None else self._elements(raw, dtype)
        try:
            return flat.reshape(self.dims)
        except ValueError:
            raise InvalidGraph(f"initializer '{self.name}' has {flat.size} elements, expected those of the shape {self.dims}") from None

    def _elements(self, data: Any, dtype: str) -> Any:
        size = numpy().dtype(dtype).itemsize
        if len(data) % size:
            raise InvalidGraph(f"initializer '{self.name}' has {len(data)} bytes of data, expected a multiple of {size}")
        return numpy().frombuffer(data, dtype)

    def is_external(self) -> bool:
        return any(number == LOCATION and varint(value, 0)[0] == 1
                   for number, _, _, value in fields(memoryview(self.content)))

    def external(self) -> bytes:
        """The bytes in the file that its external data names. InvalidGraph: the model was not read from a file, or has the file
        elsewhere."""
        entries = external_entries(memoryview(self.content))
        if self._folder is None:
            raise InvalidGraph(f"initializer '{self.name}' has its data in the file '{entries.get('location', '')}', which needs a "
                               "model that is a file, too")
        return external_data(self._folder, entries, self.name)

    def without_data(self, location: str, offset: int, length: int) -> bytes:
        """The message that refers to external data."""
        entries = {"location": location, "offset": str(offset), "length": str(length)}
        head = b"".join(bytes(whole) for number, _, whole, _ in fields(memoryview(self.content))
                        if number in (TENSOR_DIMS, TENSOR_TYPE, TENSOR_NAME))
        return head + b"".join(put_bytes(EXTERNAL, put_text(1, key) + put_text(2, value))
                               for key, value in entries.items()) + put_number(LOCATION, 1)

    def inlined(self) -> bytes:
        """The message with its data."""
        return with_data(memoryview(self.content), self.external()) if self.is_external() else self.content

    def raw(self) -> Optional[bytes]:
        """The bytes in the message; None: it has typed elements, or external data."""
        found = [bytes(value) for number, kind, _, value in fields(memoryview(self.content))
                 if number == RAW and kind == BYTES]
        return found[-1] if found else None

    def _typed(self, dtype: str, field: int) -> Any:
        """Elements of float_data, int32_data and their like."""
        parts: List[Any] = []
        for number, kind, _, value in fields(memoryview(self.content)):
            if number != field:
                continue
            if field in (4, 10):
                parts.append(self._elements(value, "<f4" if field == 4 else "<f8"))
            else:
                parts.append(numpy().array(list(numbers_of(kind, value)), "i8"))
        flat = numpy().concatenate(parts) if parts else numpy().zeros(0)
        return flat.astype("u2").view("<f2") if self.type == FLOAT16 else flat.astype(dtype)

    def renamed(self, name: str) -> Tensor:
        """The tensor with another name."""
        others = b"".join(bytes(whole) for number, _, whole, _ in fields(memoryview(self.content)) if number != TENSOR_NAME)
        return Tensor(others + put_text(TENSOR_NAME, name), self._folder)
