# SPDX-License-Identifier: Apache-2.0
"""What programs import from the module of this name of onnxruntime, such as its exceptions:

    from lightnet.capi.onnxruntime_pybind11_state import InvalidArgument, NoSuchFile

The classes are those of the package. InferenceSession is that of onnxruntime's module: it opens the model in
initialize_session.
"""
from __future__ import annotations

import ctypes
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import lightnet as _package
from lightnet import *  # noqa: F401,F403
from lightnet import NotImplemented  # noqa: F401  pylint: disable=redefined-builtin

from .. import _lightnet
from .._arrays import OrtValueVector  # noqa: F401
from .._blockwise import quantize_matmul_2bits, quantize_matmul_4bits, quantize_matmul_8bits  # noqa: F401
from .._device import PROVIDER
from .._errors import InvalidArgument
from .._options import SessionOptions

_Session = _package.InferenceSession


def get_default_session_options() -> SessionOptions:
    """New options, with default values."""
    return SessionOptions()


class _DLTensor(ctypes.Structure):
    """The first members of a DLTensor (dlpack.h)."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


DLPACK_UINT = 1  # kDLUInt
# The names of DLPack's capsules, and where their DLTensor is: after the version, two pointers and flags, or first.
_CAPSULES = {b"dltensor": 0, b"dltensor_versioned": 2 * ctypes.sizeof(ctypes.c_void_p) + 16}
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


def is_dlpack_uint8_tensor(dlpack: Any) -> bool:
    """Whether a DLPack capsule, which stays valid, is a tensor of uint8, which may be bools. TypeError: it is not, or no longer, a
    capsule of DLPack."""
    capsule = dlpack.__dlpack__() if hasattr(dlpack, "__dlpack__") else dlpack
    name = next((name for name in _CAPSULES if _is_valid(capsule, name)), None)
    if name is None:
        raise TypeError(f"DLPack: the {type(dlpack).__name__} is not a capsule of a tensor that is still to be read")
    tensor = _DLTensor.from_address(_pointer_of(capsule, name) + _CAPSULES[name])
    return (tensor.code, tensor.bits, tensor.lanes) == (DLPACK_UINT, 8, 1)


class KernelDef(NamedTuple):
    """An operator that a provider has. type_constraints: {}, LightNet lists no types."""

    op_name: str
    domain: str  # "": ONNX's own
    version_range: Tuple[int, int]
    provider: str
    type_constraints: Dict[str, List[str]]


def get_all_opkernel_def() -> List[KernelDef]:
    """The operators of ONNX models that LightNet has, each in all operator sets that define it."""
    return [KernelDef(name, "" if domain == "ai.onnx" else domain, (1, 2 ** 31 - 1), PROVIDER, {})
            for name, domain in dict.fromkeys(_lightnet.operators())]


class OpSchema(NamedTuple):
    """An operator of a domain that the package onnx does not define."""

    name: str
    domain: str
    since_version: int


def get_all_operator_schema() -> List[Any]:
    """The schemas of these operators: onnx.defs.OpSchema in each version that the package onnx defines, others OpSchema. It needs
    that package."""
    from onnx import defs
    known = {(kernel.op_name, kernel.domain) for kernel in get_all_opkernel_def()}
    schemas = [schema for schema in defs.get_all_schemas_with_history() if (schema.name, schema.domain) in known]
    others = known - {(schema.name, schema.domain) for schema in schemas}
    return schemas + [OpSchema(name, domain, 1) for name, domain in sorted(others)]


class InferenceSession:
    """A session that is opened in two steps."""

    def __init__(self, sess_options: SessionOptions, path_or_bytes: Any, is_path: bool = True,
                 read_config_from_model: bool = False) -> None:
        self._arguments = path_or_bytes, sess_options
        self._opened: Optional[_Session] = None

    @classmethod
    def _of(cls, session: _Session) -> InferenceSession:
        """The view of a session that is open."""
        made = cls.__new__(cls)
        made._opened = session
        return made

    def initialize_session(self, providers: Sequence[str] = (), provider_options: Sequence[Mapping[str, str]] = (),
                           disabled_optimizers: Iterable[str] = ()) -> None:
        """Opens the model. Raises what the InferenceSession of the package raises."""
        self._opened = _Session(*self._arguments, providers=list(providers) or None,
                                disabled_optimizers=list(disabled_optimizers) or None)

    @property
    def _session(self) -> _Session:
        if self._opened is None:
            raise InvalidArgument("the session is not open: call initialize_session first")
        return self._opened

    def run_with_ort_values(self, feeds: Mapping[str, Any], output_names: Sequence[str], run_options: Any = None) -> OrtValueVector:
        """As the package's, with other arguments."""
        return OrtValueVector(self._session.run_with_ort_values(output_names, feeds, run_options))

    def set_tuning_results(self, results: Sequence[Any], error_on_invalid: bool = False) -> None:
        """As the package's."""
        self._session.set_tuning_results(results, error_on_invalid=error_on_invalid)

    inputs_meta = property(lambda self: self._session.get_inputs())
    outputs_meta = property(lambda self: self._session.get_outputs())
    overridable_initializers = property(lambda self: self._session.get_overridable_initializers())
    model_meta = property(lambda self: self._session.get_modelmeta())
    session_options = property(lambda self: self._session.get_session_options())
    input_meminfos = property(lambda self: self._session.get_input_memory_infos())
    output_meminfos = property(lambda self: self._session.get_output_memory_infos())
    input_epdevices = property(lambda self: self._session.get_input_epdevices())
    get_profiling_start_time_ns = property(lambda self: self._session.get_profiling_start_time_ns())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._session, name)


__all__ = [*_package.__all__, "NotImplemented", "OrtValueVector", "get_all_operator_schema", "get_all_opkernel_def",
           "get_default_session_options", "is_dlpack_uint8_tensor",
           "quantize_matmul_2bits", "quantize_matmul_4bits", "quantize_matmul_8bits"]
