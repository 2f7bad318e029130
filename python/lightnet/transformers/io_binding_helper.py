# SPDX-License-Identifier: Apache-2.0
"""Types of inputs and outputs in NumPy and PyTorch, by the name of onnxruntime. PyTorch is imported by what returns its types."""
from __future__ import annotations

from typing import Any, Dict

from .._arrays import BITS, TENSOR_TYPES, numpy
from .._errors import InvalidArgument

_NAMES: Dict[str, str] = {tensor_type: name for name, tensor_type in TENSOR_TYPES.items()}


def _name(tensor_type: str) -> str:
    if tensor_type not in _NAMES:
        raise InvalidArgument(f"'{tensor_type}' is not the type of a tensor; expected one such as 'tensor(float)'")
    return _NAMES[tensor_type]


def _tensor_type(name: str) -> str:
    if name not in TENSOR_TYPES:
        raise InvalidArgument(f"tensors have no elements of type '{name}'")
    return TENSOR_TYPES[name]


class TypeHelper:
    """Types by those of NodeArg.type, such as "tensor(float)"."""

    @staticmethod
    def get_input_type(ort_session: Any, name: str) -> str:
        """The type of an input."""
        return TypeHelper._type(ort_session.get_inputs(), name, "input")

    @staticmethod
    def get_output_type(ort_session: Any, name: str) -> str:
        """The type of an output."""
        return TypeHelper._type(ort_session.get_outputs(), name, "output")

    @staticmethod
    def _type(values: Any, name: str, role: str) -> str:
        for value in values:
            if value.name == name:
                return value.type
        raise InvalidArgument(f"the model has no {role} '{name}'; it has: {', '.join(value.name for value in values)}")

    @staticmethod
    def ort_type_to_numpy_type(ort_type: str) -> Any:
        """The type of an array's elements, such as numpy.float32; of bfloat16 and smaller ones that of their bits."""
        name = _name(ort_type)
        return numpy().dtype("O" if name == "str" else BITS.get(name, name)).type

    @staticmethod
    def ort_type_to_torch_type(ort_type: str) -> Any:
        """The type of a tensor's elements, such as torch.float32."""
        import torch
        kind = getattr(torch, _name(ort_type), None)
        if kind is None or ort_type == TENSOR_TYPES["str"]:
            raise InvalidArgument(f"PyTorch has no type for '{ort_type}'")
        return kind

    @staticmethod
    def numpy_type_to_torch_type(numpy_type: Any) -> Any:
        """The type of PyTorch for one of NumPy. InvalidArgument: tensors have no such elements."""
        return TypeHelper.ort_type_to_torch_type(_tensor_type(numpy().dtype(numpy_type).name))

    @staticmethod
    def torch_type_to_numpy_type(torch_type: Any) -> Any:
        """The type of NumPy for one of PyTorch. InvalidArgument: tensors have no such elements."""
        return TypeHelper.ort_type_to_numpy_type(_tensor_type(str(torch_type).rpartition(".")[2]))

    @staticmethod
    def get_io_numpy_type_map(ort_session: Any) -> Dict[str, Any]:
        """{name: type of NumPy} of all inputs and outputs."""
        return {value.name: TypeHelper.ort_type_to_numpy_type(value.type)
                for value in [*ort_session.get_inputs(), *ort_session.get_outputs()]}
