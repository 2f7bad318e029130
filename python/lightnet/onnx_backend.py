# SPDX-License-Identifier: Apache-2.0
"""ONNX's backend interface (onnx.backend.base) over InferenceSession. It needs the package onnx.

    import lightnet.onnx_backend as backend
    outputs = backend.prepare(onnx.load("model.onnx")).run([array])
    outputs = backend.run_node(onnx.helper.make_node("Relu", ["x"], ["y"]), [array])

ONNX's own tests run with onnx.backend.test.BackendTest(lightnet.onnx_backend, __name__). Arrays have the NumPy types of
onnx.numpy_helper: those of bfloat16 are float32 where that package has no type for it.
"""
import os

import onnx
from onnx.backend.base import Backend, BackendRep, namedtupledict
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

from ._arrays import BITS, ELEMENT_TYPES, OrtValue, numpy
from ._errors import InvalidArgument, NotImplemented
from ._session import InferenceSession

BFLOAT16 = onnx.TensorProto.BFLOAT16
# The types of the elements' bits of types of 8 bits and less, which only newer packages have.
_BITS_OF = {ELEMENT_TYPES[name]: bits for name, bits in BITS.items() if name != "bfloat16"}


class NotSupported(NotImplemented, BackendIsNotSupposedToImplementIt):
    """The model is valid, but needs a feature that the engine lacks; the message is the engine's. A test that
    raises it is skipped."""


# ---- types ----

def _dtype_of(elem_type):
    """The NumPy type of arrays of onnx.numpy_helper, for a number of onnx.TensorProto; None: unknown. bfloat16 is uint16, its
    bits, as in the test data, where the package is too old to have another."""
    if hasattr(onnx.helper, "tensor_dtype_to_np_dtype"):
        return onnx.helper.tensor_dtype_to_np_dtype(elem_type) if elem_type else None
    return numpy().dtype("uint16") if elem_type == BFLOAT16 else onnx.mapping.TENSOR_TYPE_TO_NP_TYPE.get(elem_type)


def _elem_type_of(value):
    """The number of onnx.TensorProto of an array or OrtValue."""
    if isinstance(value, OrtValue):
        return value.element_type()
    if value.dtype.kind in "OSU":
        return onnx.TensorProto.STRING
    if hasattr(onnx.helper, "np_dtype_to_tensor_dtype"):
        return onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
    return onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[value.dtype]


def _shape_of(value):
    return value.shape() if isinstance(value, OrtValue) else value.shape


def _bfloat16_of(array):
    """The bits of float32 rounded to bfloat16, ties to even. NaN stays NaN."""
    np = numpy()
    bits = np.ascontiguousarray(array).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    quiet = bits >> np.uint32(16) | np.uint32(0x40)
    return np.where(np.isnan(array), quiet, rounded).astype(np.uint16).reshape(np.shape(array))


def _to_engine(value, elem_type):
    """An input of `run`. Lists and scalars get the type of the model's input. bfloat16 may be bits, or float32."""
    np = numpy()
    if isinstance(value, OrtValue):
        return value
    array = value if hasattr(value, "dtype") else np.asarray(value, _dtype_of(elem_type))
    if array.dtype == _BITS_OF.get(elem_type):
        return OrtValue.ortvalue_from_numpy_with_onnx_type(array, elem_type)
    if elem_type != BFLOAT16 or array.dtype not in (np.float32, np.uint16):
        return array
    bits = _bfloat16_of(array) if array.dtype == np.float32 else array
    return OrtValue.ortvalue_from_numpy_with_onnx_type(bits, BFLOAT16)


def _from_engine(array, elem_type):
    """An output of `run`. bfloat16 and smaller types come as bits."""
    np = numpy()
    if array.dtype == _BITS_OF.get(elem_type):
        return array.view(_dtype_of(elem_type))
    if elem_type != BFLOAT16 or array.dtype != np.uint16:
        return array
    dtype = np.dtype(_dtype_of(BFLOAT16))
    return array.view(dtype) if dtype.itemsize == 2 else (array.astype(np.uint32) << np.uint32(16)).view(np.float32)


# ---- models ----

def _proto_of(model):
    """The ModelProto of a model, which may be its bytes or a file."""
    if isinstance(model, onnx.ModelProto):
        return model
    if isinstance(model, (str, os.PathLike)):
        return onnx.load_model(os.fspath(model), load_external_data=False)
    return onnx.load_model_from_string(bytes(model))


def _tensor_of(kind):
    """(type of the tensors of a TypeProto, whether it is a sequence of them, whether it is optional). The first is None where
    it has none."""
    is_optional, is_sequence = kind.HasField("optional_type"), False
    if is_optional:
        kind = kind.optional_type.elem_type
    if kind.HasField("sequence_type"):
        kind, is_sequence = kind.sequence_type.elem_type, True
    return (kind.tensor_type if kind.WhichOneof("value") in ("tensor_type", None) else None), is_sequence, is_optional


