# SPDX-License-Identifier: Apache-2.0
"""Of onnxruntime's module of this name, what prepares models: fixed sizes, operator sets, shapes. It needs the package onnx."""
