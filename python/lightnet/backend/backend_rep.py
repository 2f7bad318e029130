# SPDX-License-Identifier: Apache-2.0
"""A model that is ready to run, by the name of onnxruntime."""
from onnx.backend.base import BackendRep

from .._errors import InvalidArgument
from .._options import RunOptions


def with_attributes(options, values):
    """The options, with those values that are attributes of them."""
    for name, value in values.items():
        if hasattr(options, name):
            setattr(options, name, value)
    return options


class OnnxRuntimeBackendRep(BackendRep):
    """A model that is ready to run."""

    def __init__(self, session):
        self._session = session

    def run(self, inputs, **kwargs):
        """The outputs, a list. inputs: a list in the order of get_inputs(), or one array. kwargs: attributes of RunOptions."""
        names = [value.name for value in self._session.get_inputs()]
        arrays = inputs if isinstance(inputs, (list, tuple)) else [inputs]
        if len(arrays) != len(names):
            raise InvalidArgument(f"{len(arrays)} inputs are given, expected {len(names)}: {', '.join(names)}")
        return self._session.run(None, dict(zip(names, arrays)), with_attributes(RunOptions(), kwargs))
