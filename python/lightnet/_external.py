# SPDX-License-Identifier: Apache-2.0
"""Tensors of an ONNX model whose elements lie in other files: in the folder of the model, or in memory."""
from __future__ import annotations

import os
from typing import Callable, List, Mapping, Tuple, Type

from ._errors import InvalidArgument, InvalidGraph, NoSuchFile
from ._protobuf import BYTES, EXTERNAL, GRAPH, INITIALIZER, LOCATION, NODE, RAW, TENSOR_NAME, Edit, edited, fields, put_bytes, text_of


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
        offset, length = extent(entries, len(files[location]), text_of(tensor, TENSOR_NAME), InvalidArgument)
        return with_data(tensor, files[location][offset:offset + length])

    result = _with_tensors(model, fill)
    for name in files:
        if name not in used:
            raise InvalidArgument(f"the model has no tensors in a file '{name}'")
    return result


def beside(folder: str, name: str) -> str:
    """The path of a file that a model in the folder names. InvalidGraph: it is not beneath the folder, links followed."""
    root = os.path.realpath(folder)
    found = os.path.realpath(os.path.join(root, name)) if "\0" not in name else ""
    if not name or not found or os.path.commonpath([root, found]) != root:
        raise InvalidGraph(f"external data '{name}' is not in the folder of the model")
    return found


def external_data(folder: str, entries: Mapping[str, str], name: str) -> bytes:
    """The elements of the initializer `name`, by the entries of its external data. NoSuchFile: the file cannot be read;
    InvalidGraph: it is elsewhere, or does not have the elements."""
    path = beside(folder, entries.get("location", ""))
    if not os.path.isfile(path):
        raise NoSuchFile(f"initializer '{name}': external data '{path}': no such file")
    try:
        with open(path, "rb") as file:
            offset, length = extent(entries, os.fstat(file.fileno()).st_size, name, InvalidGraph)
            file.seek(offset)
            return file.read(length)
    except OSError as error:
        raise NoSuchFile(f"initializer '{name}': external data '{path}': {error.strerror}") from error
