# SPDX-License-Identifier: Apache-2.0
"""Arrays in and out, and OrtValue. NumPy is imported by the first call that needs it."""
from __future__ import annotations

import ctypes
import re
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

from ._device import OrtDevice, check_device
from ._errors import InvalidArgument

if TYPE_CHECKING:
    import numpy as np
    from ._sparse import SparseTensor

TENSOR_TYPES: Dict[str, str] = {
    "float64": "tensor(double)", "float32": "tensor(float)", "float16": "tensor(float16)", "bfloat16": "tensor(bfloat16)",
    "int8": "tensor(int8)", "int16": "tensor(int16)", "int32": "tensor(int32)", "int64": "tensor(int64)",
    "uint8": "tensor(uint8)", "uint16": "tensor(uint16)", "uint32": "tensor(uint32)", "uint64": "tensor(uint64)",
    "bool": "tensor(bool)",
    "float8_e4m3fn": "tensor(float8e4m3fn)", "float8_e4m3fnuz": "tensor(float8e4m3fnuz)", "float8_e5m2": "tensor(float8e5m2)",
    "float8_e5m2fnuz": "tensor(float8e5m2fnuz)", "float8_e8m0fnu": "tensor(float8e8m0)", "float4_e2m1fn": "tensor(float4e2m1)",
    "int4": "tensor(int4)", "uint4": "tensor(uint4)", "int2": "tensor(int2)", "uint2": "tensor(uint2)",
    "str": "tensor(string)",
}
# The numbers of onnx.TensorProto.DataType.
ELEMENT_TYPES: Dict[str, int] = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9,
                 "float16": 10, "float64": 11, "uint32": 12, "uint64": 13, "bfloat16": 16, "float8_e4m3fn": 17,
                 "float8_e4m3fnuz": 18, "float8_e5m2": 19, "float8_e5m2fnuz": 20, "uint4": 21, "int4": 22, "float4_e2m1fn": 23,
                 "float8_e8m0fnu": 24, "uint2": 25, "int2": 26, "str": 8}
NAMES: Dict[int, str] = {number: name for name, number in ELEMENT_TYPES.items()}
# Types that the package ml_dtypes adds to NumPy, under its names: the type of their bits, or of their values.
BITS: Dict[str, str] = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e4m3fnuz": "uint8", "float8_e5m2": "uint8",
                        "float8_e5m2fnuz": "uint8", "float8_e8m0fnu": "uint8", "float4_e2m1fn": "uint8", "int4": "int8",
                        "uint4": "uint8", "int2": "int8", "uint2": "uint8"}
# Bits of an element of TensorProto.raw_data, where they are fewer than 8.
PACKED: Dict[str, int] = {"float4_e2m1fn": 4, "int4": 4, "uint4": 4, "int2": 2, "uint2": 2}

# Names of types in messages of the C API, such as TL_FLOAT.
_C_NAMES: Dict[str, str] = {f"TL_{tensor_type[7:-1].upper()}": name for name, tensor_type in TENSOR_TYPES.items()}

_numpy: Any = None
DLPACK_CPU = (1, 3)  # kDLCPU, and kDLCUDAHost, which the CPU reads, too


def numpy() -> Any:
    """The module numpy."""
    global _numpy
    if _numpy is None:
        import numpy as module
        _numpy = module
    return _numpy


def message_of(text: str) -> str:
    """A message of the C API, with NumPy's names of types."""
    return re.sub(r"\bTL_\w+", lambda match: _C_NAMES.get(match[0], match[0]), text)


def _added_type(name: Optional[str]) -> Any:
    """The type of that name that the package ml_dtypes adds, or None: it does not, or is missing."""
    if name not in BITS:
        return None
    try:
        import ml_dtypes
    except ImportError:
        return None
    kind = getattr(ml_dtypes, name, None)
    return kind if kind is None else numpy().dtype(kind)


def kind_of(name: str) -> Tuple[Any, np.dtype]:
    """numpy.empty, and the dtype for type `name`; for types that NumPy lacks that of their bits: bfloat16 is uint16."""
    return numpy().empty, numpy().dtype(BITS.get(name, name))


