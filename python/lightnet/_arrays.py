# SPDX-License-Identifier: Apache-2.0
"""Arrays in and out, and OrtValue. NumPy is imported by the first call that needs it."""
import ctypes

TENSOR_TYPES = {
    "float64": "tensor(double)", "float32": "tensor(float)", "float16": "tensor(float16)", "bfloat16": "tensor(bfloat16)",
    "int8": "tensor(int8)", "int16": "tensor(int16)", "int32": "tensor(int32)", "int64": "tensor(int64)",
    "uint8": "tensor(uint8)", "uint16": "tensor(uint16)", "uint32": "tensor(uint32)", "uint64": "tensor(uint64)",
    "bool": "tensor(bool)",
}
# The numbers of onnx.TensorProto.DataType.
ELEMENT_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9,
                 "float16": 10, "float64": 11, "uint32": 12, "uint64": 13, "bfloat16": 16}

_numpy = None


def numpy():
    """The module numpy."""
    global _numpy
    if _numpy is None:
        import numpy as module
        _numpy = module
    return _numpy


def _bfloat16():
    """The type bfloat16 of the package ml_dtypes, or None without it."""
    try:
        import ml_dtypes
    except ImportError:
        return None
    return numpy().dtype(ml_dtypes.bfloat16)


def new_array(shape, name):
    """An array of that shape and type to be filled. bfloat16 is uint16 there: the bits."""
    np = numpy()
    return np.empty(shape, np.uint16 if name == "bfloat16" else name)


def as_array(value, is_writable=False):
    """(array, name of its type or None): what the buffer protocol does not give by itself. Copies only if elements are
    not next to each other or in another order of bytes; TypeError where a copy would not be written back."""
    np = numpy()
    name = None
    if isinstance(value, OrtValue):
        value, name = value._array, value._type
    if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__") and hasattr(np, "from_dlpack"):
        array = np.from_dlpack(value)
    else:
        array = np.asarray(value)
    if array.dtype.name == "bfloat16":
        array, name = array.view(np.uint16), "bfloat16"
    if array.dtype.hasobject or array.dtype.kind not in "fiub":
        raise TypeError(f"arrays of {array.dtype} are not supported")
    result = np.require(array, array.dtype.newbyteorder("="), ["C", "A"]).reshape(array.shape)
    if is_writable and not (np.shares_memory(result, array) and result.flags.writeable):
        raise TypeError("an output needs a writable array whose elements are next to each other")
    return result, name


class OrtValue:
    """A tensor in memory that LightNet reads and writes in place; see the class of this name in onnxruntime."""

    def __init__(self, array, type_name=None):
        self._array = array
        self._type = type_name

    @staticmethod
    def ortvalue_from_numpy(numpy_obj, device_type="cpu", device_id=0):
        """Keeps the array: changes of either are changes of both. A copy only if its elements are not contiguous."""
        _check_device(device_type)
        return OrtValue(*as_array(numpy_obj))

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(data, onnx_element_type):
        """The same, with the type as a number of onnx.TensorProto: uint16 may be bfloat16."""
        array, _ = as_array(data)
        return OrtValue(array, _name_of(onnx_element_type))

    @staticmethod
    def ortvalue_from_shape_and_type(shape, element_type, device_type="cpu", device_id=0):
        """Memory of that shape and type, undefined."""
        _check_device(device_type)
        name = _name_of(element_type)
        return OrtValue(new_array(tuple(shape), name), name)

    @staticmethod
    def from_dlpack(data, is_bool_tensor=False):
        """Shares the memory of anything with __dlpack__."""
        array = numpy().from_dlpack(data)
        return OrtValue(array.view(bool) if is_bool_tensor else array)

    def numpy(self):
        """The array, without a copy. bfloat16: of ml_dtypes where that package is installed, else the bits as uint16."""
        kind = self._type == "bfloat16" and _bfloat16()
        return self._array.view(kind) if kind else self._array

    def data_type(self):
        """Such as "tensor(float)"."""
        return TENSOR_TYPES[self._type or self._array.dtype.name]

    def element_type(self):
        """The number of onnx.TensorProto."""
        return ELEMENT_TYPES[self._type or self._array.dtype.name]

    def shape(self):
        return list(self._array.shape)

    def data_ptr(self):
        return self._array.ctypes.data

    def tensor_size_in_bytes(self):
        return self._array.nbytes

    def device_name(self):
        return "cpu"

    def has_value(self):
        return True

    def is_tensor(self):
        return True

    def is_sparse_tensor(self):
        return False

    def is_tensor_sequence(self):
        return False

    def update_inplace(self, np_arr):
        """Copies an array of the same shape and type into this one."""
        if np_arr.shape != self._array.shape or np_arr.dtype != self._array.dtype:
            raise ValueError(f"an array {np_arr.dtype} {np_arr.shape}, expected {self._array.dtype} {self._array.shape}")
        self._array[...] = np_arr

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    to_dlpack = __dlpack__

    @property
    def __array_interface__(self):
        return self._array.__array_interface__

    def __array__(self, dtype=None):
        return self._array if dtype is None else self._array.astype(dtype)


def _name_of(element_type):
    """The type's name in NumPy, of a NumPy type or a number of onnx.TensorProto."""
    if isinstance(element_type, int):
        for name, number in ELEMENT_TYPES.items():
            if number == element_type:
                return name
        raise ValueError(f"element type {element_type} is not supported")
    return element_type if element_type == "bfloat16" else numpy().dtype(element_type).name


def _check_device(device_type):
    if device_type != "cpu":
        raise ValueError(f"device '{device_type}', expected 'cpu'")


def array_at(address, shape, element_type):
    """An array over memory of the caller's, which must outlive it."""
    name = _name_of(element_type)
    kind = numpy().dtype("uint16" if name == "bfloat16" else name)
    count = 1
    for size in shape:
        count *= size
    memory = (ctypes.c_char * (count * kind.itemsize)).from_address(address)
    return OrtValue(numpy().frombuffer(memory, kind).reshape(shape), name)
