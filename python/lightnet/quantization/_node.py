# SPDX-License-Identifier: Apache-2.0
"""A node of an ONNX model."""
from __future__ import annotations

import struct
from typing import Any, Dict, Iterable, Iterator, List, Optional, Union

from .._errors import InvalidGraph
from .._external import external_data, external_entries, node_with_tensors, with_data
from .._protobuf import (BYTES, FOUR, TENSOR_NAME, VARINT, fields, put_bytes, put_number, put_text, put_varint, text_from, text_of,
                         varint)
from ._tensor import Tensor, numbers_of, signed

# Numbers of fields.
GRAPH_NODE, GRAPH_OUTPUT = 1, 12
NODE_INPUT, NODE_OUTPUT, NODE_NAME, NODE_OPERATOR, NODE_ATTRIBUTE, NODE_DOMAIN = 1, 2, 3, 4, 5, 7
ATTRIBUTE_FLOAT, ATTRIBUTE_INT, ATTRIBUTE_TEXT, ATTRIBUTE_TENSOR, ATTRIBUTE_INTS, ATTRIBUTE_TYPE = 2, 3, 4, 5, 8, 20
ATTRIBUTE_GRAPHS = (6, 11)  # one, or several
ONNX = ""  # the domain
CONTRIB = "com.microsoft"
MAX_DEPTH = 64  # of subgraphs

Attribute = Union[int, float, str, List[int], Tensor]


class Node:
    """A NodeProto. `attributes` are the bytes of each AttributeProto, by name."""

    def __init__(self, op_type: str, inputs: Iterable[str], outputs: Iterable[str], name: str = "", domain: str = ONNX,
                 **attributes: Attribute) -> None:
        self.op_type, self.name, self.domain = op_type, name, domain
        self.inputs: List[str] = list(inputs)
        self.outputs: List[str] = list(outputs)
        self.attributes: Dict[str, bytes] = {key: _attribute(key, value) for key, value in attributes.items()}
        self._others: List[bytes] = []

    @staticmethod
    def read(content: memoryview) -> Node:
        """The node of a message. InvalidGraph: it is damaged, or has no outputs."""
        node = Node("", [], [])
        for number, _, whole, value in fields(content):
            if number == NODE_INPUT:
                node.inputs.append(text_from(value))
            elif number == NODE_OUTPUT:
                node.outputs.append(text_from(value))
            elif number == NODE_NAME:
                node.name = text_from(value)
            elif number == NODE_OPERATOR:
                node.op_type = text_from(value)
            elif number == NODE_DOMAIN:
                node.domain = "" if text_from(value) == "ai.onnx" else text_from(value)
            elif number == NODE_ATTRIBUTE:
                node.attributes[text_of(value, 1)] = bytes(value)
            else:
                node._others.append(bytes(whole))
        if not node.outputs:
            raise InvalidGraph(f"node '{node.name}' ({node.op_type}) has no outputs, expected at least 1")
        return node

    def message(self) -> bytes:
        return b"".join([*(put_text(NODE_INPUT, name) for name in self.inputs),
                         *(put_text(NODE_OUTPUT, name) for name in self.outputs),
                         put_text(NODE_NAME, self.name), put_text(NODE_OPERATOR, self.op_type),
                         *(put_bytes(NODE_ATTRIBUTE, content) for content in self.attributes.values()),
                         put_text(NODE_DOMAIN, self.domain) if self.domain else b"", *self._others])

    def input(self, i: int) -> str:
        """The name of input i; "": it is absent."""
        return self.inputs[i] if i < len(self.inputs) else ""

    def is_a(self, *op_types: str) -> bool:
        """Whether it is one of these operators of ONNX's own domain."""
        return self.domain == ONNX and self.op_type in op_types

    def attribute(self, name: str, default: Any) -> Any:
        """The value of an attribute: of the kind of its default, an int, a float, a str or a list of ints."""
        if name not in self.attributes:
            return default
        found: List[int] = []
        for number, kind, _, value in fields(memoryview(self.attributes[name])):
            if (number, kind) == (ATTRIBUTE_INT, VARINT) and isinstance(default, int):
                return signed(varint(value, 0)[0])
            if (number, kind) == (ATTRIBUTE_FLOAT, FOUR) and isinstance(default, float):
                return struct.unpack("<f", value)[0]
            if (number, kind) == (ATTRIBUTE_TEXT, BYTES) and isinstance(default, str):
                return text_from(value)
            if number == ATTRIBUTE_INTS:
                found += numbers_of(kind, value)
        return found if isinstance(default, list) else default

    def tensor(self, name: str) -> Optional[Tensor]:
        """The tensor that is an attribute; None: it has no such attribute."""
        for number, _, _, value in fields(memoryview(self.attributes.get(name, b""))):
            if number == ATTRIBUTE_TENSOR:
                return Tensor(bytes(value))
        return None

    def subgraph_reads(self, depth: int = 0) -> Iterator[str]:
        """The names that graphs within the node read. InvalidGraph: they are nested too deeply."""
        if depth > MAX_DEPTH:
            raise InvalidGraph(f"node '{self.name}' ({self.op_type}): subgraphs are nested more than {MAX_DEPTH} deep")
        for content in self.attributes.values():
            for number, _, _, value in fields(memoryview(content)):
                if number in ATTRIBUTE_GRAPHS:
                    yield from _reads(value, depth + 1)


def _reads(graph: memoryview, depth: int) -> Iterator[str]:
    for number, _, _, value in fields(graph):
        if number == GRAPH_NODE:
            node = Node.read(value)
            yield from node.inputs
            yield from node.subgraph_reads(depth)
        elif number == GRAPH_OUTPUT:
            yield text_of(value, 1)


def _attribute(name: str, value: Attribute) -> bytes:
    """An AttributeProto."""
    if isinstance(value, int):
        kind, content = 2, put_number(ATTRIBUTE_INT, value & (1 << 64) - 1)
    elif isinstance(value, float):
        kind, content = 1, put_varint(ATTRIBUTE_FLOAT << 3 | FOUR) + struct.pack("<f", value)
    elif isinstance(value, str):
        kind, content = 3, put_text(ATTRIBUTE_TEXT, value)
    elif isinstance(value, Tensor):
        kind, content = 4, put_bytes(ATTRIBUTE_TENSOR, value.content)
    else:
        kind, content = 7, b"".join(put_number(ATTRIBUTE_INTS, number & (1 << 64) - 1) for number in value)
    return put_text(1, name) + content + put_number(ATTRIBUTE_TYPE, kind)


def inlined(node: memoryview, folder: str) -> memoryview:
    """The NodeProto with the external data of its attributes and subgraphs."""
    def fill(tensor: memoryview) -> bytes:
        entries = external_entries(tensor)
        return with_data(tensor, external_data(folder, entries, text_of(tensor, TENSOR_NAME))) if entries else bytes(tensor)

    has_entries = b"location" in bytes(node)  # a key of external data: without it, there is none
    return memoryview(node_with_tensors(node, fill)) if has_entries else node
