# SPDX-License-Identifier: Apache-2.0
"""Static quantization: QuantizeLinear and DequantizeLinear around the operators of a model, by ranges from samples.

Readers of a tensor x that is quantized read it from x -> QuantizeLinear -> DequantizeLinear instead. Constants become
quantized initializers with a DequantizeLinear, biases 32-bit integers whose scale is the product of the source's and the
weight's. An engine that has kernels of integers for an operator joins these nodes to it.
"""
from __future__ import annotations

import contextlib
import enum
import math
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Set, Tuple

from .._arrays import numpy
from .._errors import InvalidArgument, warn
from ._graph import Model
from ._node import CONTRIB, ONNX, Node
from ._overrides import checked_overrides, step_of_override
from ._selection import Selection
from ._tensor import FLOAT
from .quant_utils import QuantType, Step, dtype_of, is_signed, limits, quantized, step_of, weight_step


class Role(enum.Enum):
    """What quantizing an operator means."""

    PRODUCT = 0  # of a source, a weight (and a bias)
    MOVE = 1     # its result has the step of its first input, and is quantized if that is
    FREE = 2     # its inputs and results have steps of their own
    CLIP = 3     # as FREE, or the range of the step before it implies it: it is removed


ROLES: Dict[str, Role] = {
    **dict.fromkeys(["Conv", "ConvTranspose", "Gemm", "MatMul"], Role.PRODUCT),
    **dict.fromkeys(["DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements", "MaxPool", "Pad", "Reshape", "Resize", "Slice",
                     "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"], Role.MOVE),
    **dict.fromkeys(["Add", "AveragePool", "Concat", "Div", "GlobalAveragePool", "HardSigmoid", "HardSwish", "InstanceNormalization",
                     "LayerNormalization", "LeakyRelu", "Max", "Min", "Mul", "ReduceMean", "Sigmoid", "Softmax", "Sub", "Tanh",
                     "Where"], Role.FREE),
    **dict.fromkeys(["Clip", "Relu"], Role.CLIP),
}
# Not quantized unless they are asked for: parts of normalizations and of activations, which lose most by rounding.
ON_REQUEST = {"Div", "HardSigmoid", "HardSwish", "Max", "Min", "ReduceMean", "Sub", "Tanh"}
BY_DEFAULT = set(ROLES) - ON_REQUEST
UNIT_RANGE = {"Sigmoid": (0.0, 1.0), "Softmax": (0.0, 1.0)}  # of results, in all models
FLOAT_INPUTS = {"Pad": 1, "Clip": 1, "LayerNormalization": 1, "InstanceNormalization": 1}  # others stay as they are
LARGEST_BIAS = 2.0 ** 30  # as an integer
OPSET_OF_STEPS = 10       # has QuantizeLinear
OPSET_OF_CHANNELS = 13    # has its attribute axis
OPSET_OF_16_BITS = 21     # has 16-bit integers


class Settings(NamedTuple):
    """The arguments of quantize_static."""

    activation: QuantType
    weight: QuantType
    is_per_channel: bool
    is_reduced: bool
    is_activation_symmetric: bool
    is_weight_symmetric: bool
    selection: Selection
    options: Mapping[str, Any]


