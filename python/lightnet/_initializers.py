# SPDX-License-Identifier: Apache-2.0
"""Changes of the bytes of an ONNX model before it is opened: initializers, and sizes by their denotation."""
from __future__ import annotations

from typing import Mapping, Optional

from ._arrays import ELEMENT_TYPES, as_array, packed
from ._errors import InvalidArgument, warn
from ._protobuf import (GRAPH, INITIALIZER, INPUT, RAW, SPARSE_INITIALIZER, TENSOR_NAME, Edit, edited, fields, put_bytes, put_number,
                        put_text, text_of)


def tensor_message(name: str, value: object) -> bytes:
    """A TensorProto."""
    array, kind = as_array(value)
    named = put_text(TENSOR_NAME, name)
    if kind == "str":
        dims, texts = array
        return b"".join([*(put_number(1, size) for size in dims), put_number(2, ELEMENT_TYPES[kind]),
                         *(put_bytes(6, text) for text in texts), named])
    shape = b"".join(put_number(1, size) for size in array.shape)
    number = ELEMENT_TYPES[kind or array.dtype.name]
    little = packed(array, kind or "").astype(array.dtype.newbyteorder("<"), copy=False)
    return shape + put_number(2, number) + named + put_bytes(RAW, little.tobytes())


def with_initializers(model: bytes, values: Mapping[str, object]) -> bytes:
    """The model with these initializers: they replace those of the same names, or become defaults of inputs.
    InvalidArgument: the graph has neither of that name."""
    known = set()

    def drop(content: memoryview) -> Optional[bytes]:
        name = text_of(content, TENSOR_NAME)
        known.add(name)
        return None if name in values else bytes(content)

    def drop_sparse(content: memoryview) -> Optional[bytes]:
        name = next((text_of(inner, TENSOR_NAME) for n, _, _, inner in fields(content) if n == 1), "")
        known.add(name)
        return None if name in values else bytes(content)

    def note_input(content: memoryview) -> bytes:
        known.add(text_of(content, 1))
        return bytes(content)

    def change(graph: memoryview) -> bytes:
        tensors = b"".join(put_bytes(INITIALIZER, tensor_message(name, value)) for name, value in values.items())
        return edited(graph, {INITIALIZER: drop, SPARSE_INITIALIZER: drop_sparse, INPUT: note_input}, tensors)

    result = edited(memoryview(model), {GRAPH: change})
    for name in values:
        if name not in known:
            raise InvalidArgument(f"the model has no initializer or input '{name}'")
    return result


def with_denotations(model: bytes, sizes: Mapping[str, int]) -> bytes:
    """The model whose inputs have these sizes where a dimension has the denotation, such as "DATA_BATCH". InvalidArgument: one is
    not a size."""
    for denotation, size in sizes.items():
        if not hasattr(size, "__index__") or not 0 <= size < 1 << 63:
            raise InvalidArgument(f"the size of denotation '{denotation}' is {size!r}, expected an integer of 0 or more")
    found = set()

    def fix(dim: memoryview) -> bytes:
        denotation = text_of(dim, 3)
        if denotation not in sizes:
            return bytes(dim)
        found.add(denotation)
        return put_number(1, sizes[denotation]) + put_text(3, denotation)

    def within(number: int, edit: Edit) -> Edit:
        return lambda content: edited(content, {number: edit})

    # ValueInfoProto.type .tensor_type .shape .dim
    of_input = within(2, within(1, within(2, within(1, fix))))
    result = edited(memoryview(model), {GRAPH: within(INPUT, of_input)})
    for denotation in sizes:
        if denotation not in found:
            warn(f"no dimension of an input has the denotation '{denotation}': overriding it has no effect")
    return result
