# SPDX-License-Identifier: Apache-2.0
"""Reads from an ONNX file its operators, their opset, and the types of their inputs, and tensor files, without other packages."""
import struct

DTYPES = {1: "float", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string", 9: "bool",
          10: "float16", 11: "double", 12: "uint32", 13: "uint64", 16: "bfloat16"}
FORMATS = {"float": "<f", "double": "<d", "bool": "<?"}  # of struct


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """The fields of a message: pairs of number and value (bytes, or an int)."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = 8 if tag & 7 == 1 else 4
            value, at = data[at:at + size], at + size
        yield tag >> 3, value


def all_of(message, number):
    return [value for k, value in fields(message) if k == number]


def one_of(message, number, default=b""):
    return next(iter(all_of(message, number)), default)


def text_of(message, number):
    value = one_of(message, number)
    return value.decode(errors="replace")


def value_types(graph):
    """Name -> dtype of the values whose types the graph states."""
    types = {}
    for number in (11, 12, 13):
        for info in all_of(graph, number):
            tensor = one_of(one_of(info, 2), 1)
            types[text_of(info, 1)] = DTYPES.get(one_of(tensor, 1, 0))
    for tensor in all_of(graph, 5):
        types[text_of(tensor, 8)] = DTYPES.get(one_of(tensor, 2, 0))
    return types


def nodes(graph, outer=()):
    """(operator, dtype of its first input or None) of all nodes, those of graphs within nodes too."""
    types = {**dict(outer), **value_types(graph)}
    for node in all_of(graph, 1):
        domain = text_of(node, 7)
        operator = (domain + "." if domain not in ("", "ai.onnx") else "") + text_of(node, 4)
        yield operator, types.get(text_of(node, 1))
        for attribute in all_of(node, 5):
            for inner in all_of(attribute, 6):
                yield from nodes(inner, types.items())


def survey(path):
    """The opset of a model, and its nodes."""
    with open(path, "rb") as file:
        model = file.read()
    opset = 1
    for imported in all_of(model, 8):
        if text_of(imported, 1) in ("", "ai.onnx"):
            opset = one_of(imported, 2, 1)
    return opset, list(nodes(one_of(model, 7)))


def input_names(path):
    """The names of a model's inputs, without initializers."""
    with open(path, "rb") as file:
        graph = one_of(file.read(), 7)
    initialized = {text_of(tensor, 8) for tensor in all_of(graph, 5)}
    return [name for name in (text_of(info, 1) for info in all_of(graph, 11)) if name not in initialized]


def attribute_names(path):
    """The names of the attributes of a model's nodes, without those in subgraphs."""
    with open(path, "rb") as file:
        graph = one_of(file.read(), 7)
    return {text_of(attribute, 1) for node in all_of(graph, 1) for attribute in all_of(node, 5)}


def tensor_of(path):
    """The type, the shape and the elements of a tensor file with raw data of a type of FORMATS."""
    with open(path, "rb") as file:
        tensor = file.read()
    dtype = DTYPES[one_of(tensor, 2, 0)]
    return dtype, all_of(tensor, 1), [element for element, in struct.iter_unpack(FORMATS[dtype], one_of(tensor, 9))]
