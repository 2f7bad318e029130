# SPDX-License-Identifier: Apache-2.0
"""An ONNX model whose graph can be edited: nodes and initializers as objects, all other fields as the bytes of the file.

    model = read("model.onnx")
    model.nodes[0].inputs[0] = model.add(numpy.float32(2), "two")
    model.write("edited.onnx")
"""
from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, Optional, Set, Tuple

from .._errors import InvalidGraph, NoSuchFile
from .._files import MAX_ONNX, AnyPath, whole_file
from .._initializers import tensor_message
from .._protobuf import BYTES, VARINT, fields, put_bytes, put_number, put_text, text_of, varint
from ._node import GRAPH_NODE, GRAPH_OUTPUT, Node, inlined
from ._tensor import Tensor

# Numbers of fields.
MODEL_IR, MODEL_GRAPH, MODEL_OPSET = 1, 7, 8
GRAPH_INITIALIZER, GRAPH_INPUT = 5, 11
OWN_CONSTANTS = 4  # the version of the format from which on a constant need not be an input
EXTERNAL_SIZE = 1024  # bytes from which on the data of an initializer is in a file of its own, if any is


class Model:
    """A ModelProto. `nodes` are those of the main graph, in order, `initializers` its dense constants by name, `inputs` and
    `outputs` the names of its interface."""

    def __init__(self, content: bytes, folder: Optional[str] = None) -> None:
        self.nodes: List[Node] = []
        self.initializers: Dict[str, Tensor] = {}
        self.opsets: Dict[str, int] = {}
        self.inputs: List[str] = []
        self.outputs: List[str] = []
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
                self._read_opset(value)
            elif number == MODEL_IR and kind == VARINT:
                self.ir_version = varint(value, 0)[0]
            else:
                self._model.append(bytes(whole))
        if self._graphs != 1:
            raise InvalidGraph(f"the file is not an ONNX model: it has {self._graphs} graphs")
        if self.ir_version < OWN_CONSTANTS:
            self._drop_inputs(set(self.initializers))
            self.ir_version = OWN_CONSTANTS
        self._names = {name for node in self.nodes for name in [*node.inputs, *node.outputs, *node.subgraph_reads()]}
        self._names |= {*self.initializers, *self.inputs, *self.outputs, *(node.name for node in self.nodes)}

    def _read_opset(self, opset: memoryview) -> None:
        domain = text_of(opset, 1)
        versions = [varint(value, 0)[0] for number, kind, _, value in fields(opset) if (number, kind) == (2, VARINT)]
        self.opsets["" if domain == "ai.onnx" else domain] = versions[-1] if versions else 0

    def _read_graph(self, graph: memoryview, folder: Optional[str]) -> None:
        self._graphs += 1
        for number, _, whole, value in fields(graph):
            if number == GRAPH_NODE:
                self.nodes.append(Node.read(value if folder is None else inlined(value, folder)))
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
        self.initializers[name] = tensor.renamed(name)

    def add_output(self, name: str) -> None:
        """Makes a value an output, of unknown type and shape."""
        if name not in self.outputs:
            self.outputs.append(name)
            self._values.append((name, put_text(1, name)))

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
        opsets = [put_bytes(MODEL_OPSET, put_text(1, domain) + put_number(2, version))
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
                raw = tensor.external() if tensor.is_external() else tensor.raw()
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
