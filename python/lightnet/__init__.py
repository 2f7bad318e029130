# SPDX-License-Identifier: Apache-2.0
"""LightNet: neural-network inference on the CPU. Where a name of onnxruntime exists, it means the same here.

    import lightnet as ort
    session = ort.InferenceSession("model.onnx")
    outputs = session.run(None, {session.get_inputs()[0].name: array})

Beyond it: Model, sessions that share it, deadline=, cancel(), profile(), and the functions convert, compile_model, quantize,
verify and explain.
"""
from . import _lightnet
from ._arrays import OrtValue, as_array, new_array
from ._errors import (Cancelled, Error, Fail, InputOutputError, InvalidArgument, InvalidGraph, InvalidProtobuf,
                      LimitReached, NoSuchFile, NotImplemented, RuntimeException, by_status)
from ._session import (PROVIDERS, ExecutionMode, GraphOptimizationLevel, InferenceSession, IOBinding, Model, ModelMetadata,
                       NodeArg, RunOptions, SessionOptions)

from ._tools import compile_model, convert, explain, quantize, verify

_lightnet.configure(by_status(_lightnet.statuses()), as_array, new_array)

__version__, build_info = _lightnet.version()


def get_available_providers():
    """["CPUExecutionProvider"]"""
    return list(PROVIDERS)


get_all_providers = get_available_providers


def get_device():
    return "CPU"


def get_build_info():
    """The build options of the library, one per line."""
    return build_info


def set_default_logger_severity(level):
    """Accepted: the library prints nothing."""


def set_seed(seed):
    """Accepted for compatibility; sessions take the option seed=."""


__all__ = ["Cancelled", "Error", "ExecutionMode", "Fail", "GraphOptimizationLevel", "IOBinding", "InferenceSession",
           "InputOutputError", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "LimitReached", "Model",
           "ModelMetadata", "NoSuchFile", "NodeArg", "NotImplemented", "OrtValue", "RunOptions", "RuntimeException",
           "SessionOptions", "compile_model", "convert", "explain", "get_all_providers", "get_available_providers", "get_build_info", "get_device",
           "quantize", "set_default_logger_severity", "set_seed", "verify"]
