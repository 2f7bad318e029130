# SPDX-License-Identifier: Apache-2.0
"""Dynamic quantization: constant weights in 8 bits, sources rounded at each run to the range that they have then."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .._arrays import numpy
from .._errors import InvalidArgument
from ._graph import Model
from ._node import CONTRIB, ONNX, Node
from ._selection import Selection
from ._tensor import FLOAT, Tensor
from .quant_utils import QuantType, dtype_of, is_signed, limits, quantized, weight_step

OPSET = 11  # has DynamicQuantizeLinear


class Settings(NamedTuple):
    """The arguments of quantize_dynamic."""

    weight: QuantType
    is_per_channel: bool
    is_reduced: bool
    is_symmetric: bool
    selection: Selection


class Quantizer:
    """Changes a model."""

    def __init__(self, model: Model, settings: Settings) -> None:
        self.model, self.settings = model, settings
        self.sources: Dict[str, List[str]] = {}  # tensor -> its numbers, their scale and zero point
        self.weights: Dict[Tuple[Any, ...], List[str]] = {}  # (tensor, transposed, axis, type) -> the same
        self.opset = model.opsets.get(ONNX, 1)
        self.nodes: List[Node] = []

    def run(self) -> int:
        """Quantizes the model. Returns the number of quantized operators."""
        count = 0
        for node in self.model.nodes:
            weight = self._weight(node)
            if weight is None:
                self.nodes.append(node)
            else:
                count += 1
                OPERATORS[node.op_type](self, node, weight)
        self.model.nodes = self.nodes
        self.model.remove_unused()
        return count

    def _weight(self, node: Node) -> Optional[Tensor]:
        """The constant floats that are quantized; None: the operator stays."""
        if not self.settings.selection.wants(node):
            return None
        tensor = self.model.constant(node.input(0 if node.op_type == "Gather" else 1))
        if tensor is None or tensor.type != FLOAT or 0 in tensor.dims or not _is_supported(node, tensor, self.opset):
            return None
        return tensor if numpy().isfinite(tensor.array()).all() else None

    def _put(self, op_type: str, inputs: Sequence[str], name: str, n: int = 1, output: str = "", **attributes: Any) -> List[str]:
        """Appends a node. Returns its outputs, the first of which is `output` if given."""
        outputs = [output or self.model.unique(f"{name}_output" + (f"_{i}" if i else "")) for i in range(n)]
        self.nodes.append(Node(op_type, inputs, outputs, self.model.unique(name), **attributes))
        return outputs

    def _source(self, name: str) -> List[str]:
        if name not in self.sources:
            self.sources[name] = self._put("DynamicQuantizeLinear", [name], f"{name}_QuantizeLinear", 3)
        return self.sources[name]

    def _numbers(self, tensor: Tensor, is_transposed: bool, is_by_column: bool, kind: QuantType) -> List[str]:
        """Adds the quantized weight. Returns the names of its numbers, scale and zero point."""
        settings = self.settings
        key = tensor.name, is_transposed, is_by_column, kind
        if key not in self.weights:
            array = numpy().ascontiguousarray(tensor.array().T) if is_transposed else tensor.array()
            axis = array.ndim - 1 if is_by_column else None
            is_symmetric = settings.is_symmetric or kind is not settings.weight
            step = weight_step(array, kind, axis, is_symmetric, settings.is_reduced)
            numbers = quantized(array, step, axis, limits(kind, settings.is_reduced, is_symmetric))
            self.weights[key] = [self.model.add(numbers, f"{tensor.name}_quantized"), self.model.add(step.scale, f"{tensor.name}_scale"),
                                 self.model.add(step.zero, f"{tensor.name}_zero_point")]
        return self.weights[key]

    def _scaled(self, node: Node, sums: str, scales: Sequence[str], bias: str) -> None:
        """Appends what makes floats of integer sums: times both scales, plus a bias if there is one."""
        name = node.name or node.outputs[0]
        factor = self._put("Mul", scales, f"{name}_scale")[0]
        floats = self._put("Cast", [sums], f"{name}_cast", to=FLOAT)[0]
        last = node.outputs[0]
        result = self._put("Mul", [floats, factor], f"{name}_scaled", output="" if bias else last)[0]
        if bias:
            self._put("Add", [result, bias], f"{name}_bias", output=last)

    def product(self, node: Node, tensor: Tensor) -> None:
        """MatMul and Gemm become MatMulInteger."""
        is_transposed = node.is_a("Gemm") and bool(node.attribute("transB", 0))
        is_by_column = self.settings.is_per_channel and len(tensor.dims) == 2
        numbers, scale, zero = self._numbers(tensor, is_transposed, is_by_column, self.settings.weight)
        bias = node.input(2)
        if self.opset < OPSET:
            self._product_of_old(node, [node.input(0), numbers, scale, zero], bias)
            return
        source, source_scale, source_zero = self._source(node.input(0))
        sums = self._put("MatMulInteger", [source, numbers, source_zero, zero], f"{node.name or node.outputs[0]}_quant")[0]
        self._scaled(node, sums, [source_scale, scale], bias)

    def _product_of_old(self, node: Node, inputs: List[str], bias: str) -> None:
        """The same in an operator set without these operators: by one of com.microsoft."""
        name, last = node.name or node.outputs[0], node.outputs[0]
        result = self._put("DynamicQuantizeMatMul", inputs, f"{name}_quant", output="" if bias else last, domain=CONTRIB)[0]
        if bias:
            self._put("Add", [result, bias], f"{name}_bias", output=last)
        self.model.opsets.setdefault(CONTRIB, 1)

    def conv(self, node: Node, tensor: Tensor) -> None:
        """Conv becomes ConvInteger. Its weights are always unsigned, as ONNX Runtime has no other kernel."""
        numbers, scale, zero = self._numbers(tensor, False, False, QuantType.QUInt8)
        source, source_scale, source_zero = self._source(node.input(0))
        name = node.name or node.outputs[0]
        sums = self._put("ConvInteger", [source, numbers, source_zero, zero], f"{name}_quant")[0]
        self.nodes[-1].attributes = dict(node.attributes)
        bias = node.input(2)
        if bias:
            shape = self.model.add(numpy().array([1, -1] + [1] * (len(tensor.dims) - 2), "i8"), f"{name}_bias_shape")
            bias = self._put("Reshape", [bias, shape], f"{name}_bias_reshaped")[0]
        self._scaled(node, sums, [source_scale, scale], bias)

    def gather(self, node: Node, tensor: Tensor) -> None:
        """Gather from a table of 8 bits, whose rows become floats."""
        numbers, scale, zero = self._numbers(tensor, False, False, self.settings.weight)
        rows = self._put("Gather", [numbers, node.input(1)], f"{node.name or node.outputs[0]}_quant")[0]
        self.nodes[-1].attributes = dict(node.attributes)
        self._put("DequantizeLinear", [rows, scale, zero], f"{node.outputs[0]}_DequantizeLinear", output=node.outputs[0])


OPERATORS: Dict[str, Callable[[Quantizer, Node, Tensor], None]] = {
    "Conv": Quantizer.conv, "Gather": Quantizer.gather, "Gemm": Quantizer.product, "MatMul": Quantizer.product}


def _is_supported(node: Node, weight: Tensor, opset: int) -> bool:
    if opset < OPSET and not node.is_a("Gemm", "MatMul"):
        return False
    if node.is_a("Gemm"):
        return (node.attribute("alpha", 1.0) == 1 and node.attribute("beta", 1.0) == 1 and not node.attribute("transA", 0))
    return not node.is_a("MatMul") or len(weight.dims) >= 2


def settings_of(selection: Selection, per_channel: bool, reduce_range: bool, weight: QuantType, options: Mapping[str, Any]) -> Settings:
    """The arguments of quantize_dynamic. InvalidArgument: a type that is not of 8 bits."""
    if dtype_of(weight).itemsize != 1:
        raise InvalidArgument(f"weight_type is {weight}, expected QInt8 or QUInt8")
    return Settings(weight, per_channel, reduce_range, bool(options.get("WeightSymmetric", is_signed(weight))), selection)
