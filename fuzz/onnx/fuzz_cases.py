# SPDX-License-Identifier: Apache-2.0
"""Models that fuzz_onnx.py starts from: ONNX's own test data, and what the generators of tests/onnx yield."""
import copy
import glob
import importlib
import inspect
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tests/onnx"), os.path.join(ROOT, "tests/structure")]

import suite
from onnx_case import NUMPY, Part, opsets_of

# onnx 1.12 compares types with this name, which NumPy has dropped.
if "object" not in vars(np):
    np.object = object

DOMAINS = {"": "default", "com.microsoft": "com.microsoft", "ai.onnx.ml": "ai.onnx.ml"}
GENERATORS = ["algebra", "contrib_algebra", "contrib_attention", "contrib_fused", "contrib_quantized", "elementwise", "ml",
              "newest", "strings", "trees"]
MAX_NODES, MAX_ELEMENTS = 12, 20000
MAX_OPSET = 26  # of ONNX Runtime 1.30
TYPES = {"float16": TensorProto.FLOAT16, "float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE,
         "bool": TensorProto.BOOL, "int8": TensorProto.INT8, "int16": TensorProto.INT16, "int32": TensorProto.INT32,
         "int64": TensorProto.INT64, "uint8": TensorProto.UINT8, "uint16": TensorProto.UINT16,
         "uint32": TensorProto.UINT32, "uint64": TensorProto.UINT64}
ALL_TYPES = TYPES | {"object": TensorProto.STRING}  # strings are NumPy's objects
# The types that the binding of ONNX Runtime cannot pass: the model converts them from and to float.
CONVERTED = {"bfloat16": 16, "float8e4m3fn": 17, "float8e4m3fnuz": 18, "float8e5m2": 19, "float8e5m2fnuz": 20, "uint4": 21,
             "int4": 22, "float4e2m1": 23, "float8e8m0": 24, "uint2": 25, "int2": 26}
# Operators whose results are random, files, or maps.
LEFT_OUT = {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial", "ImageDecoder",
            "ZipMap"}


class Case:
    """A model in parts that can be changed: nodes, arrays by name, and the names of those that are constants."""

    def __init__(self, seed, nodes, arrays, constants, outputs, opsets, expected=None):
        """expected: the result arrays, or None where they are unknown. narrow: {name: type of CONVERTED}; open_sizes: the
        sizes of inputs are not in the model."""
        self.seed, self.nodes, self.arrays, self.constants = seed, nodes, arrays, set(constants)
        self.outputs, self.opsets, self.expected = outputs, opsets, expected
        self.narrow, self.open_sizes, self.changes = {}, False, []
        # What the seed is about: the node of the rarest domain, the last one of these.
        self.subject = max(nodes, key=lambda node: (node.domain not in ("", "ai.onnx"), node is nodes[-1])).op_type

    def copy(self):
        made = copy.copy(self)
        made.nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in self.nodes]
        made.arrays, made.constants, made.outputs = dict(self.arrays), set(self.constants), list(self.outputs)
        made.opsets, made.narrow, made.changes = dict(self.opsets), dict(self.narrow), list(self.changes)
        return made

    @property
    def main(self):
        """The node that the seed is about."""
        return [node for node in self.nodes if node.op_type == self.subject][-1]

    @property
    def domain(self):
        return self.main.domain

    def inputs(self):
        return {name: array for name, array in self.arrays.items() if name not in self.constants}

    def model(self):
        """The bytes of the ModelProto."""
        before, after, nodes, renamed = [], [], self.nodes, {}
        for name, kind in self.narrow.items():
            before.append(helper.make_node("Cast", [name], [name + "_narrow"], to=CONVERTED[kind]))
            renamed[name] = name + "_narrow"
        outputs = self.outputs
        if self.narrow:
            nodes = self.copy().nodes
            for node in nodes:
                node.input[:] = [renamed.get(name, name) for name in node.input]
            after = [helper.make_node("Cast", [name], [name + "_wide"], to=1) for name in outputs]
            outputs = [name + "_wide" for name in outputs]
        graph = onnx.GraphProto(name="graph", node=[*before, *nodes, *after])
        for name, array in self.arrays.items():
            if name in self.constants:
                graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
            else:
                dims = [f"{name}_{k}" for k in range(array.ndim)] if self.open_sizes else array.shape
                graph.input.append(helper.make_tensor_value_info(name, ALL_TYPES[array.dtype.name], dims))
        graph.output.extend(onnx.ValueInfoProto(name=name) for name in outputs)
        opsets = [helper.make_opsetid(domain, version) for domain, version in self.opsets.items()]
        return onnx.ModelProto(ir_version=10, graph=graph, opset_import=opsets).SerializeToString()


