# SPDX-License-Identifier: Apache-2.0
"""The file of SessionOptions.optimized_model_filepath."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ._errors import NotImplemented, warn
from ._external import beside, files_of, with_files
from ._files import MAX_ONNX, whole_file
from ._sequences import interface_of

if TYPE_CHECKING:
    from ._session import Model


def write_model(model: Model, path: str) -> None:
    """Writes an ONNX model as it was given, with the data of its other files. Warns that it is not optimized."""
    content = model._changed_bytes() or model._read()
    if interface_of(None, content) is None:
        raise NotImplemented(f"optimized_model_filepath: the model is of the format {model.metadata['format']}, expected ONNX")
    sources = {name: beside(os.path.dirname(model.path or "") or ".", name) for name in files_of(content)}
    if sum(os.path.getsize(source) for source in sources.values()) + len(content) > MAX_ONNX:
        raise NotImplemented("optimized_model_filepath: the model and its data are larger than an ONNX file of 2 GB")
    files = {}
    for name, source in sources.items():
        with open(source, "rb") as file:
            files[name] = file.read()
    with whole_file(path) as file:  # it may be the model's
        file.write(with_files(content, files))
    warn(f"optimized_model_filepath: '{path}' has the model without optimizations, which no file of ONNX can hold")
