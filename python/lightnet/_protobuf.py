# SPDX-License-Identifier: Apache-2.0
"""The messages of ONNX files, as bytes.

A Protocol Buffers message is a list of fields: a number and a wire type in one varint, then a varint (type 0), 8 bytes (1),
a length and bytes (2), or 4 bytes (5). Fields that do not change are copied as they are.
"""
from __future__ import annotations

from typing import Callable, Iterator, List, Mapping, Optional, Tuple

from ._errors import InvalidGraph

VARINT, EIGHT, BYTES, FOUR = 0, 1, 2, 5
# Numbers of fields.
GRAPH = 7                                                      # of ModelProto
NODE, INITIALIZER, INPUT, SPARSE_INITIALIZER = 1, 5, 11, 15    # of GraphProto
TENSOR_NAME, RAW, EXTERNAL, LOCATION = 8, 9, 13, 14            # of TensorProto
Edit = Callable[[memoryview], Optional[bytes]]


def varint(data: memoryview, at: int) -> Tuple[int, int]:
    """(number, where it ends)"""
    number = shift = 0
    while shift < 70 and at < len(data):
        byte = data[at]
        number |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at
    raise InvalidGraph("the file is not an ONNX model: a number is truncated")


def fields(data: memoryview) -> Iterator[Tuple[int, int, memoryview, memoryview]]:
    """(number, wire type, the whole field, its content) of each field of a message."""
    at = 0
    while at < len(data):
        begin = at
        key, at = varint(data, at)
        kind, start = key & 7, at
        if kind == VARINT:
            _, at = varint(data, at)
        elif kind == BYTES:
            size, start = varint(data, at)
            at = start + size
        elif kind in (EIGHT, FOUR):
            at += 8 if kind == EIGHT else 4
        else:
            raise InvalidGraph(f"the file is not an ONNX model: wire type {kind} at byte {begin}")
        if at > len(data):
            raise InvalidGraph(f"the file is not an ONNX model: field {key >> 3} at byte {begin} is truncated")
        yield key >> 3, kind, data[begin:at], data[start:at]


def put_varint(number: int) -> bytes:
    """A number, seven bits a byte, the lowest first."""
    out = bytearray()
    while number > 0x7f:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def put_bytes(number: int, content: bytes) -> bytes:
    """A field of bytes."""
    return put_varint(number << 3 | BYTES) + put_varint(len(content)) + content


def put_text(number: int, text: str) -> bytes:
    """A field of text."""
    return put_bytes(number, text.encode("utf-8", "surrogateescape"))


def text_from(content: memoryview) -> str:
    """The text of a field. What is not UTF-8 becomes surrogates, which put_text turns back."""
    return bytes(content).decode("utf-8", "surrogateescape")


def put_number(number: int, content: int) -> bytes:
    """A field that is a number."""
    return put_varint(number << 3) + put_varint(content)


def edited(data: memoryview, edits: Mapping[int, Edit], more: bytes = b"") -> bytes:
    """The message with each field of bytes that has an edit replaced by edit(content); None: dropped. `more` is added."""
    parts: List[bytes] = []
    for number, kind, whole, content in fields(data):
        if kind != BYTES or number not in edits:
            parts.append(whole)
            continue
        changed = edits[number](content)
        if changed is not None:
            parts.append(put_bytes(number, changed))
    return b"".join([*parts, more])


def text_of(data: memoryview, number: int) -> str:
    """The last field of that number as text; "": none."""
    found = [content for n, kind, _, content in fields(data) if n == number and kind == BYTES]
    return text_from(found[-1]) if found else ""