def array_of(path):
    """The array of a tensor file; None: of another type."""
    with open(path, "rb") as file:
        tensor = onnx.TensorProto.FromString(file.read())
    if tensor.data_type not in ALL_TYPES.values() or (not tensor.raw_data and not tensor.ListFields()):
        return None
    array = numpy_helper.to_array(tensor)
    return array if array.dtype.name in ALL_TYPES else None


def case_of_folder(name, folder):
    """A model of ONNX's test data, or None if it is large, or has other values than tensors."""
    model = onnx.load(os.path.join(folder, "model.onnx"))
    sets = sorted(glob.glob(os.path.join(folder, "test_data_set_*")))
    graph = model.graph
    if len(graph.node) > MAX_NODES or not sets or model.functions or LEFT_OUT & {node.op_type for node in graph.node}:
        return None
    fixed = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    names = [each.name for each in graph.input if each.name not in fixed]
    if any(not each.type.HasField("tensor_type") for each in [*graph.input, *graph.output]):
        return None
    files = [sorted(glob.glob(f"{sets[0]}/{kind}_*.pb"), key=lambda path: (len(path), path)) for kind in ("input", "output")]
    arrays = [array_of(path) for path in files[0]]
    if len(arrays) != len(names) or any(array is None for array in arrays):
        return None
    given = dict(zip(names, arrays)) | fixed
    if any(array.dtype.name not in ALL_TYPES for array in given.values()) or sum(a.size for a in given.values()) > MAX_ELEMENTS:
        return None
    opsets = {each.domain: each.version for each in model.opset_import}
    return Case(name, list(graph.node), given, fixed, [each.name for each in graph.output], opsets,
                [array_of(path) for path in files[1]])


def trains(case):
    """Whether it has a node of Dropout that drops elements, or would do so with another ratio."""
    modes = [node.input[2] for node in case.nodes if node.op_type == "Dropout" and len(node.input) > 2]
    return any(case.arrays[mode].any() for mode in modes if mode in case.arrays)


def suite_cases():
    for model in suite.collect(suite.DATA, "") if os.path.isdir(suite.DATA) else []:
        case = None if model.scope() else case_of_folder(model.name, model.folder)
        if case is not None and not trains(case):
            yield case


def case_of_part(name, part):
    """What a generator of tests/onnx yields, or None if it has other values than tensors of NumPy's types and strings."""
    types = NUMPY | {"string": object}
    nodes = [onnx.NodeProto.FromString(bytes(node)) for node in part.nodes]
    fixed = {key: np.array(values, types[kind]).reshape(dims) for key, (kind, dims, values) in part.constants.items()
             if kind in types}
    given = dict(sorted({**part.given, **fixed}.items()))  # the order of constants is that of a set
    given = {key: array.astype(object) if array.dtype.kind == "U" else array for key, array in given.items()}
    if len(fixed) < len(part.constants) or any(array.dtype.name not in ALL_TYPES for array in given.values()):
        return None
    if part.kind or LEFT_OUT & {node.op_type for node in nodes} or sum(array.size for array in given.values()) > MAX_ELEMENTS:
        return None
    opsets = opsets_of(part)
    if any(node.op_type in ("TreeEnsembleClassifier", "TreeEnsembleRegressor") for node in nodes):
        opsets["ai.onnx.ml"] = 3
    return Case(name, nodes, given, fixed, list(part.wanted), opsets, list(part.wanted.values()))


def generated_cases():
    for name in GENERATORS:
        module = importlib.import_module(name)
        for key, function in sorted(vars(module).items()):
            is_own = inspect.isgeneratorfunction(function) and function.__module__ == name
            if not is_own or inspect.signature(function).parameters:
                continue
            for k, part in enumerate(function()):
                case = case_of_part(f"{name}.{key} {k}", part) if isinstance(part, Part) else None
                if case is not None:
                    yield case


def by_operator():
    """{domain: {operator: its cases}}, in an order that does not change."""
    found = {domain: {} for domain in DOMAINS}
    for case in [*suite_cases(), *generated_cases()]:
        if case.domain in found and case.opsets.get("", 1) <= MAX_OPSET:
            found[case.domain].setdefault(case.main.op_type, []).append(case)
    return {domain: {name: found[domain][name] for name in sorted(found[domain])} for domain in found}
