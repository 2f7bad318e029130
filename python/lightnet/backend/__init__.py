# SPDX-License-Identifier: Apache-2.0
"""ONNX's backend interface, by the names of onnxruntime. It needs the package onnx; `lightnet.onnx_backend` has all of it.

    import lightnet.backend as backend
    outputs = backend.prepare(onnx.load("model.onnx")).run(array)
"""
from .backend import is_compatible, prepare, run, supports_device

__all__ = ["is_compatible", "prepare", "run", "supports_device"]
