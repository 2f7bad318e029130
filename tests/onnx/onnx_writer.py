# SPDX-License-Identifier: Apache-2.0
"""Writes ONNX models, without any library: the messages of onnx.proto, each as its bytes.

    add = node("Add", ["x", "one"], ["y"])
    whole = graph([add], [value("x", "float", [2, "n"])], [value("y", "float", [2, "n"])],
                  [tensor("one", "float", [], [1])])
    file.write(model(whole, opset=17))

Attributes are keyword arguments of a node: an int, a float, a str, a list of one of these, a tensor(...), a graph(...),
or ref(NAME, KIND), within a function, for the attribute NAME of its call.
"""
import struct

# TensorProto.DataType, and how struct writes an element.
DTYPES = {"float": (1, "f"), "uint8": (2, "B"), "int8": (3, "b"), "uint16": (4, "H"), "int16": (5, "h"),
          "int32": (6, "i"), "int64": (7, "q"), "bool": (9, "?"), "float16": (10, "e"), "double": (11, "d"),
          "uint32": (12, "I"), "uint64": (13, "Q"), "bfloat16": (16, "H"), "float8e4m3fn": (17, "B"),
          "float8e4m3fnuz": (18, "B"), "float8e5m2": (19, "B"), "float8e5m2fnuz": (20, "B"), "float8e8m0": (24, "B"),
          "string": (8, None)}
# Types whose elements lie side by side in bytes, the first in the lowest bits: their code, and bits.
PACKED = {"uint4": (21, 4), "int4": (22, 4), "float4e2m1": (23, 4), "uint2": (25, 2), "int2": (26, 2)}
# AttributeProto.AttributeType
KINDS = {"FLOAT": 1, "INT": 2, "STRING": 3, "TENSOR": 4, "GRAPH": 5, "FLOATS": 6, "INTS": 7, "STRINGS": 8,
         "SPARSE_TENSOR": 11, "TYPE_PROTO": 13}


class Tensor(bytes):
    """A TensorProto."""


class SparseTensor(bytes):
    """A SparseTensorProto."""


class Type(bytes):
    """A TypeProto."""


class Graph(bytes):
    """A GraphProto."""


class Node(bytes):
    """A NodeProto, and its parts."""


class Ref(tuple):
    """The name and the kind of a function's attribute."""


