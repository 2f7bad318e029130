# SPDX-License-Identifier: Apache-2.0
"""LightNet: neural-network inference on the CPU. Names that onnxruntime also has are equivalent.

    import lightnet as ort
    session = ort.InferenceSession("model.onnx")
    outputs = session.run(None, {session.get_inputs()[0].name: array})

Beyond it: Model, sessions that share it, deadline=, cancel(), profile(), memory_plan(), and the functions convert,
compile_model, quantize, verify and explain.
"""
from __future__ import annotations

from typing import List, Tuple

from . import _lightnet
from ._arrays import OrtValue, as_array, kind_of, message_of, new_strings
from ._binding import IOBinding
from ._device import OrtDevice, SparseTensor
from ._errors import (Cancelled, EngineError, EPFail, Error, Fail, InputOutputError, InvalidArgument, InvalidGraph,
                      InvalidProtobuf, LimitReached, ModelLoadCanceled, ModelLoaded, ModelRequiresCompilation, NoModel,
                      NoSuchFile, NotImplemented, RuntimeException, by_status)
from ._options import DEFAULTS, ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions, SessionOptions
from ._plan import MemoryBlock, MemoryPlan
from ._quantize import QuantizationReport, QuantizedLayer, quantize
from ._session import PROVIDERS, InferenceSession, Model, ModelMetadata, NodeArg
from ._session import set_default_option as _set_default_option
from ._states import StatefulSession
from ._tools import compile_model, convert, explain, verify
from .capi import onnxruntime_pybind11_state as _state  # so that lightnet.capi exists, as in onnxruntime

_lightnet.configure(by_status(_lightnet.statuses()), as_array, kind_of, new_strings, message_of)

_versions: Tuple[str, str] = _lightnet.version()
__version__: str = _versions[0]


def get_version_string() -> str:
    """The version of the library, "1.2.3"."""
    return __version__


def get_build_info() -> str:
    """The build options of the library, one per line."""
    return _versions[1]


def get_available_providers() -> List[str]:
    """["CPUExecutionProvider"]"""
    return list(PROVIDERS)


def get_all_providers() -> List[str]:
    """["CPUExecutionProvider"]"""
    return list(PROVIDERS)


def get_device() -> str:
    """The device of sessions: CPU."""
    return "CPU"


def set_default_logger_severity(severity: int) -> None:
    """Above 2, the warnings of the engine are suppressed where a session's log_severity_level is -1. Default 2."""
    DEFAULTS["severity"] = severity


def set_default_logger_verbosity(verbosity: int) -> None:
    """Accepted: the library prints nothing."""


def set_seed(seed: int) -> None:
    """The option seed= of models that are opened later without it, so that their random operators draw the same numbers in
    each session."""
    _set_default_option("seed", int(seed) % 2 ** 64)


def enable_telemetry_events() -> None:
    """Accepted: there is no telemetry."""


def disable_telemetry_events() -> None:
    """Accepted: there is no telemetry."""


__all__ = ["Cancelled", "EPFail", "EngineError", "Error", "ExecutionMode", "ExecutionOrder", "Fail", "GraphOptimizationLevel",
           "IOBinding", "InferenceSession", "InputOutputError", "InvalidArgument", "InvalidGraph", "InvalidProtobuf",
           "LimitReached", "MemoryBlock", "MemoryPlan", "Model", "ModelLoadCanceled", "ModelLoaded", "ModelMetadata",
           "ModelRequiresCompilation", "NoModel", "NoSuchFile", "NodeArg", "OrtDevice", "OrtValue",
           "QuantizationReport", "QuantizedLayer", "RunOptions", "RuntimeException", "SessionOptions", "SparseTensor",
           "StatefulSession",
           "compile_model", "convert", "disable_telemetry_events", "enable_telemetry_events", "explain", "get_all_providers",
           "get_available_providers", "get_build_info", "get_device", "get_version_string", "quantize",
           "set_default_logger_severity", "set_default_logger_verbosity", "set_seed", "verify"]

# `from lightnet import *` must not hide Python's own NotImplemented.
_NAMES = [*__all__, "NotImplemented"]


def __dir__() -> List[str]:
    return sorted([*_NAMES, "__doc__", "__file__", "__name__", "__path__", "__version__", "capi"])


for _name in _NAMES:  # exceptions and classes print as lightnet.NAME
    if isinstance(globals()[_name], type) and globals()[_name].__module__.startswith(__name__ + "."):
        globals()[_name].__module__ = __name__
del _name
