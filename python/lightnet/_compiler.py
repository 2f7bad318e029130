# SPDX-License-Identifier: Apache-2.0
"""ModelCompiler, by the name and signature of onnxruntime: writes compiled models of LightNet (docs/compiled-models.md)."""
from __future__ import annotations

import enum
import os
import pathlib
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from ._errors import InvalidArgument, NoSuchFile, warn
from ._options import GraphOptimizationLevel, SessionOptions
from ._session import Model, _merged
from ._tools import compile_model

if TYPE_CHECKING:
    from ._session import Source


class OrtCompileApiFlags(enum.IntFlag):
    """Flags of ModelCompiler."""

    NONE = 0
    ERROR_IF_NO_NODES_COMPILED = 1  # LightNet compiles all nodes
    ERROR_IF_OUTPUT_FILE_EXISTS = 2


class ModelCompiler:
    """Compiles a model for this CPU; InferenceSession opens the result. A compiled model holds its data itself, so
    embed_compiled_data_into_model, external_initializers_* and get_initializer_location_func have no effect; it is optimized at
    each graph_optimization_level. Sizes that are open need sess_options.add_free_dimension_override_by_name, or stay open up to a
    bound with the entry "lightnet.shape"."""

    def __init__(self, sess_options: SessionOptions, input_model_path_or_bytes: Source,
                 embed_compiled_data_into_model: bool = False,
                 external_initializers_file_path: Union[str, os.PathLike[str], None] = None,
                 external_initializers_size_threshold: int = 1024, flags: int = OrtCompileApiFlags.NONE,
                 graph_optimization_level: GraphOptimizationLevel = GraphOptimizationLevel.ORT_ENABLE_ALL,
                 get_initializer_location_func: Optional[Callable[..., Any]] = None) -> None:
        if not isinstance(sess_options, SessionOptions):
            raise TypeError(f"sess_options is of type {type(sess_options).__name__}, expected SessionOptions")
        self._options = _merged({}, sess_options._pairs())
        if self._options.pop("unoptimized", None) or graph_optimization_level == GraphOptimizationLevel.ORT_DISABLE_ALL:
            warn("ORT_DISABLE_ALL has no effect: compiled models are optimized")
        self._model = Model(input_model_path_or_bytes, *sess_options._changes())
        self._flags = OrtCompileApiFlags(flags)

    def compile_to_file(self, output_model_path: Union[str, os.PathLike[str], None] = None) -> None:
        """Writes the compiled model; None: beside the model, of the suffix _ctx.onnx. InvalidArgument: there is a file already,
        and flags has ERROR_IF_OUTPUT_FILE_EXISTS; or the model has no path."""
        if output_model_path is None and self._model.path is None:
            raise InvalidArgument("the model has no path; pass output_model_path")
        to = output_model_path or f"{os.path.splitext(self._model.path or '')[0]}_ctx.onnx"
        if self._flags & OrtCompileApiFlags.ERROR_IF_OUTPUT_FILE_EXISTS and os.path.exists(to):
            raise InvalidArgument(f"{os.fsdecode(to)}: the file exists already")
        folder = os.path.dirname(os.path.realpath(os.fsdecode(to)))
        if not os.path.isdir(folder):
            raise NoSuchFile(f"{os.fsdecode(to)}: no such folder")
        with tempfile.TemporaryDirectory(prefix=".lightnet-", dir=folder) as made:
            os.replace(self._compiled(made), os.path.realpath(os.fsdecode(to)))

    def compile_to_bytes(self) -> bytes:
        """The compiled model."""
        with tempfile.TemporaryDirectory(prefix="lightnet-") as made:
            return self._compiled(made).read_bytes()

    def _compiled(self, folder: str) -> pathlib.Path:
        """Writes the compiled model to a file in the folder, with the suffix that compile_model demands."""
        path = pathlib.Path(folder, "compiled.safetensors")
        compile_model(self._model, path, **self._options)
        return path

    def compile_to_stream(self, write_function: Callable[[bytes], Any]) -> None:
        """Calls write_function(bytes) with the compiled model."""
        write_function(self.compile_to_bytes())
