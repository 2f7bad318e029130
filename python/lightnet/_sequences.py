# SPDX-License-Identifier: Apache-2.0
"""Models with sequences and optional values as inputs or outputs.

In the engine each tensor of a sequence is an input or output, so lengths are fixed when a model is opened. The
model is therefore opened for each set of lengths and shapes of runs: its variants.
"""
from __future__ import annotations

import mmap
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union

from ._arrays import NAMES, as_array
from ._errors import Error, InvalidArgument, InvalidGraph
from ._protobuf import BYTES, GRAPH, INITIALIZER, INPUT, fields, text_of

NODE, OUTPUT = 1, 12  # of GraphProto
TENSOR, SEQUENCE, OPTIONAL, OPTIONAL_SEQUENCE = range(4)  # as in ln_value_info.h
FORMS = ["{}", "seq({})", "optional({})", "optional(seq({}))"]
MAX_VARIANTS = 16
MAX_DECISIVE = 64 << 10  # bytes of a value that may decide shapes
Result = TypeVar("Result")
Shape = Optional[List[Union[int, str, None]]]
Value = Union[None, Any, Sequence[Any]]  # an array, a list of arrays, or None


class Port(NamedTuple):
    """An input or output of the file. shape: None where it is unknown, and of sequences."""
    name: str
    form: int
    dtype: Optional[str]
    shape: Shape


def _number(data: memoryview) -> int:
    """Of a varint."""
    return sum((byte & 0x7f) << 7 * k for k, byte in enumerate(data))


def _find(message: memoryview, number: int) -> Optional[memoryview]:
    """The last field of that number, which is a message."""
    found = [content for n, kind, _, content in fields(message) if n == number and kind == BYTES]
    return found[-1] if found else None


def _size(dim: memoryview) -> Union[int, str, None]:
    """Of a dimension: a number, a name, or None."""
    numbers = [_number(whole[1:]) for n, _, whole, _ in fields(dim) if n == 1]
    return numbers[-1] if numbers else text_of(dim, 2) or None


def _port(info: memoryview) -> Port:
    """Of a ValueInfoProto."""
    empty = memoryview(b"")
    kind = _find(info, 2) or empty
    optional, form = _find(kind, 9), TENSOR
    if optional is not None:
        kind, form = _find(optional, 1) or empty, OPTIONAL
    sequence = _find(kind, 4)
    if sequence is not None:
        kind, form = _find(sequence, 1) or empty, form + SEQUENCE
    tensor = _find(kind, 1) or empty
    numbers = [_number(whole[1:]) for n, _, whole, _ in fields(tensor) if n == 1]
    shape = _find(tensor, 2) if form in (TENSOR, OPTIONAL) else None
    return Port(text_of(info, 1), form, NAMES.get(numbers[-1]) if numbers else None,
                None if shape is None else [_size(dim) for n, _, _, dim in fields(shape) if n == 1])


class Interface(NamedTuple):
    """Of the file of an ONNX model: inputs without a default, outputs, and inputs with one."""
    inputs: List[Port]
    outputs: List[Port]
    overridable: List[Port]


def _interface(model: memoryview) -> Interface:
    inputs, outputs, defaults = [], [], set()
    for number, kind, _, graph in fields(model):
        if number != GRAPH or kind != BYTES:
            continue
        for n, inner, _, content in fields(graph):
            if inner == BYTES and n in (INPUT, OUTPUT):
                (inputs if n == INPUT else outputs).append(_port(content))
            elif inner == BYTES and n == INITIALIZER:
                defaults.add(text_of(content, 8))
    return Interface([port for port in inputs if port.name not in defaults], outputs,
                     [port for port in inputs if port.name in defaults])


