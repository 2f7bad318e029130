# SPDX-License-Identifier: Apache-2.0
"""An ONNX model whose graph can be edited: nodes and initializers as objects, all other fields as the bytes of the file.

    model = read("model.onnx")
    model.nodes[0].inputs[0] = model.add(numpy.float32(2), "two")
    model.write("edited.onnx")
"""
from __future__ import annotations

import os
import struct
from typing import Any, Dict, Iterable, Iterator, List, Optional, Set, Tuple, Union

from .._arrays import numpy
from .._errors import InvalidGraph, NoSuchFile, NotImplemented
from .._files import MAX_ONNX, AnyPath, external_data, whole_file
from .._initializers import (BYTES, FOUR, VARINT, external_entries, fields, node_with_tensors, put_bytes, put_number, put_varint, tensor_message,
                             text_of, varint, with_data)

# Numbers of fields.
MODEL_IR, MODEL_GRAPH, MODEL_OPSET = 1, 7, 8
GRAPH_NODE, GRAPH_INITIALIZER, GRAPH_INPUT, GRAPH_OUTPUT = 1, 5, 11, 12
NODE_INPUT, NODE_OUTPUT, NODE_NAME, NODE_OPERATOR, NODE_ATTRIBUTE, NODE_DOMAIN = 1, 2, 3, 4, 5, 7
ATTRIBUTE_FLOAT, ATTRIBUTE_INT, ATTRIBUTE_TEXT, ATTRIBUTE_TENSOR, ATTRIBUTE_GRAPH, ATTRIBUTE_INTS, ATTRIBUTE_TYPE = 2, 3, 4, 5, 6, 8, 20
TENSOR_DIMS, TENSOR_TYPE, TENSOR_NAME, TENSOR_RAW, TENSOR_EXTERNAL, TENSOR_LOCATION = 1, 2, 8, 9, 13, 14
OWN_CONSTANTS = 4  # the version of the format from which on a constant need not be an input
FLOAT, FLOAT16, DOUBLE, BFLOAT16 = 1, 10, 11, 16  # of TensorProto.DataType
# TensorProto.DataType -> the type of NumPy, and the field whose numbers are its elements where there are no raw bytes.
ELEMENTS = {1: ("<f4", 4), 2: ("u1", 5), 3: ("i1", 5), 4: ("<u2", 5), 5: ("<i2", 5), 6: ("<i4", 5), 7: ("<i8", 7), 9: ("?", 5),
            10: ("<f2", 5), 11: ("<f8", 10), 12: ("<u4", 11), 13: ("<u8", 11)}
ONNX = ""  # the domain
CONTRIB = "com.microsoft"
MAX_DEPTH = 64  # of subgraphs
EXTERNAL_SIZE = 1024  # bytes from which on the data of an initializer is in a file of its own, if any is

Attribute = Union[int, float, str, List[int], "Tensor"]


def _text(content: memoryview) -> str:
    return bytes(content).decode("utf-8", "surrogateescape")


def _put_text(number: int, text: str) -> bytes:
    return put_bytes(number, text.encode("utf-8", "surrogateescape"))


