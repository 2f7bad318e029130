# SPDX-License-Identifier: Apache-2.0
"""The exceptions under the module name of onnxruntime, for programs that import them from there:

    from lightnet.capi.onnxruntime_pybind11_state import InvalidArgument, NoSuchFile
"""
from .._errors import (EngineError, EPFail, Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, ModelLoadCanceled, ModelLoaded,
                       ModelRequiresCompilation, NoModel, NoSuchFile, NotImplemented, RuntimeException)

__all__ = ["EPFail", "EngineError", "Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "ModelLoadCanceled",
           "ModelLoaded", "ModelRequiresCompilation", "NoModel", "NoSuchFile", "NotImplemented", "RuntimeException"]
