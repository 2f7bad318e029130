# SPDX-License-Identifier: Apache-2.0
"""The modules that programs import from onnxruntime.capi, each imported when it is used first."""
from importlib import import_module
from types import ModuleType

_MODULES = ("_pybind_state", "onnxruntime_inference_collection", "onnxruntime_pybind11_state", "onnxruntime_validation")


def __getattr__(name: str) -> ModuleType:
    if name not in _MODULES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return import_module(f".{name}", __name__)
