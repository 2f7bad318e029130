# SPDX-License-Identifier: Apache-2.0
"""Changes of ONNX models, by the names of onnxruntime. Graphs and models are messages of the package onnx."""
from __future__ import annotations

import os
import pathlib
from typing import Any, Dict, Iterator, Optional, Sequence, Union

import onnx
from onnx import shape_inference, version_converter

from .._errors import InvalidArgument, warn
from .._options import GraphOptimizationLevel, SessionOptions
from .._session import InferenceSession

AnyPath = Union[str, "os.PathLike[str]"]


def get_opsets_imported(model: onnx.ModelProto) -> Dict[str, int]:
    """{domain: version} of the operator sets; that of ONNX is "ai.onnx"."""
    return {entry.domain or "ai.onnx": entry.version for entry in model.opset_import}


def update_onnx_opset(model_path: AnyPath, opset: int, out_path: Optional[AnyPath] = None, logger: Any = None) -> onnx.ModelProto:
    """The model with ONNX's operator set `opset`, also written to out_path."""
    model = version_converter.convert_version(onnx.load(os.fspath(model_path)), opset)
    if out_path is not None:
        onnx.save(model, os.fspath(out_path))
    return model


def optimize_model(model_path: AnyPath, output_path: AnyPath,
                   level: GraphOptimizationLevel = GraphOptimizationLevel.ORT_ENABLE_BASIC, log_level: int = 3,
                   use_external_initializers: bool = False) -> None:
    """Writes the model as a session with that level reads it, as SessionOptions.optimized_model_filepath."""
    options = SessionOptions()
    options.optimized_model_filepath = os.fspath(output_path)
    options.graph_optimization_level, options.log_severity_level = level, log_level
    InferenceSession(os.fspath(model_path), options)


def _dims(value: onnx.ValueInfoProto) -> Optional[Sequence[Any]]:
    """The dimensions of a tensor; None: it has no shape, or is no tensor."""
    kind = value.type.tensor_type
    return kind.shape.dim if value.type.HasField("tensor_type") and kind.HasField("shape") else None


def is_fixed_size_tensor(value: onnx.ValueInfoProto) -> bool:
    """Whether all sizes of a tensor are numbers."""
    dims = _dims(value)
    return dims is not None and all(dim.HasField("dim_value") for dim in dims)


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """The graph and its subgraphs."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in [attribute.g] * attribute.HasField("g") + list(attribute.graphs):
                yield from _graphs(inner)


def _check_size(size: int, what: str) -> None:
    if size < 0:
        raise InvalidArgument(f"{what} is {size}, expected a length of 0 or more")


def make_dim_param_fixed(graph: onnx.GraphProto, param_name: str, value: int) -> None:
    """The open size `param_name` becomes the number, in the graph and its subgraphs. InvalidArgument: it is negative.
    Warns where no size has this name."""
    _check_size(value, f"the value of '{param_name}'")
    dims = [dim for inner in _graphs(graph) for info in [*inner.input, *inner.output, *inner.value_info]
            for dim in _dims(info) or () if dim.dim_param == param_name]
    if not dims:
        warn(f"the graph has no open size '{param_name}': fixing it has no effect")
    for dim in dims:
        dim.Clear()
        dim.dim_value = value


def make_input_shape_fixed(graph: onnx.GraphProto, input_name: str, fixed_shape: Sequence[int]) -> None:
    """The input gets the shape, and its open sizes that number elsewhere. InvalidArgument: there is no such input, it is no tensor,
    or has another size."""
    found = [info for info in graph.input if info.name == input_name]
    if not found:
        raise InvalidArgument(f"the model has no input '{input_name}'; it has: {', '.join(info.name for info in graph.input)}")
    if not found[0].type.HasField("tensor_type"):
        raise InvalidArgument(f"input '{input_name}' is of type {found[0].type.WhichOneof('value')}, expected a tensor")
    for axis, size in enumerate(fixed_shape):
        _check_size(size, f"the length of axis {axis} of input '{input_name}'")
    dims = _dims(found[0])
    if dims is None:
        dims = [found[0].type.tensor_type.shape.dim.add() for _ in fixed_shape]
    if len(dims) != len(fixed_shape):
        raise InvalidArgument(f"input '{input_name}' has {len(dims)} dimensions, not {len(fixed_shape)}")
    for axis, (dim, size) in enumerate(zip(dims, fixed_shape)):
        if dim.HasField("dim_value") and dim.dim_value != size:
            raise InvalidArgument(f"axis {axis} of input '{input_name}' has length {dim.dim_value}, not {size}")
        if dim.dim_param:
            make_dim_param_fixed(graph, dim.dim_param, size)
        dim.Clear()
        dim.dim_value = size


def fix_output_shapes(model: onnx.ModelProto) -> None:
    """Outputs get the sizes that ONNX's shape inference finds for them."""
    inferred = shape_inference.infer_shapes(model, data_prop=True).graph.output
    for output, known in zip(model.graph.output, inferred):
        if not is_fixed_size_tensor(output) and is_fixed_size_tensor(known):
            output.CopyFrom(known)


def is_ort_format_model(path: AnyPath) -> bool:
    """Whether the file is of the ORT format, which LightNet does not read."""
    with open(path, "rb") as file:
        return file.read(8)[4:] == b"ORTM"


def path_match_suffix_ignore_case(path: AnyPath, suffix: str) -> bool:
    """Whether the path ends with the suffix."""
    return pathlib.Path(path).name.lower().endswith(suffix.lower())
