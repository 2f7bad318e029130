# SPDX-License-Identifier: Apache-2.0
"""The backend, by the name of onnxruntime."""
import os

from onnx.backend.base import Backend

from .._errors import InvalidArgument
from .._options import SessionOptions
from .._session import InferenceSession
from .backend_rep import OnnxRuntimeBackendRep, with_attributes


class OnnxRuntimeBackend(Backend):
    """See onnx.backend.base.Backend. The functions of this module are its methods."""

    @classmethod
    def supports_device(cls, device):
        """Whether it is "CPU"."""
        return device == "CPU"

    @classmethod
    def is_compatible(cls, model, device=None, **kwargs):
        """Whether the device is supported."""
        return device is None or cls.supports_device(device)

    @classmethod
    def is_opset_supported(cls, model):
        """(True, ""): opening a model of a newer operator set warns."""
        return True, ""

    @classmethod
    def prepare(cls, model, device=None, **kwargs):
        """The model, ready to run: a ModelProto, a path, its bytes, a session, or what this function returns. kwargs: attributes
        of SessionOptions. Raises what InferenceSession raises; InvalidArgument: the device."""
        if device is not None and not cls.supports_device(device):
            raise InvalidArgument(f"device '{device}', expected 'CPU'")
        if isinstance(model, OnnxRuntimeBackendRep):
            return model
        if isinstance(model, InferenceSession):
            return OnnxRuntimeBackendRep(model)
        source = model if isinstance(model, (str, bytes, os.PathLike)) else model.SerializeToString()
        return OnnxRuntimeBackendRep(InferenceSession(source, with_attributes(SessionOptions(), kwargs)))

    @classmethod
    def run_model(cls, model, inputs, device=None, **kwargs):
        """prepare(model, device, **kwargs).run(inputs, **kwargs)"""
        return cls.prepare(model, device, **kwargs).run(inputs, **kwargs)

    @classmethod
    def run_node(cls, node, inputs, device=None, outputs_info=None, **kwargs):
        """The outputs of one node, as lightnet.onnx_backend.run_node."""
        from .. import onnx_backend
        return onnx_backend.run_node(node, inputs, device or "CPU", outputs_info, **kwargs)


is_compatible = OnnxRuntimeBackend.is_compatible
prepare = OnnxRuntimeBackend.prepare
run = OnnxRuntimeBackend.run_model
supports_device = OnnxRuntimeBackend.supports_device
