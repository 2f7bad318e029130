# SPDX-License-Identifier: Apache-2.0
"""Changes of the bytes of an ONNX model before it is opened: initializers, sizes by their denotation, and contents of files.

A Protocol Buffers message is a list of fields: a number and a wire type in one varint, then a varint (type 0), 8 bytes (1),
a length and bytes (2), or 4 bytes (5). Fields that do not change are copied as they are.
"""
from __future__ import annotations

from typing import Callable, Iterator, List, Mapping, Optional, Tuple, Type

from ._arrays import ELEMENT_TYPES, as_array, packed
from ._errors import InvalidArgument, InvalidGraph, warn

VARINT, EIGHT, BYTES, FOUR = 0, 1, 2, 5
GRAPH = 7                                          # of ModelProto
NODE, INITIALIZER, INPUT, SPARSE_INITIALIZER = 1, 5, 11, 15  # of GraphProto
RAW, EXTERNAL, LOCATION = 9, 13, 14                # of TensorProto
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
    found = [bytes(content) for n, kind, _, content in fields(data) if n == number and kind == BYTES]
    return found[-1].decode("utf-8", "surrogateescape") if found else ""


def tensor_message(name: str, value: object) -> bytes:
    """A TensorProto."""
    array, kind = as_array(value)
    named = put_bytes(8, name.encode("utf-8", "surrogateescape"))
    if kind == "str":
        dims, texts = array
        return b"".join([*(put_number(1, size) for size in dims), put_number(2, ELEMENT_TYPES[kind]),
                         *(put_bytes(6, text) for text in texts), named])
    shape = b"".join(put_number(1, size) for size in array.shape)
    number = ELEMENT_TYPES[kind or array.dtype.name]
    little = packed(array, kind or "").astype(array.dtype.newbyteorder("<"), copy=False)
    return shape + put_number(2, number) + named + put_bytes(9, little.tobytes())


def with_initializers(model: bytes, values: Mapping[str, object]) -> bytes:
    """The model with these initializers: they replace those of the same names, or become defaults of inputs.
    InvalidArgument: the graph has neither of that name."""
    known = set()

    def drop(content: memoryview) -> Optional[bytes]:
        name = text_of(content, 8)
        known.add(name)
        return None if name in values else bytes(content)

    def drop_sparse(content: memoryview) -> Optional[bytes]:
        name = next((text_of(inner, 8) for n, _, _, inner in fields(content) if n == 1), "")
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
        return put_number(1, sizes[denotation]) + put_bytes(3, denotation.encode())

    def within(number: int, edit: Edit) -> Edit:
        return lambda content: edited(content, {number: edit})

    # ValueInfoProto.type .tensor_type .shape .dim
    of_input = within(2, within(1, within(2, within(1, fix))))
    result = edited(memoryview(model), {GRAPH: within(INPUT, of_input)})
    for denotation in sizes:
        if denotation not in found:
            warn(f"no dimension of an input has the denotation '{denotation}': overriding it has no effect")
    return result


def extent(entries: Mapping[str, str], size: int, name: str, too_short: Type[Exception]) -> Tuple[int, int]:
    """(offset, length) of an initializer in its file of `size` bytes: "length", or all that follow "offset". InvalidGraph: they
    are not numbers; too_short: the file ends before."""
    try:
        offset = int(entries.get("offset") or 0)
        length = int(entries.get("length") or size - offset)
    except ValueError:
        raise InvalidGraph(f"initializer '{name}' is at offset '{entries.get('offset', 0)}', length '{entries.get('length', '')}' of "
                           f"file '{entries['location']}', expected numbers") from None
    if min(offset, length) < 0 or offset + length > size:
        raise too_short(f"initializer '{name}' is at bytes {offset} to {offset + length} of file '{entries['location']}', "
                        f"which has {size}")
    return offset, length


def _edited_graph(graph: memoryview, edit: Edit) -> bytes:
    return edited(graph, {NODE: lambda node: _edited_node(node, edit), INITIALIZER: edit})


def _edited_node(node: memoryview, edit: Edit) -> bytes:
    def graph(content: memoryview) -> bytes:
        return _edited_graph(content, edit)

    return edited(node, {5: lambda attribute: edited(attribute, {5: edit, 6: graph, 10: edit, 11: graph})})


def _edited_tensors(content: memoryview, walk: Callable[[memoryview, Edit], bytes], edit: Edit) -> bytes:
    try:
        return walk(content, edit)
    except RecursionError:
        raise InvalidGraph("the subgraphs of the model are nested too deeply") from None


def _with_tensors(model: bytes, edit: Edit) -> bytes:
    """The model with each tensor of its graphs and attributes replaced by edit(tensor)."""
    return edited(memoryview(model), {GRAPH: lambda graph: _edited_tensors(graph, _edited_graph, edit)})


def node_with_tensors(node: memoryview, edit: Edit) -> bytes:
    """The NodeProto with each tensor of its attributes and subgraphs replaced by edit(tensor)."""
    return _edited_tensors(node, _edited_node, edit)


def external_entries(tensor: memoryview) -> Mapping[str, str]:
    """Where the elements of a tensor lie: "location", a file, "offset", "length"; empty: in the model."""
    return {text_of(entry, 1): text_of(entry, 2) for n, kind, _, entry in fields(tensor) if n == EXTERNAL and kind == BYTES}


def with_data(tensor: memoryview, data: bytes) -> bytes:
    """The tensor with these bytes as its elements."""
    return b"".join(bytes(whole) for n, _, whole, _ in fields(tensor) if n not in (RAW, EXTERNAL, LOCATION)) + put_bytes(RAW, data)


def files_of(model: bytes) -> List[str]:
    """The files that hold tensors, by their names in the model."""
    found: List[str] = []

    def note(tensor: memoryview) -> bytes:
        found.extend(location for location in [external_entries(tensor).get("location")] if location)
        return b""
    _with_tensors(model, note)
    return sorted(set(found))


def with_files(model: bytes, files: Mapping[str, bytes]) -> bytes:
    """The model that has the tensors that lie in these files, by their names in the model. InvalidArgument: a file that no
    tensor names, or that is too short."""
    used = set()

    def fill(tensor: memoryview) -> bytes:
        entries = external_entries(tensor)
        location = entries.get("location", "")
        if location not in files:
            return bytes(tensor)
        used.add(location)
        offset, length = extent(entries, len(files[location]), text_of(tensor, 8), InvalidArgument)
        return with_data(tensor, files[location][offset:offset + length])

    result = _with_tensors(model, fill)
    for name in files:
        if name not in used:
            raise InvalidArgument(f"the model has no tensors in a file '{name}'")
    return result