def _read(path: Optional[str], content: Optional[bytes], reader: Callable[[memoryview], Result]) -> Optional[Result]:
    """reader(bytes) of a model; None: it is not an ONNX model."""
    try:
        if content is not None:
            return reader(memoryview(content))
        with open(path or "", "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            with memoryview(mapped) as data:
                return reader(data)
    except (InvalidGraph, OSError, ValueError, BufferError):
        return None


def interface_of(path: Optional[str], content: Optional[bytes]) -> Optional[Interface]:
    """None: it is not an ONNX model."""
    return _read(path, content, _interface)


def _nodes(model: memoryview) -> List[Tuple[str, str, str]]:
    graphs = [content for number, kind, _, content in fields(model) if number == GRAPH and kind == BYTES]
    return [(text_of(node, 3), text_of(node, 7), text_of(node, 4)) for graph in graphs
            for number, kind, _, node in fields(graph) if number == NODE and kind == BYTES]


def nodes_of(path: Optional[str], content: Optional[bytes]) -> Optional[List[Tuple[str, str, str]]]:
    """(name, domain, operator) of the nodes of the main graph; None: it is not an ONNX model."""
    return _read(path, content, _nodes)


def ports_of(path: Optional[str], content: Optional[bytes]) -> Optional[Tuple[List[Port], List[Port]]]:
    """(inputs, outputs) of a model with sequences or optional values; None: it has none, or is not an ONNX model."""
    found = interface_of(path, content)
    is_compound = found and any(port.form != TENSOR for port in [*found.inputs, *found.outputs])
    return (found.inputs, found.outputs) if found and is_compound else None


def _arrays(port: Port, value: Value) -> Optional[List[Any]]:
    """The arrays of the value of an input; None: it is absent. InvalidArgument: it is of another kind."""
    is_list = isinstance(value, (list, tuple))
    if value is None and port.form in (OPTIONAL, OPTIONAL_SEQUENCE):
        return None
    if port.form in (TENSOR, OPTIONAL):
        return [value]
    if not is_list:
        raise InvalidArgument(f"input '{port.name}' is {type(value).__name__}, expected a list of arrays")
    return list(value)  # type: ignore[arg-type]


def _elements(array: Any) -> Union[bytes, Tuple[bytes, ...]]:
    """The bytes of an array; of strings a tuple."""
    array, _ = as_array(array)
    return tuple(array[1]) if isinstance(array, tuple) else array.tobytes()


def _size_of(elements: Union[bytes, Tuple[bytes, ...]]) -> int:
    return sum(map(len, elements)) if isinstance(elements, tuple) else len(elements)


class Feed:
    """The inputs of a run."""

    def __init__(self, ports: Sequence[Port], given: Mapping[str, Value]) -> None:
        known = {port.name for port in ports}
        for name in given:
            if name not in known:
                raise InvalidArgument(f"the model has no input '{name}'; it has: {', '.join(sorted(known))}")
        missing = [port.name for port in ports if port.name not in given and port.form in (TENSOR, SEQUENCE)]
        if missing:
            raise ValueError(f"Required inputs ({missing}) are missing from input feed ({list(given)}).")
        self.arrays = [(port, _arrays(port, given.get(port.name))) for port in ports]

    def key(self) -> Tuple[Any, ...]:
        """The key of a variant: lengths, types and shapes."""
        return tuple((port.name, None if arrays is None else tuple(self._key(array) for array in arrays))
                     for port, arrays in self.arrays)

    @staticmethod
    def _key(array: Any) -> Tuple[str, Tuple[int, ...]]:
        array, kind = as_array(array)
        if isinstance(array, tuple):  # strings
            return "str", array[0]
        return kind or array.dtype.name, array.shape

    def values(self) -> Tuple[Any, ...]:
        """The elements of values that may determine shapes."""
        return tuple(tuple(map(_elements, arrays)) if self._is_decisive(arrays) else None
                     for _, arrays in self.arrays if arrays is not None)

    @staticmethod
    def _is_decisive(arrays: Sequence[Any]) -> bool:
        return sum(_size_of(_elements(array)) for array in arrays) <= MAX_DECISIVE

    def bound(self, with_data: bool) -> List[Tuple[str, Optional[List[Any]], bool, bool]]:
        """The values for opening a variant."""
        return [(port.name, arrays, port.form != TENSOR and not (port.form == OPTIONAL and arrays is not None),
                 with_data and arrays is not None and self._is_decisive(arrays)) for port, arrays in self.arrays]

    def flat(self) -> Dict[str, Any]:
        """{name of a tensor: array}"""
        return dict(self._tensors())

    def _tensors(self) -> Iterator[Tuple[str, Any]]:
        for port, arrays in self.arrays:
            for k, array in enumerate(arrays or []):
                yield (port.name if port.form in (TENSOR, OPTIONAL) else f"{port.name}[{k}]"), array


class Compound:
    """The variants of a model. opener(bound): a model, from Feed.bound()."""

    def __init__(self, ports: Tuple[List[Port], List[Port]], opener: Any) -> None:
        self.inputs, self.outputs = ports
        self._opener = opener
        self._variants: Dict[Any, Any] = {}
        self._by_value: set = set()  # keys whose variants also depend on values

    def variant_for(self, feed: Feed) -> Tuple[Any, Any]:
        """(key, model). Raises what opening raises."""
        key = feed.key()
        if key in self._by_value:
            return self._variant((key, feed.values()), feed, True)
        try:
            return self._variant(key, feed, False)
        except Error:
            found = self._variant((key, feed.values()), feed, True)
            self._by_value.add(key)
            return found

    def _variant(self, key: Any, feed: Feed, with_data: bool) -> Tuple[Any, Any]:
        model = self._variants.get(key)
        if model is None:
            model = self._opener(feed.bound(with_data))
            cache_entry(self._variants, key, model)
        return key, model

    def any_variant(self) -> Any:
        """One that was opened, or None."""
        return next(iter(self._variants.values()), None)


def cache_entry(cache: Dict[Any, Any], key: Any, value: Any) -> None:
    """Adds to a cache, which drops its oldest entry when it is full."""
    while len(cache) >= MAX_VARIANTS:
        cache.pop(next(iter(cache)), None)
    cache[key] = value


def grouped(values: Sequence[Tuple[str, int, int, int]], arrays: Sequence[Any]) -> Dict[str, Value]:
    """{name: array, list or None} of outputs, from those of the engine."""
    result: Dict[str, Value] = {}
    for name, form, first, length in values:
        part = list(arrays[first:first + max(length, 0)])
        result[name] = None if length < 0 else part[0] if form in (TENSOR, OPTIONAL) else part
    return result