def varint(number):
    """Seven bits a byte, lowest first; negative numbers as 64 bits."""
    number &= (1 << 64) - 1
    out = b""
    while number > 0x7f:
        out += bytes([number & 0x7f | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    """A field of a message: an int, a float, or bytes or str with their length before them."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def repeated(number, values):
    return b"".join(field(number, value) for value in values)


def packed(values, bits):
    """The bytes of elements of 2 or 4 bits."""
    out = bytearray((len(values) * bits + 7) // 8)
    for i, element in enumerate(values):
        out[i * bits // 8] |= (element & (1 << bits) - 1) << i * bits % 8
    return bytes(out)


def tensor(name, dtype, dims, values):
    """A constant; elements of bfloat16 and smaller floats are given as their bits, strings as str or bytes."""
    if dtype == "string":
        return Tensor(repeated(1, dims) + field(2, DTYPES[dtype][0]) + repeated(6, values) + field(8, name))
    if dtype in PACKED:
        code, raw = PACKED[dtype][0], packed(values, PACKED[dtype][1])
    else:
        code, letter = DTYPES[dtype]
        raw = struct.pack(f"<{len(values)}{letter}", *values)
    return Tensor(repeated(1, dims) + field(2, code) + field(8, name) + field(9, raw))


def sparse_tensor(dims, values, indices):
    """A tensor of zeros but for `values` (a tensor) at `indices` (a tensor)."""
    return SparseTensor(field(1, values) + field(2, indices) + repeated(3, dims))


def tensor_type(dtype, dims=None):
    """A str is a dimension's name; `dims` None: no shape."""
    kind = field(1, (DTYPES | PACKED)[dtype][0])
    if dims is not None:
        kind += field(2, repeated(1, [field(2 if isinstance(dim, str) else 1, dim) for dim in dims]))
    return Type(field(1, kind))


def sequence_type(element):
    return Type(field(4, field(1, element)))


def optional_type(element):
    return Type(field(9, field(1, element)))


def typed(name, kind):
    """An input or output of any type."""
    return field(1, name) + field(2, kind)


def value(name, dtype, dims=None):
    """An input or output that is a tensor."""
    return typed(name, tensor_type(dtype, dims))


def sequence_file(tensors):
    """A SequenceProto of tensor()s."""
    return field(1, "sequence") + field(2, 1) + repeated(3, tensors)


def optional_file(element):
    """An OptionalProto: of a tensor(), of the bytes of a sequence_file(), or None."""
    kind, number = (1, 3) if isinstance(element, Tensor) else (3, 5)
    return field(1, "optional") + (field(2, 0) if element is None else field(2, kind) + field(number, element))


def attribute(name, given):
    """One of the fields of AttributeProto, by the type of the value."""
    if isinstance(given, Ref):
        return field(1, name) + field(20, KINDS[given[1]]) + field(21, given[0])
    one = given[0] if isinstance(given, list) and given else given
    kind, number = {int: ("INT", 3), bool: ("INT", 3), float: ("FLOAT", 2), str: ("STRING", 4),
                    Tensor: ("TENSOR", 5), Type: ("TYPE_PROTO", 14), SparseTensor: ("SPARSE_TENSOR", 22), Graph: ("GRAPH", 6), list: ("INT", 3)}[type(one)]
    if isinstance(given, list):
        kind, number = kind + "S", {"INT": 8, "FLOAT": 7, "STRING": 9}[kind]
    fields = repeated(number, given) if isinstance(given, list) else field(number, given)
    return field(1, name) + fields + field(20, KINDS[kind])


def ref(name, kind):
    return Ref((name, kind))


def node(op_type, inputs, outputs, *, name="", domain="", overload="", **attributes):
    made = Node(repeated(1, inputs) + repeated(2, outputs) + field(3, name) + field(4, op_type) +
                repeated(5, [attribute(key, given) for key, given in attributes.items()]) + field(7, domain) +
                field(8, overload))
    made.op_type, made.inputs, made.outputs = op_type, inputs, outputs
    made.options = dict(name=name, domain=domain, overload=overload, **attributes)
    return made


def renamed(given, new_name):
    """The node with other inputs and outputs, except in graphs of its attributes."""
    return node(given.op_type, [new_name(name) for name in given.inputs], [new_name(name) for name in given.outputs],
                **given.options)


def graph(nodes, inputs, outputs, initializers=(), name="graph"):
    """Inputs and outputs are made by value()."""
    return Graph(repeated(1, nodes) + field(2, name) + repeated(5, initializers) + repeated(11, inputs) +
                 repeated(12, outputs))


def opsets(versions):
    """The bytes of OperatorSetIdProto for each domain; an int: of ONNX's own domain."""
    versions = {"": versions} if isinstance(versions, int) else versions
    return [field(1, domain) + field(2, version) for domain, version in versions.items()]


def function(domain, name, inputs, outputs, nodes, *, opset=17, attributes=(), defaults=None, overload=""):
    """`attributes`: names without a default; `defaults`: name -> value."""
    return (field(1, name) + repeated(4, inputs) + repeated(5, outputs) + repeated(6, attributes) +
            repeated(7, nodes) + repeated(9, opsets(opset)) + field(10, domain) +
            repeated(11, [attribute(key, given) for key, given in (defaults or {}).items()]) + field(13, overload))


def model(main, *, opset=17, functions=(), ir_version=8):
    """`opset`: of ONNX's own domain, or domain -> version."""
    return field(1, ir_version) + field(7, main) + repeated(8, opsets(opset)) + repeated(25, functions)
