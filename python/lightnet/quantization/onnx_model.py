# SPDX-License-Identifier: Apache-2.0
"""The model of a quantizer that has not written it yet."""
from __future__ import annotations

from typing import Any

from ._graph import Model, read


class ONNXModel:
    """A model: a file, bytes, or a message."""

    def __init__(self, model: Any) -> None:
        self._model: Model = read(model)

    @property
    def model(self) -> Any:
        """The onnx.ModelProto. Needs the package onnx."""
        import onnx
        return onnx.load_model_from_string(self._model.inlined_message())

    def save_model_to_file(self, output_path: Any, use_external_data_format: bool = False) -> None:
        """Writes the file; with external data, initializers of 1 KB or more go to the file PATH.data."""
        self._model.write(output_path, use_external_data_format)