class Quantizer:
    """Changes a model. ranges: (low, high) of each float tensor."""

    def __init__(self, model: Model, ranges: Mapping[str, Tuple[float, float]], settings: Settings) -> None:
        self.model, self.ranges, self.settings = model, dict(ranges), settings
        self.readers, self.producers = model.readers(), model.producers()
        known = {*model.initializers, *model.inputs, *self.producers}
        self.overrides = checked_overrides(settings.options.get("TensorQuantOverrides") or {}, known)
        self.roles: Dict[int, Role] = {}
        self.steps: Dict[str, Step] = {}
        self.sources: Dict[str, str] = {}              # tensor that is quantized -> the tensor with its step
        self.constants: Dict[Tuple[str, Optional[int]], Tuple[str, Step]] = {}  # (name, axis) -> dequantized, its step
        self.added: Dict[str, List[Node]] = {}         # tensor -> its nodes, to be inserted after its producer
        self.heads: List[Node] = []                    # nodes of constants and inputs
        kinds = [settings.activation, settings.weight, *(one["quant_type"] for one in self.overrides.values() if "quant_type" in one)]
        is_wide = any(dtype_of(kind).itemsize > 1 for kind in kinds)
        needed = OPSET_OF_16_BITS if is_wide else OPSET_OF_CHANNELS if settings.is_per_channel else OPSET_OF_STEPS
        is_old = model.opsets.get(ONNX, 1) < needed
        self.domain = CONTRIB if is_old or settings.options.get("UseQDQContribOps") else ONNX

    def run(self) -> int:
        """Quantizes the model. Returns the number of quantized operators."""
        self._remove_clips()
        self._choose_tensors()
        quantized_nodes = [node for node in self.model.nodes if id(node) in self.roles]
        for node in quantized_nodes:
            self._quantize_constants(node)
        for name in self.sources:
            self._add_pair(name)
        self._redirect()
        self._insert()
        self.model.remove_unused()
        if self.domain != ONNX:
            self.model.opsets.setdefault(CONTRIB, 1)
        return len(quantized_nodes)

    # Which tensors are quantized

    def _is_float(self, name: str) -> bool:
        return name in self.ranges

    def _remove_clips(self) -> None:
        """Removes Relu and Clip behind an operator whose quantized results are clipped to the same range. Only a step with
        a zero point has that range."""
        if self.settings.is_activation_symmetric or self.settings.options.get("QDQKeepRemovableActivations"):
            return
        kept: List[Node] = []
        for node in self.model.nodes:
            before = self.producers.get(node.input(0))
            if before is not None and self._is_redundant(node, before):
                before.outputs[0] = node.outputs[0]
                self.producers[node.outputs[0]] = before
            else:
                kept.append(node)
        self.model.nodes = kept
        self.readers = self.model.readers()

    def _is_redundant(self, clip: Node, before: Node) -> bool:
        """Whether the node is a Relu or Clip that only bounds the quantized result of the operator before it, which nothing else
        reads."""
        wants, between = self.settings.selection.wants, clip.inputs[0]
        return (wants(clip) and ROLES[clip.op_type] is Role.CLIP and wants(before) and ROLES[before.op_type] in (Role.PRODUCT, Role.FREE)
                and self._can_be_quantized(before) and self._writes_output(before) and len(before.outputs) == 1
                and len(self.readers[between]) == 1 and between not in {*self.model.outputs, *self.overrides}
                and self._is_implied(clip, before))

    def _is_implied(self, clip: Node, before: Node) -> bool:
        """Whether the step for the results of Relu or Clip, which has to have 0, represents no others."""
        low, high = self.ranges.get(clip.outputs[0], (1, 0))
        if low > high or clip.outputs[0] in self.overrides or before.op_type in UNIT_RANGE:
            return False
        least, most = (0, math.inf) if clip.is_a("Relu") else self._bounds(clip)
        return least <= min(low, 0) and max(high, 0) <= most

    def _bounds(self, clip: Node) -> Tuple[float, float]:
        """The bounds of Clip; those that are not constants: none that a range is within."""
        bounds = [clip.attribute("min", -math.inf), clip.attribute("max", math.inf)]  # before opset 11
        for i, name in enumerate(clip.inputs[1:3]):
            if name:
                tensor = self.model.constant(name)
                bounds[i] = (math.inf, -math.inf)[i] if tensor is None else float(tensor.array())
        return bounds[0], bounds[1]

    def _writes_output(self, node: Node) -> bool:
        """Whether results of the operator are quantized."""
        return node.op_type not in self.settings.options.get("OpTypesToExcludeOutputQuantization", ())

    def _can_be_quantized(self, node: Node) -> bool:
        if ROLES[node.op_type] is not Role.PRODUCT:
            return self._is_float(node.outputs[0]) and not self._has_scalar(node)
        if not self._is_float(node.input(0)):
            return False
        tensor = self.model.constant(node.input(1))
        if tensor is None and node.input(1) in self.model.initializers:
            return False  # a caller may set it
        if tensor is None:
            return (node.is_a("MatMul", "Gemm") and self._is_float(node.input(1))
                    and not self.settings.options.get("MatMulConstBOnly"))
        return tensor.type == FLOAT

    def _has_scalar(self, node: Node) -> bool:
        """Whether it is a sum or product with a constant of one element: part of a normalization (epsilon) or of GELU, whose
        other values a step would lose, or a scaling, which saves nothing."""
        if not node.is_a("Add", "Mul"):
            return False
        constants = [self.model.constant(name) for name in node.inputs]
        return any(tensor is not None and all(size == 1 for size in tensor.dims) for tensor in constants)

    def _choose_tensors(self) -> None:
        """Decides in the order of the nodes, as results of MOVE depend on their inputs."""
        is_forced = bool(self.settings.options.get("ForceQuantizeNoInputCheck"))
        for node in self.model.nodes:
            if not self.settings.selection.wants(node):
                continue
            role = ROLES[node.op_type]
            if role is Role.MOVE:
                self._choose_move(node, is_forced)
            elif self._can_be_quantized(node):
                self.roles[id(node)] = role
                inputs = node.inputs[:2] if role is Role.PRODUCT else node.inputs[:FLOAT_INPUTS.get(node.op_type)]
                for name in inputs:
                    if self._is_float(name):
                        self.sources.setdefault(name, name)
                for name in node.outputs if self._writes_output(node) else []:
                    if self._is_float(name):
                        if node.op_type in UNIT_RANGE:
                            self.ranges[name] = UNIT_RANGE[node.op_type]
                        self.sources.setdefault(name, name)

    def _choose_move(self, node: Node, is_forced: bool) -> None:
        source = node.input(0)
        if not self._is_float(source) or not (is_forced or source in self.sources):
            return
        self.roles[id(node)] = Role.MOVE
        self.sources.setdefault(source, source)
        for name in node.outputs if self._writes_output(node) else []:
            if self._is_float(name):
                self.sources[name] = self.sources[source]

    # Steps

    def _override(self, name: str) -> Mapping[str, Any]:
        return self.overrides.get(name, {})

    def step(self, name: str) -> Step:
        """The step of a tensor, which may be that of another one."""
        source = self.sources[name]
        if source not in self.steps:
            self.steps[source] = self._make_step(source)
        return self.steps[source]

    def _make_step(self, name: str) -> Step:
        override, settings = self._override(name), self.settings
        with _errors_of(name):
            return step_of_override(override, override.get("quant_type", settings.activation)) or step_of(
                override.get("rmin", self.ranges[name][0]), override.get("rmax", self.ranges[name][1]),
                override.get("quant_type", settings.activation), override.get("symmetric", settings.is_activation_symmetric),
                bool(override.get("reduce_range", False)), settings.options.get("MinimumRealRange"))

    # Constants

    def _quantize_constants(self, node: Node) -> None:
        role = self.roles[id(node)]
        if role is Role.PRODUCT:
            self._quantize_weight(node)
        elif role is not Role.MOVE:
            for i, name in enumerate(node.inputs[:FLOAT_INPUTS.get(node.op_type)]):
                tensor = self.model.constant(name)
                if tensor is not None and tensor.type == FLOAT:
                    node.inputs[i] = self._constant(name, tensor.array(), None, self.settings.activation, False)[0]

    def _axis(self, node: Node, array: Any) -> Optional[int]:
        """The axis of a weight's channels, along which it has a scale each; None: one scale."""
        if not self.settings.is_per_channel:
            return None
        if node.is_a("Conv"):
            return 0
        if node.is_a("ConvTranspose"):
            return 1 if node.attribute("group", 1) == 1 else None
        if array.ndim != 2:
            return None
        return 0 if node.is_a("Gemm") and node.attribute("transB", 0) else 1

    def _quantize_weight(self, node: Node) -> None:
        tensor = self.model.constant(node.input(1))
        if tensor is None:
            return
        weight = tensor.array()
        if weight.size == 0 or not numpy().isfinite(weight).all():
            warn(f"node '{node.name}' stays in floats: its weight '{tensor.name}' is empty, or not finite")
            del self.roles[id(node)]
            return
        axis = self._axis(node, weight)
        bias = self.model.constant(node.input(2))
        scaled = None if bias is None or bias.type != FLOAT or node.inputs[0] not in self.sources \
            else (self.step(node.inputs[0]).scale, bias.array())
        node.inputs[1], step = self._constant(tensor.name, weight, axis, self.settings.weight, True, scaled)
        if node.input(2) and self.settings.options.get("QuantizeBias", True):
            self._quantize_bias(node, step)

    @staticmethod
    def _for_bias(step: Step, scale: Any, bias: Any) -> Step:
        """The step of a weight, with larger scales where the bias in units of both scales exceeded 32 bits: then the weights
        are nearly 0. Engines quantize a bias so even where the model does not."""
        np = numpy()
        if not np.isfinite(bias).all() or not scale > 0:
            return step
        least = np.abs(bias.astype("f8")) / (float(scale) * LARGEST_BIAS)
        if step.scale.ndim == 0:
            least = least.max(initial=0)
        elif least.shape != step.scale.shape:
            return step
        return Step(np.maximum(step.scale, least).astype("f4"), step.zero)

    def _constant(self, name: str, array: Any, axis: Optional[int], kind: QuantType, is_weight: bool,
                  bias: Optional[Tuple[Any, Any]] = None) -> Tuple[str, Step]:
        """The dequantized constant, and its step. bias: (scale of the source, bias) of a product by this weight."""
        if (name, axis) not in self.constants:
            settings = self.settings
            override = self._override(name)
            kind = override.get("quant_type", kind)
            is_symmetric = override.get("symmetric", settings.is_weight_symmetric if is_weight else settings.is_activation_symmetric)
            is_reduced = bool(override.get("reduce_range", settings.is_reduced and is_weight))
            with _errors_of(name):
                fixed = step_of_override(override, kind, axis)
                step = fixed or weight_step(array, kind, axis, is_symmetric, is_reduced, override.get("rmin"), override.get("rmax"))
            if is_weight and fixed is None and bias is not None:
                step = self._for_bias(step, *bias)
            numbers = quantized(array, step, axis, None if fixed else limits(kind, is_reduced, is_symmetric))
            self.constants[name, axis] = self._dequantized(name, numbers, step, axis), step
        return self.constants[name, axis]

    def _dequantized(self, name: str, numbers: Any, step: Step, axis: Optional[int]) -> str:
        """Adds the numbers, and the node that makes floats of them. Returns the name of these."""
        model = self.model
        inputs = [model.add(numbers, f"{name}_quantized"), model.add(step.scale, f"{name}_scale"),
                  model.add(step.zero, f"{name}_zero_point")]
        output = model.unique(f"{name}_DequantizeLinear_Output")
        attributes: Dict[str, Any] = {} if axis is None else {"axis": axis}
        self.heads.append(Node("DequantizeLinear", inputs, [output], model.unique(f"{name}_DequantizeLinear"), self.domain,
                               **attributes))
        return output

    def _quantize_bias(self, node: Node, weight: Step) -> None:
        """Makes the bias 32-bit integers, if it is constant, finite, added as it is, and does not exceed them."""
        np = numpy()
        tensor = self.model.constant(node.inputs[2])
        if tensor is None or tensor.type != FLOAT or node.inputs[0] not in self.sources \
                or node.attribute("alpha", 1.0) != 1 or node.attribute("beta", 1.0) != 1:
            return
        bias = tensor.array()
        scale = (np.asarray(self.step(node.inputs[0]).scale, "f4") * weight.scale).astype("f4")
        is_by_channel = scale.ndim == 1
        numbers = np.rint(bias.astype("f8") / scale) if (scale > 0).all() else np.array(np.inf)
        if not (np.abs(numbers) < 2 ** 31).all() or bias.ndim != 1 and is_by_channel:
            return
        step = Step(scale, np.zeros(scale.shape, "i4"))
        node.inputs[2] = self._dequantized(tensor.name, numbers.astype("i4"), step, 0 if is_by_channel else None)

    # Nodes

    def _add_pair(self, name: str) -> None:
        """Adds QuantizeLinear and DequantizeLinear of a tensor. Of an output of the model, the floats before them get another
        name."""
        model = self.model
        step = self.step(name)
        source = self.sources[name]
        inputs = [model.shared(f"{source}_scale", step.scale), model.shared(f"{source}_zero_point", step.zero)]
        floats, result = name, f"{name}_DequantizeLinear_Output"
        if name in model.outputs and name in self.producers:
            floats, result = model.unique(f"{name}_QuantizeLinear_Input"), name
            producer = self.producers[name]
            producer.outputs = [floats if output == name else output for output in producer.outputs]
        else:
            result = model.unique(result)
        numbers = model.unique(f"{name}_QuantizeLinear_Output")
        self.added[floats] = [
            Node("QuantizeLinear", [floats, *inputs], [numbers], model.unique(f"{name}_QuantizeLinear"), self.domain),
            Node("DequantizeLinear", [numbers, *inputs], [result], model.unique(f"{name}_DequantizeLinear"), self.domain)]

    def _redirect(self) -> None:
        """Readers of a tensor with a pair read its result."""
        names = {pair[0].inputs[0]: pair[1].outputs[0] for pair in self.added.values()}
        for node in self.model.nodes:
            node.inputs = [names.get(name, name) for name in node.inputs]

    def _insert(self) -> None:
        """Puts each node after those that it reads."""
        nodes = [*self.heads]
        written: Set[str] = set()
        for floats, pair in self.added.items():
            if floats in self.model.inputs:
                nodes += pair
                written.add(floats)
        for node in self.model.nodes:
            nodes.append(node)
            for name in node.outputs:
                if name in self.added and name not in written:
                    nodes += self.added[name]
                    written.add(name)
        self.model.nodes = nodes


@contextlib.contextmanager
def _errors_of(name: str) -> Iterator[None]:
    """Errors of a step name its tensor."""
    try:
        yield
    except InvalidArgument as error:
        raise InvalidArgument(f"tensor '{name}': {error}; exclude its operators by nodes_to_exclude") from None


def settings_of(selection: Selection, per_channel: bool, reduce_range: bool, activation: QuantType, weight: QuantType,
                options: Mapping[str, Any]) -> Settings:
    """The arguments of quantize_static. NotImplemented: a type."""
    dtype_of(activation)
    return Settings(activation, weight, per_channel, reduce_range, bool(options.get("ActivationSymmetric", False)),
                    bool(options.get("WeightSymmetric", is_signed(weight))), selection, options)