def _check_are_tensors(graph):
    """Raises NotSupported where an input or output has no tensors."""
    for role, values in (("input", graph.input), ("output", graph.output)):
        for value in values:
            if _tensor_of(value.type)[0] is None:
                what = value.type.WhichOneof("value")[:-len("_type")].replace("_", " ")
                of = "" if what in ("map", "sparse tensor", "opaque") else " of other values"
                raise NotSupported(f"{role} '{value.name}' is of type {what}{of}, expected tensors, sequences of tensors, or "
                                   "optional values of these")


def _check_device(device):
    if not LightNetBackend.supports_device(device):
        raise InvalidArgument(f"device '{device}', expected 'CPU'")


def _types(values):
    """{name: number of onnx.TensorProto} of inputs or outputs; 0: unknown."""
    return {value.name: _tensor_of(value.type)[0].elem_type for value in values}


def _each(function, value, *rest):
    """Of an array; of each of a list, which is a sequence; None stays."""
    if isinstance(value, list):
        return [function(item, *rest) for item in value]
    return None if value is None else function(value, *rest)


def _pairs(choices, values):
    """{name: value} of a list of values, for the first list of names of that length."""
    for names in choices:
        if len(names) == len(values):
            return dict(zip(names, values))
    raise InvalidArgument(f"{len(values)} inputs are given, expected {len(choices[0])}: {', '.join(choices[0])}")


def _as_list(inputs):
    return inputs if isinstance(inputs, (list, tuple)) else [inputs]


def _declared(values):
    """{name: shape} of inputs, whose open sizes are None; without those of unknown shape."""
    return {value.name: [dim.dim_value if dim.HasField("dim_value") else None for dim in value.type.tensor_type.shape.dim]
            for value in values if value.type.tensor_type.HasField("shape")}


def _without_shapes(proto, names):
    """The bytes of the model with inputs `names`, and what is computed, of unknown shapes."""
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    for value in [*(value for value in copy.graph.input if value.name in names), *copy.graph.output]:
        _tensor_of(value.type)[0].ClearField("shape")
    del copy.graph.value_info[:]
    return copy.SerializeToString()


class LightNetRep(BackendRep):
    """A model that is ready to run; `session` is its InferenceSession."""

    def __init__(self, session, graph, reopen=None):
        """reopen(names): a session of the model with inputs `names` of unknown shapes; None: it cannot be created."""
        self.session = session
        self._reopen = reopen
        self._reopened = {}  # by names
        self._inputs = _types(graph.input)
        self._outputs = _types(graph.output)
        self._shapes = _declared(graph.input)
        self._sequences = {value.name for value in graph.input if _tensor_of(value.type)[1]}
        required = [value.name for value in session.get_inputs()]
        # Up to IR version 3, initializers are inputs as well.
        self._choices = [required] + [list(self._inputs)[:n] for n in range(len(required) + 1, len(self._inputs) + 1)]
        self._result = namedtupledict("Outputs", list(self._outputs))

    def run(self, inputs, **kwargs):
        """The outputs, a named tuple: outputs[0] and outputs["name"].

        inputs: a list in the order of the graph's inputs, {name: value}, or one value. A sequence is a list of arrays, an
        absent optional value None. In a list, inputs with a default may be missing: all of them, or the last. As
        in ONNX's reference implementation, shapes may be others than the model
        declares, if its operators can run on them; models of files are an exception. kwargs: those of InferenceSession.run,
        such as deadline=0.1. Raises what that raises; NotSupported: the engine lacks what the model needs for these shapes.
        """
        feed = inputs if isinstance(inputs, dict) else _pairs(self._choices, _as_list(inputs))
        feed = {name: self._input(name, value) for name, value in feed.items()}
        try:
            outputs = self._session_for(feed).run(None, feed, **kwargs)
        except NotImplemented as error:
            raise NotSupported(str(error)) from error
        return self._result(*(_each(_from_engine, output, kind) for output, kind in zip(outputs, self._outputs.values())))

    def _input(self, name, value):
        kind = self._inputs.get(name, 0)
        is_sequence = name in self._sequences and isinstance(value, (list, tuple))
        return _each(_to_engine, list(value), kind) if is_sequence else None if value is None else _to_engine(value, kind)

    def _session_for(self, feed):
        names = frozenset(name for name, value in feed.items() if name in self._shapes and self._is_other(name, _shape_of(value)))
        if not names or self._reopen is None:
            return self.session
        if names not in self._reopened:
            self._reopened[names] = self._reopen(names)
        return self._reopened[names]

    def _is_other(self, name, shape):
        """Whether the shape contradicts the one that the model declares."""
        declared = self._shapes[name]
        return len(declared) != len(shape) or any(size not in (None, given) for size, given in zip(declared, shape))


