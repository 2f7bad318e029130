# SPDX-License-Identifier: Apache-2.0
"""LightNet: neural-network inference on the CPU. Names that onnxruntime also has are equivalent.

    import lightnet as ort
    session = ort.InferenceSession("model.onnx")
    outputs = session.run(None, {session.get_inputs()[0].name: array})

Beyond it: Model, sessions that share it, deadline=, cancel(), profile(), memory_plan(), and the functions convert,
compile_model, quantize, verify, explain and report. as_onnxruntime() makes `import onnxruntime` import LightNet.
"""
from __future__ import annotations

from typing import Any, Dict, List, Tuple

from . import _lightnet
from ._arrays import OrtValue, as_array, copy_tensors, kind_of, message_of, new_strings
from ._binding import IOBinding, SessionIOBinding
from ._device import (OrtAllocatorType, OrtArenaCfg, OrtDevice, OrtDeviceMemoryType, OrtEpAssignedNode, OrtEpAssignedSubgraph,
                      OrtEpDevice, OrtHardwareDevice, OrtHardwareDeviceType, OrtMemoryInfo, OrtMemoryInfoDeviceType, OrtMemType,
                      OrtSparseFormat, create_and_register_allocator, create_and_register_allocator_v2, get_ep_devices)
from ._errors import (Cancelled, EngineError, EPFail, Error, Fail, InputOutputError, InvalidArgument, InvalidGraph,
                      InvalidProtobuf, LimitReached, ModelLoadCanceled, ModelLoaded, ModelRequiresCompilation, NoModel,
                      NoSuchFile, NotFound, NotImplemented, RuntimeException, by_status)
from ._options import (DEFAULTS, ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions, SessionOptions,
                       set_global_thread_pool_sizes)
from ._plan import MemoryBlock, MemoryPlan
from ._session import PROVIDERS, InferenceSession, Model, ModelMetadata, NodeArg
from ._session import set_default_option as _set_default_option

_lightnet.configure(by_status(_lightnet.statuses()), as_array, kind_of, new_strings, message_of)

_versions: Tuple[str, str] = _lightnet.version()
__version__: str = _versions[0]
__author__: str = "The LightNet authors"


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


# Modules that few programs need, and what they define: imported when a name is used first.
_LAZY: Dict[str, Tuple[str, ...]] = {
    "_adapters": ("AdapterFormat", "LoraAdapter"),
    "_compiler": ("ModelCompiler", "OrtCompileApiFlags"),
    "_detect": ("Detection", "Detections", "class_map", "detections"),
    "_environment": ("cuda_version", "has_collective_ops", "package_name", "preload_dlls", "print_debug_info", "version"),
    "_onnxruntime": ("as_onnxruntime",),
    "_quantize": ("QuantizationReport", "QuantizedLayer", "quantize"),
    "_sparse": ("SparseTensor",),
    "_states": ("StatefulSession",),
    "_tools": ("compile_model", "convert", "explain", "report", "verify"),
    "capi": ("capi",),
}
_MODULES: Dict[str, str] = {name: module for module, names in _LAZY.items() for name in names}


def _adopt(value: Any) -> None:
    """Exceptions and classes print as lightnet.NAME."""
    if isinstance(value, type) and value.__module__.startswith(__name__ + "._"):
        value.__module__ = __name__


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from importlib import import_module
    module = import_module(f".{_MODULES[name]}", __name__)
    if name == _MODULES[name]:
        return module
    value = globals()[name] = getattr(module, name)
    _adopt(value)
    return value


__all__ = ["AdapterFormat", "Cancelled", "Detection", "Detections", "EPFail", "EngineError", "Error", "ExecutionMode",
           "ExecutionOrder", "Fail", "GraphOptimizationLevel", "IOBinding", "InferenceSession", "InputOutputError",
           "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "LimitReached", "LoraAdapter", "MemoryBlock", "MemoryPlan",
           "Model", "ModelCompiler", "ModelLoadCanceled", "ModelLoaded", "ModelMetadata", "ModelRequiresCompilation",
           "NoModel", "NoSuchFile", "NodeArg", "NotFound", "OrtAllocatorType", "OrtArenaCfg", "OrtCompileApiFlags",
           "OrtDevice", "OrtDeviceMemoryType", "OrtEpAssignedNode", "OrtEpAssignedSubgraph", "OrtEpDevice",
           "OrtHardwareDevice", "OrtHardwareDeviceType", "OrtMemType", "OrtMemoryInfo", "OrtMemoryInfoDeviceType",
           "OrtSparseFormat", "OrtValue", "QuantizationReport", "QuantizedLayer", "RunOptions", "RuntimeException",
           "SessionIOBinding", "SessionOptions", "SparseTensor", "StatefulSession", "as_onnxruntime", "class_map",
           "compile_model", "convert", "copy_tensors", "create_and_register_allocator", "create_and_register_allocator_v2",
           "cuda_version", "detections", "disable_telemetry_events", "enable_telemetry_events", "explain",
           "get_all_providers", "get_available_providers", "get_build_info", "get_device", "get_ep_devices",
           "get_version_string", "has_collective_ops", "package_name", "preload_dlls", "print_debug_info", "quantize",
           "report", "set_default_logger_severity", "set_default_logger_verbosity", "set_global_thread_pool_sizes",
           "set_seed", "verify", "version"]

# `from lightnet import *` must not hide Python's own NotImplemented.
_NAMES = [*__all__, "NotImplemented"]


def __dir__() -> List[str]:
    return sorted([*_NAMES, "__author__", "__doc__", "__file__", "__name__", "__path__", "__version__", "capi"])


for _name in _NAMES:
    _adopt(globals().get(_name))
del _name