def _signed(number: int) -> int:
    """The int64 of a varint, whose bits beyond 64 do not count."""
    return ((number + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)


def _numbers(kind: int, content: memoryview) -> Iterator[int]:
    """The numbers of a field of a repeated integer: one, or packed."""
    at = 0
    if kind == VARINT:
        yield _signed(varint(content, 0)[0])
        return
    while at < len(content):
        number, at = varint(content, at)
        yield _signed(number)


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
                self.dims += _numbers(kind, value)
            elif number == TENSOR_TYPE:
                self.type = varint(value, 0)[0]

    def array(self) -> Any:
        """The elements. NotImplemented: of a type that NumPy lacks."""
        if self.type not in ELEMENTS:
            raise NotImplemented(f"initializer '{self.name}' is of type {self.type}, expected one that NumPy has")
        dtype, field = ELEMENTS[self.type]
        raw = self.external() if self.is_external() else self._raw()
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
        return any(number == TENSOR_LOCATION and varint(value, 0)[0] == 1
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
        return head + b"".join(put_bytes(TENSOR_EXTERNAL, _put_text(1, key) + _put_text(2, value))
                               for key, value in entries.items()) + put_number(TENSOR_LOCATION, 1)

    def inlined(self) -> bytes:
        """The message with its data."""
        return with_data(memoryview(self.content), self.external()) if self.is_external() else self.content

    def _raw(self) -> Optional[bytes]:
        found = [bytes(value) for number, kind, _, value in fields(memoryview(self.content))
                 if number == TENSOR_RAW and kind == BYTES]
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
                parts.append(numpy().array(list(_numbers(kind, value)), "i8"))
        flat = numpy().concatenate(parts) if parts else numpy().zeros(0)
        return flat.astype("u2").view("<f2") if self.type == FLOAT16 else flat.astype(dtype)


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
        node = Node("", [], [])
        for number, _, whole, value in fields(content):
            if number == NODE_INPUT:
                node.inputs.append(_text(value))
            elif number == NODE_OUTPUT:
                node.outputs.append(_text(value))
            elif number == NODE_NAME:
                node.name = _text(value)
            elif number == NODE_OPERATOR:
                node.op_type = _text(value)
            elif number == NODE_DOMAIN:
                node.domain = "" if _text(value) == "ai.onnx" else _text(value)
            elif number == NODE_ATTRIBUTE:
                node.attributes[text_of(value, 1)] = bytes(value)
            else:
                node._others.append(bytes(whole))
        return node

    def message(self) -> bytes:
        return b"".join([*(_put_text(NODE_INPUT, name) for name in self.inputs),
                         *(_put_text(NODE_OUTPUT, name) for name in self.outputs),
                         _put_text(NODE_NAME, self.name), _put_text(NODE_OPERATOR, self.op_type),
                         *(put_bytes(NODE_ATTRIBUTE, content) for content in self.attributes.values()),
                         _put_text(NODE_DOMAIN, self.domain) if self.domain else b"", *self._others])

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
                return _signed(varint(value, 0)[0])
            if (number, kind) == (ATTRIBUTE_FLOAT, FOUR) and isinstance(default, float):
                return struct.unpack("<f", value)[0]
            if (number, kind) == (ATTRIBUTE_TEXT, BYTES) and isinstance(default, str):
                return _text(value)
            if number == ATTRIBUTE_INTS:
                found += _numbers(kind, value)
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
                if number == ATTRIBUTE_GRAPH:
                    yield from _reads(value, depth + 1)


def _check_outputs(node: Node) -> None:
    if not node.outputs:
        raise InvalidGraph(f"node '{node.name}' ({node.op_type}) has no outputs, expected at least 1")


def _inlined(node: memoryview, folder: str) -> memoryview:
    """The NodeProto with the external data of its attributes and subgraphs."""
    def fill(tensor: memoryview) -> bytes:
        entries = external_entries(tensor)
        return with_data(tensor, external_data(folder, entries, text_of(tensor, TENSOR_NAME))) if entries else bytes(tensor)

    has_entries = b"location" in bytes(node)  # a key of external data: without it, there is none
    return memoryview(node_with_tensors(node, fill)) if has_entries else node


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
    if isinstance(value, bool) or isinstance(value, int):
        kind, content = 2, put_number(ATTRIBUTE_INT, value & (1 << 64) - 1)
    elif isinstance(value, float):
        kind, content = 1, put_varint(ATTRIBUTE_FLOAT << 3 | FOUR) + struct.pack("<f", value)
    elif isinstance(value, str):
        kind, content = 3, _put_text(ATTRIBUTE_TEXT, value)
    elif isinstance(value, Tensor):
        kind, content = 4, put_bytes(ATTRIBUTE_TENSOR, value.content)
    else:
        kind, content = 7, b"".join(put_number(ATTRIBUTE_INTS, number & (1 << 64) - 1) for number in value)
    return _put_text(1, name) + content + put_number(ATTRIBUTE_TYPE, kind)


class Model:
    """A ModelProto. `nodes` are those of the main graph, in order, `initializers` its dense constants by name, `inputs` and
    `outputs` the names of its interface."""

    def __init__(self, content: bytes, folder: Optional[str] = None) -> None:
        self.nodes: List[Node] = []
        self.initializers: Dict[str, Tensor] = {}
        self.opsets: Dict[str, int] = {}
        self.inputs: List[str] = []
        self.outputs: List[str] = []
        self.functions: List[Tuple[str, str]] = []  # (domain, name) of the model's own operators
        self._values: List[Tuple[str, bytes]] = []  # of outputs
        self._graph: List[Tuple[str, bytes]] = []  # other fields, and the names of inputs
        self._model: List[bytes] = []
        self._graphs = 0
        self.ir_version = 0
        self._shared: Dict[str, str] = {}
        for number, kind, whole, value in fields(memoryview(content)):
            if number == MODEL_GRAPH and kind == BYTES:
                self._read_graph(value, folder)
            elif number == MODEL_OPSET and kind == BYTES:
                version = next((varint(number, 0)[0] for n, _, _, number in fields(value) if n == 2), 0)
                domain = text_of(value, 1)
                self.opsets["" if domain == "ai.onnx" else domain] = version
            elif number == MODEL_IR and kind == VARINT:
                self.ir_version = varint(value, 0)[0]
            else:
                if number == 25 and kind == BYTES:
                    self.functions.append((text_of(value, 10), text_of(value, 1)))
                self._model.append(bytes(whole))
        if self._graphs != 1:
            raise InvalidGraph(f"the file is not an ONNX model: it has {self._graphs} graphs")
        if self.ir_version < OWN_CONSTANTS:
            self._drop_inputs(set(self.initializers))
            self.ir_version = OWN_CONSTANTS
        self._names = {name for node in self.nodes for name in [*node.inputs, *node.outputs, *node.subgraph_reads()]}
        self._names |= {*self.initializers, *self.inputs, *self.outputs, *(node.name for node in self.nodes)}

    def _read_graph(self, graph: memoryview, folder: Optional[str]) -> None:
        self._graphs += 1
        for number, _, whole, value in fields(graph):
            if number == GRAPH_NODE:
                self.nodes.append(Node.read(value if folder is None else _inlined(value, folder)))
                _check_outputs(self.nodes[-1])
            elif number == GRAPH_INITIALIZER:
                tensor = Tensor(bytes(value), folder)
                self.initializers[tensor.name] = tensor
            elif number == GRAPH_OUTPUT:
                self._values.append((text_of(value, 1), bytes(value)))
            else:
                if number == GRAPH_INPUT:
                    self.inputs.append(text_of(value, 1))
                self._graph.append((self.inputs[-1] if number == GRAPH_INPUT else "", bytes(whole)))
        self.outputs = [name for name, _ in self._values]

    def _drop_inputs(self, names: Set[str]) -> None:
        """Before version 4 of the format all constants are inputs, too, which no caller sets."""
        self.inputs = [name for name in self.inputs if name not in names]
        self._graph = [(name, field) for name, field in self._graph if name not in names]

    # Queries

    def constant(self, name: str) -> Optional[Tensor]:
        """The constant of that name. An initializer that is also an input is none: a caller may set it."""
        return self.initializers.get(name) if name and name not in self.inputs else None

    def readers(self) -> Dict[str, List[Node]]:
        """The nodes that read each name; one that reads it within a subgraph is among them."""
        found: Dict[str, List[Node]] = {}
        for node in self.nodes:
            for name in {*node.inputs, *node.subgraph_reads()}:
                found.setdefault(name, []).append(node)
        return found

    def producers(self) -> Dict[str, Node]:
        return {name: node for node in self.nodes for name in node.outputs if name}

    # Changes

    def unique(self, name: str) -> str:
        """The name, with a number behind it if it is in use."""
        chosen, i = name, 1
        while chosen in self._names:
            i += 1
            chosen = f"{name}_{i}"
        self._names.add(chosen)
        return chosen

    def add(self, array: Any, name: str) -> str:
        """Adds an initializer. Returns its name."""
        name = self.unique(name)
        self.initializers[name] = Tensor(tensor_message(name, array))
        return name

    def shared(self, name: str, array: Any) -> str:
        """The initializer that an earlier call with the same name has added, or a new one. Returns its name."""
        if name not in self._shared:
            self._shared[name] = self.add(array, name)
        return self._shared[name]

    def set_initializer(self, name: str, tensor: Tensor) -> None:
        """Makes the tensor the initializer `name`."""
        others = b"".join(bytes(whole) for number, _, whole, _ in fields(memoryview(tensor.content)) if number != TENSOR_NAME)
        self.initializers[name] = Tensor(others + _put_text(TENSOR_NAME, name), tensor._folder)

    def add_output(self, name: str) -> None:
        """Makes a value an output, of unknown type and shape."""
        if name not in self.outputs:
            self.outputs.append(name)
            self._values.append((name, _put_text(1, name)))

    def remove_unused(self) -> None:
        """Removes the initializers that nothing reads."""
        used = {*self.readers(), *self.outputs, *self.inputs}
        self.initializers = {name: tensor for name, tensor in self.initializers.items() if name in used}

    # Writing

    def message(self, initializers: Optional[Iterable[bytes]] = None) -> bytes:
        tensors = (tensor.content for tensor in self.initializers.values()) if initializers is None else initializers
        graph = b"".join([*(put_bytes(GRAPH_NODE, node.message()) for node in self.nodes),
                          *(put_bytes(GRAPH_INITIALIZER, content) for content in tensors), *(field for _, field in self._graph),
                          *(put_bytes(GRAPH_OUTPUT, value) for _, value in self._values)])
        opsets = [put_bytes(MODEL_OPSET, _put_text(1, domain) + put_number(2, version))
                  for domain, version in self.opsets.items()]
        return b"".join([put_number(MODEL_IR, self.ir_version), *self._model, put_bytes(MODEL_GRAPH, graph), *opsets])

    def write(self, path: AnyPath, has_external_data: bool = False) -> None:
        """Writes the file, which may be the one that was read; with external data, initializers of 1 KB or more go to the file
        PATH.data. InvalidGraph: too large for one file."""
        path = os.fspath(path)
        if has_external_data:
            self._write_two(path)
            return
        content = self.inlined_message()
        if len(content) > MAX_ONNX:
            raise InvalidGraph(f"{path}: the model has {len(content)} bytes, a file at most {MAX_ONNX}: set use_external_data_format")
        with whole_file(path) as file:
            file.write(content)

    def _write_two(self, path: str) -> None:
        """Writes PATH and PATH.data, from which the initializers are read from then on."""
        written: Dict[str, Tensor] = {}
        location, folder = os.path.basename(path) + ".data", os.path.dirname(os.path.abspath(path))
        with whole_file(path) as file, whole_file(path + ".data") as data:
            for name, tensor in self.initializers.items():
                raw = tensor.external() if tensor.is_external() else tensor._raw()
                if raw is None or len(raw) < EXTERNAL_SIZE:
                    written[name] = Tensor(tensor.inlined())
                else:
                    written[name] = Tensor(tensor.without_data(location, data.tell(), len(raw)), folder)
                    data.write(raw)
            file.write(self.message(tensor.content for tensor in written.values()))
        self.initializers = written

    def inlined_message(self) -> bytes:
        """The message without external data."""
        return self.message([tensor.inlined() for tensor in self.initializers.values()])


def read(model: Any) -> Model:
    """Reads an ONNX file, its bytes, or a message with SerializeToString; returns a Model as it is."""
    if isinstance(model, Model):
        return model
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if isinstance(model, (bytes, bytearray, memoryview)):
        return Model(bytes(model))
    path = os.fspath(model)
    if not os.path.exists(path):
        raise NoSuchFile(f"{path}: no such file")
    with open(path, "rb") as file:
        return Model(file.read(), os.path.dirname(os.path.abspath(path)))