# ---- models of one node ----

def _nodes(node):
    """The node and those of its subgraphs."""
    yield node
    for attribute in node.attribute:
        for graph in [attribute.g, *attribute.graphs]:
            for inner in graph.node:
                yield from _nodes(inner)


def _newest(node):
    """The version of the operator set that defines the node's operator as the package onnx does; 1: it has none."""
    try:
        return onnx.defs.get_schema(node.op_type, node.domain).since_version
    except onnx.defs.SchemaError:
        return 1


def _opsets(node, opset_version):
    """Operator sets of a node: the oldest that have the newest definition of each operator, or, for ONNX's own, the given
    version."""
    versions = {}
    for inner in _nodes(node):
        domain = "" if inner.domain == "ai.onnx" else inner.domain
        versions[domain] = max(versions.get(domain, 1), _newest(inner))
    if opset_version is not None:
        versions[""] = opset_version
    return [onnx.helper.make_opsetid(domain, version) for domain, version in versions.items()]


def _node_feed(node, inputs):
    """{name: array or OrtValue} of the inputs of a node. An input that the node omits may be None, or missing."""
    if not isinstance(inputs, dict):
        present = [name for name in node.input if name]
        inputs = _pairs([present, list(node.input), list(dict.fromkeys(present))], _as_list(inputs))
    return {name: value if isinstance(value, OrtValue) or _is_sequence(value) else numpy().asarray(value)
            for name, value in inputs.items() if name and value is not None}


def _is_sequence(value):
    """Whether it is a list of arrays, which is a sequence."""
    return isinstance(value, list) and bool(value) and all(hasattr(item, "dtype") for item in value)


def _value_info(name, value):
    helper = onnx.helper
    if not _is_sequence(value):
        return helper.make_tensor_value_info(name, _elem_type_of(value), _shape_of(value))
    return helper.make_tensor_sequence_value_info(name, _elem_type_of(value[0]), None)


def _model_of(node, feed, outputs_info, opset_version):
    """A model of one node whose inputs are those of `feed`."""
    helper = onnx.helper
    inputs = [_value_info(name, value) for name, value in feed.items()]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    model = helper.make_model(helper.make_graph([node], node.op_type, inputs, outputs),
                              opset_imports=_opsets(node, opset_version))
    model = onnx.shape_inference.infer_shapes(model)
    given = {name: numpy().dtype(info[0]) for name, info in zip(node.output, outputs_info or [])}
    for output in model.graph.output:
        if output.type.WhichOneof("value") in ("tensor_type", None) and not output.type.tensor_type.elem_type \
                and output.name in given:
            output.type.tensor_type.elem_type = _elem_type_of(numpy().empty(0, given[output.name]))
    return model


class LightNetBackend(Backend):
    """See onnx.backend.base.Backend. The functions of this module are its methods."""

    @classmethod
    def supports_device(cls, device):
        """Whether it is the CPU: "CPU" or "CPU:0"."""
        return device in ("CPU", "CPU:0")

    @classmethod
    def is_compatible(cls, model, device="CPU", **kwargs):
        """Whether `prepare` accepts the model. Raises what that raises for one that is damaged."""
        try:
            return cls.supports_device(device) and cls.prepare(model, device, **kwargs) is not None
        except NotSupported:
            return False

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        """A LightNetRep. model: a ModelProto, its bytes, or a file, which may be larger than 2 GB and have external data.
        kwargs: options of InferenceSession, such as threads=2.

        Raises NotSupported: an input or output has no tensors, or the engine lacks what the model needs; InvalidArgument: the
        device; and the exceptions of InferenceSession."""
        _check_device(device)
        proto = _proto_of(model)
        _check_are_tensors(proto.graph)
        is_file = isinstance(model, (str, os.PathLike))
        try:
            session = InferenceSession(model if is_file else proto.SerializeToString(), **kwargs)
        except NotImplemented as error:
            raise NotSupported(str(error)) from error
        reopen = None if is_file else lambda names: InferenceSession(_without_shapes(proto, names), **kwargs)
        return LightNetRep(session, proto.graph, reopen)

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **kwargs):
        """prepare(model, device, **kwargs).run(inputs)"""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, **kwargs):
        """The outputs of one node. inputs: as for LightNetRep.run, with the names of the node.

        outputs_info: [(type, shape), ..], only needed for outputs of operators that the package onnx does not define.
        opset_version=N: the version of ONNX's operator set; default: the newest of the package onnx."""
        opset_version = kwargs.pop("opset_version", None)
        feed = _node_feed(node, inputs)
        return cls.prepare(_model_of(node, feed, outputs_info, opset_version), device, **kwargs).run(feed)


is_compatible = LightNetBackend.is_compatible
prepare = LightNetBackend.prepare
run_model = LightNetBackend.run_model
run_node = LightNetBackend.run_node
supports_device = LightNetBackend.supports_device