def packed(array: np.ndarray, name: str) -> np.ndarray:
    """The elements as in TensorProto.raw_data: those of fewer than 8 bits side by side in bytes."""
    bits = PACKED.get(name)
    if bits is None:
        return array
    np = numpy()
    per_byte, flat = 8 // bits, array.ravel().view(np.uint8) & ((1 << bits) - 1)
    rows = np.zeros(-(-flat.size // per_byte) * per_byte, np.uint8)
    rows[:flat.size] = flat
    return np.bitwise_or.reduce(rows.reshape(-1, per_byte) << (np.arange(per_byte) * bits).astype(np.uint8), axis=1)


def new_strings(shape: Sequence[int], texts: List[str]) -> np.ndarray:
    """An array of that shape, of type object, with these strings."""
    array = numpy().empty(len(texts), object)
    array[:] = texts
    return array.reshape(shape)


def _is_text(array: np.ndarray) -> bool:
    """Whether the elements are strings: str, bytes, or objects that may be either."""
    return array.dtype.kind in "USOT"


def _encoded(text: Any) -> bytes:
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")  # the engine rejects surrogates
    if isinstance(text, bytes):
        return text
    raise TypeError(f"arrays with objects of {type(text).__name__} are not supported, expected str")


def _packed(array: np.ndarray, is_writable: bool) -> Tuple[Any, str]:
    """((shape, [bytes, ..]), "str") of an array of strings."""
    if is_writable:
        raise TypeError("outputs of strings cannot be bound to an array")
    return (tuple(array.shape), [_encoded(text) for text in array.ravel().tolist()]), "str"


def as_array(value: Any, is_writable: bool = False) -> Tuple[Any, Optional[str]]:
    """(array, name of its type or None; of strings what _packed returns): for types that the buffer protocol lacks.
    Copies only if elements are not next to each other or in another order of bytes; TypeError where a copy would not be
    written back."""
    np = numpy()
    name = None
    if value is None:
        raise TypeError("the value is None, expected an array")
    if isinstance(value, OrtValue):
        value, name = value._array, value._type
    if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__") and hasattr(np, "from_dlpack"):
        array = _from_dlpack(value)
    else:
        array = np.asarray(value)
    if array.dtype.name in BITS:
        name = array.dtype.name
        array = array.view(BITS[name])
    if _is_text(array):
        return _packed(array, is_writable)
    if array.dtype.hasobject or array.dtype.kind not in "fiub":
        raise TypeError(f"arrays of {array.dtype} are not supported")
    result = np.require(array, array.dtype.newbyteorder("="), ["C", "A"]).reshape(array.shape)
    if is_writable and not (np.shares_memory(result, array) and result.flags.writeable):
        raise TypeError("an output needs a writable array whose elements are next to each other")
    return result, name


class _Capsule:
    """A DLPack capsule as an object with the protocol."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> Tuple[int, int]:
        return DLPACK_CPU[0], 0


def _from_dlpack(data: Any) -> np.ndarray:
    """The memory of anything with __dlpack__, or of a capsule."""
    if type(data).__name__ == "PyCapsule":
        data = _Capsule(data)
    if not hasattr(data, "__dlpack__") or not hasattr(data, "__dlpack_device__"):
        raise TypeError(f"DLPack: {type(data).__name__} has no __dlpack__ and __dlpack_device__, expected a tensor")
    if not hasattr(numpy(), "from_dlpack"):
        raise TypeError(f"DLPack needs NumPy 1.22 or later, this is {numpy().__version__}")
    device = data.__dlpack_device__()
    if device[0] not in DLPACK_CPU:
        raise InvalidArgument(f"DLPack: the tensor is on device {tuple(map(int, device))}, expected the CPU, (1, 0); copy it first")
    try:
        return numpy().from_dlpack(data)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise InvalidArgument(f"DLPack: NumPy cannot read the {type(data).__name__}: {error}") from error


class OrtValue:
    """A tensor in memory that LightNet reads and writes in place; see the class of this name in onnxruntime."""

    def __init__(self, array: Union[np.ndarray, OrtValue], type_name: Optional[str] = None) -> None:
        """array: or another OrtValue, whose memory this one has, too."""
        is_value = isinstance(array, OrtValue)
        self._array: np.ndarray = array._array if is_value else array
        self._type: Optional[str] = array._type if is_value else type_name

    @staticmethod
    def ortvalue_from_numpy(numpy_obj: Any, device_type: Union[str, OrtDevice] = "cpu", device_id: int = 0,
                            vendor_id: int = -1) -> OrtValue:
        """Shares the memory of the array; copies it only if its elements are not contiguous.
        TypeError: a type that LightNet lacks."""
        check_device(device_type)
        array = numpy().asarray(numpy_obj)
        return OrtValue(array.astype(object), "str") if _is_text(array) else OrtValue(*as_array(numpy_obj))

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(data: Any, onnx_element_type: int) -> OrtValue:
        """The same, with the type as a number of onnx.TensorProto: uint16 may be bfloat16, uint8 a float of 8 bits or less,
        or, an element each, integers of fewer. ValueError: the array has elements of another size."""
        array, _ = as_array(data)
        name = _name_of(onnx_element_type)
        kind = numpy().dtype(BITS.get(name, name))
        if array.itemsize != kind.itemsize:
            raise InvalidArgument(f"elements of {name} have {kind.itemsize} bytes, those of the array {array.itemsize}")
        return OrtValue(array.view(kind), name)

    @staticmethod
    def ortvalue_from_shape_and_type(shape: Sequence[int], element_type: Any, device_type: Union[str, OrtDevice] = "cpu",
                                     device_id: int = 0, vendor_id: int = -1) -> OrtValue:
        """Memory of that shape and type, undefined. element_type: of NumPy, or a number of onnx.TensorProto."""
        check_device(device_type)
        name = _name_of(element_type)
        empty, kind = kind_of(name)
        return OrtValue(empty(tuple(shape), kind), name)

    ortvalue_from_shape_and_onnx_type = ortvalue_from_shape_and_type

    @staticmethod
    def ort_value_from_sparse_tensor(sparse_tensor: SparseTensor) -> OrtValue:
        """A value that is the sparse tensor. Runs raise NotImplemented for it."""
        from ._sparse import SparseValue
        return SparseValue(sparse_tensor)

    @staticmethod
    def from_dlpack(data: Any, is_bool_tensor: bool = False) -> OrtValue:
        """Shares the memory of anything with __dlpack__, or of a capsule. is_bool_tensor: its uint8 are bools.
        TypeError: it is neither. InvalidArgument: another device or type."""
        array = _from_dlpack(data)
        if not is_bool_tensor:
            return OrtValue(array)
        if array.itemsize != 1:
            raise InvalidArgument(f"DLPack: a tensor of {array.dtype} is not a bool tensor, expected uint8 or bool")
        return OrtValue(array.view(bool))

    def numpy(self) -> np.ndarray:
        """The array, without a copy. bfloat16 and types of 8 bits and less that NumPy lacks: of ml_dtypes where that package
        is installed; else the bits of floats, as uint16 or uint8, and the values of integers, as int8 or uint8."""
        kind = _added_type(self._type)
        return self._array if kind is None else self._array.view(kind)

    def data_type(self) -> str:
        """Such as "tensor(float)"."""
        return TENSOR_TYPES[self._type or self._array.dtype.name]

    def element_type(self) -> int:
        """The number of onnx.TensorProto."""
        return ELEMENT_TYPES[self._type or self._array.dtype.name]

    def shape(self) -> List[int]:
        """The size of each axis."""
        return list(self._array.shape)

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._array.ctypes.data

    def tensor_size_in_bytes(self) -> int:
        """The bytes of all elements."""
        return self._array.nbytes

    def device_name(self) -> str:
        """The name of the device: cpu."""
        return "cpu"

    def has_value(self) -> bool:
        """True"""
        return True

    def is_tensor(self) -> bool:
        """True"""
        return True

    def is_sparse_tensor(self) -> bool:
        """False"""
        return False

    def as_sparse_tensor(self) -> SparseTensor:
        """Raises InvalidArgument: the value is dense."""
        raise InvalidArgument(f"the value is a {self.data_type()}, expected a sparse tensor")

    def is_tensor_sequence(self) -> bool:
        """False"""
        return False

    def _get_c_value(self) -> OrtValue:
        return self

    _ortvalue = property(_get_c_value)

    def update_inplace(self, np_arr: np.ndarray) -> None:
        """Copies an array of the same shape and type into this one. ValueError: they differ."""
        if np_arr.shape != self._array.shape or np_arr.dtype != self._array.dtype:
            raise ValueError(f"an array {np_arr.dtype} {np_arr.shape}, expected {self._array.dtype} {self._array.shape}")
        self._array[...] = np_arr

    def __dlpack__(self, **options: Any) -> Any:
        """The DLPack capsule. BufferError: NumPy exports no such type."""
        if self._type in BITS:
            raise BufferError(f"NumPy exports no {self._type} by DLPack")
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return DLPACK_CPU[0], 0

    to_dlpack = __dlpack__

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        if self._type in BITS:  # NumPy then calls __array__
            raise AttributeError(f"NumPy has no type {self._type}")
        return self._array.__array_interface__

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        """bfloat16 and smaller floats without ml_dtypes: the values as float32, a copy. ValueError: copy is False, and one is
        needed."""
        array = self.numpy()
        if self._type in BITS and array.dtype == BITS[self._type]:
            array = _widened(array, self._type)
        if dtype is not None:
            array = array.astype(dtype, copy=False)
        is_copied = not numpy().shares_memory(array, self._array)
        if copy is False and is_copied and self._array.size:
            raise ValueError(f"an array of {array.dtype} from a tensor of {self._type or self._array.dtype} needs a copy")
        return array.copy() if copy and not is_copied else array


# Of floats with a sign: bits of the fraction, the bias of the exponent, the largest number, infinity or 0.
_FLOATS = {"float8_e4m3fn": (3, 7, 0x7E, 0), "float8_e4m3fnuz": (3, 8, 0x7F, 0), "float8_e5m2": (2, 15, 0x7B, 0x7C),
           "float8_e5m2fnuz": (2, 16, 0x7F, 0), "float4_e2m1fn": (1, 1, 7, 0)}


def _widened(bits: np.ndarray, name: str) -> np.ndarray:
    """The float32 of the bits of a float of 16 bits or less; integers as they are."""
    np = numpy()
    if name == "bfloat16":
        return (bits.astype("uint32") << 16).view("float32")
    if name == "float8_e8m0fnu":
        return np.where(bits == 255, np.nan, 2.0 ** (bits.astype(float) - 127)).astype("float32")
    if name not in _FLOATS:
        return bits
    fraction, bias, most, infinity = _FLOATS[name]
    sign = 8 if name == "float4_e2m1fn" else 128
    rest = (bits & (sign - 1)).astype(int)
    exponent = rest >> fraction
    units = (rest & ((1 << fraction) - 1)) + np.where(exponent > 0, 1 << fraction, 0)
    values = units * 2.0 ** (np.maximum(exponent, 1) - bias - fraction)
    values = np.where(rest > most, np.inf if infinity else np.nan, values)
    if infinity:
        values = np.where(rest > infinity, np.nan, values)
    values = np.where(bits & sign, -values, values)
    return np.where(bits == 128, np.nan, values).astype("float32") if name.endswith("uz") else values.astype("float32")


def _name_of(element_type: Any) -> str:
    """The type's name in NumPy, of a NumPy type or a number of onnx.TensorProto."""
    if isinstance(element_type, int):
        if element_type not in NAMES:
            raise InvalidArgument(f"element type {element_type} is not supported")
        return NAMES[element_type]
    return element_type if element_type in tuple(BITS) else numpy().dtype(element_type).name


def array_at(address: int, shape: Sequence[int], element_type: Any) -> OrtValue:
    """An array over memory of the caller's, which must outlive it."""
    name = _name_of(element_type)
    kind = numpy().dtype(BITS.get(name, name))
    count = 1
    for size in shape:
        count *= size
    memory = (ctypes.c_char * (count * kind.itemsize)).from_address(address)
    return OrtValue(numpy().frombuffer(memory, kind).reshape(shape), name)


class OrtValueVector(list):  # type: ignore[type-arg]
    """A list of OrtValue; see the class of this name in onnxruntime."""

    def push_back(self, value: Any, is_bool_tensor: bool = False) -> None:
        """Adds an OrtValue, or anything that from_dlpack reads."""
        self.append(OrtValue(value) if isinstance(value, OrtValue) else OrtValue.from_dlpack(value, is_bool_tensor))

    def push_back_batch(self, tensors: Sequence[Any], data_ptrs: Sequence[int], element_types: Sequence[Any],
                        shapes: Sequence[Sequence[int]], devices: Sequence[Any]) -> None:
        """Adds the memory of tensors, which it keeps."""
        for tensor, address, element_type, shape, device in zip(tensors, data_ptrs, element_types, shapes, devices):
            check_device(device)
            value = array_at(address, shape, element_type)
            value._owner = tensor  # type: ignore[attr-defined]
            self.append(value)

    def reserve(self, size: int) -> None:
        """Accepted."""

    def shrink_to_fit(self) -> None:
        """Accepted."""

    def element_type_at(self, idx: int) -> int:
        """The number of onnx.TensorProto of a value."""
        return self[idx].element_type()

    def bool_tensor_indices(self) -> List[int]:
        """Which values are bool."""
        return [i for i, value in enumerate(self) if value.data_type() == TENSOR_TYPES["bool"]]

    def dlpack_at(self, idx: int) -> Any:
        """The DLPack capsule of a value; of bools as uint8."""
        value = self[idx]
        return (OrtValue(value._array.view("uint8")) if value.data_type() == TENSOR_TYPES["bool"] else value).to_dlpack()

    def to_dlpacks(self, to_tensor: Any = None) -> List[Any]:
        """to_tensor(capsule) of each value; None: the capsules."""
        capsules = (self.dlpack_at(i) for i in range(len(self)))
        return list(capsules) if to_tensor is None else [to_tensor(capsule) for capsule in capsules]


def copy_tensors(src: Sequence[OrtValue], dst: Sequence[OrtValue], stream: Any = None) -> None:
    """Copies each value of `src` into that of `dst`. ValueError: types or shapes differ; InvalidArgument: their numbers do."""
    if len(src) != len(dst):
        raise InvalidArgument(f"{len(src)} sources, and {len(dst)} destinations")
    for source, target in zip(src, dst):
        target.update_inplace(source._array)
