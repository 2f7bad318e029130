# SPDX-License-Identifier: Apache-2.0
"""Weight-only quantization: constant matrices in 2, 4 or 8 bits, with a scale for each block of rows of a column.

    quantizer = MatMulNBitsQuantizer("decoder.onnx", bits=4, block_size=32, is_symmetric=True)
    quantizer.process()
    quantizer.model.save_model_to_file("decoder4.onnx")
"""
from __future__ import annotations

import argparse
from typing import Any, Optional, Sequence, Tuple

from .._arrays import numpy
from .._errors import InvalidArgument, NotImplemented
from ._graph import CONTRIB, FLOAT, FLOAT16, Node, Tensor
from .onnx_model import ONNXModel
from .quant_utils import QuantFormat

BITS = (2, 4, 8)


class DefaultWeightOnlyQuantConfig:
    """The arguments of MatMulNBitsQuantizer, as its algo_config."""

    def __init__(self, block_size: int = 128, is_symmetric: bool = False, accuracy_level: Optional[int] = None,
                 quant_format: QuantFormat = QuantFormat.QOperator, op_types_to_quantize: Optional[Sequence[str]] = None,
                 quant_axes: Any = None, bits: int = 4, channel_wised_quantize: bool = False) -> None:
        self.block_size, self.is_symmetric, self.accuracy_level = block_size, is_symmetric, accuracy_level
        self.quant_format, self.op_types_to_quantize, self.bits = quant_format, op_types_to_quantize, bits
        if channel_wised_quantize:
            raise NotImplemented("channel_wised_quantize: expected blocks")


class MatMulNBitsQuantizer:
    """Makes MatMulNBits of each MatMul by a constant matrix of floats.

    model: a file, bytes or a message. block_size: a power of 2, at least 16. is_symmetric: without zero points. accuracy_level:
    the attribute of MatMulNBits; 4 allows sources in 8 bits.
    """

    def __init__(self, model: Any, block_size: int = 128, is_symmetric: bool = False, accuracy_level: Optional[int] = None,
                 nodes_to_exclude: Optional[Sequence[str]] = None, nodes_to_include: Optional[Sequence[str]] = None,
                 quant_format: QuantFormat = QuantFormat.QOperator, op_types_to_quantize: Optional[Sequence[str]] = None,
                 quant_axes: Any = None, bits: int = 4, channel_wised_quantize: bool = False,
                 algo_config: Optional[DefaultWeightOnlyQuantConfig] = None) -> None:
        if algo_config is not None and not isinstance(algo_config, DefaultWeightOnlyQuantConfig):
            raise NotImplemented(f"algo_config is of type {type(algo_config).__name__}, expected DefaultWeightOnlyQuantConfig")
        self._config = algo_config or DefaultWeightOnlyQuantConfig(
            block_size, is_symmetric, accuracy_level, quant_format, op_types_to_quantize, quant_axes, bits, channel_wised_quantize)
        self._excluded, self._included = list(nodes_to_exclude or ()), list(nodes_to_include or ())
        self._check()
        self.model = ONNXModel(model)

    def _check(self) -> None:
        config = self._config
        if config.bits not in BITS:
            raise InvalidArgument(f"bits is {config.bits}, expected one of {BITS}")
        if config.block_size < 16 or config.block_size & config.block_size - 1:
            raise InvalidArgument(f"block_size is {config.block_size}, expected a power of 2, at least 16")
        if config.quant_format is not QuantFormat.QOperator:
            raise NotImplemented(f"QuantFormat.{config.quant_format}: expected QOperator, which writes MatMulNBits")
        others = set(config.op_types_to_quantize or ()) - {"MatMul"}
        if others:
            raise NotImplemented(f"op_types_to_quantize has {sorted(others)}, expected MatMul")

    def process(self) -> None:
        """Quantizes self.model."""
        model = self.model._model
        for node in model.nodes:
            tensor = model.constant(node.inputs[1]) if node.is_a("MatMul") else None
            is_wanted = node.name not in self._excluded and (not self._included or node.name in self._included)
            if tensor is not None and is_wanted and tensor.type in (FLOAT, FLOAT16) and len(tensor.dims) == 2 and 0 not in tensor.dims:
                self._quantize(node, tensor)
        model.remove_unused()

    def _quantize(self, node: Node, tensor: Tensor) -> None:
        model, config = self.model._model, self._config
        k, n = tensor.dims
        parts = blocks_of(tensor.array(), config.bits, config.block_size, config.is_symmetric)
        suffix = f"Q{config.bits}"
        names = [model.shared(f"{tensor.name}_{suffix}{what}", array)
                 for what, array in zip(("", "_scales", "_zero_points"), parts) if array is not None]
        attributes = {"K": k, "N": n, "bits": config.bits, "block_size": config.block_size}
        if config.accuracy_level:
            attributes["accuracy_level"] = config.accuracy_level
        made = Node("MatMulNBits", [node.inputs[0], *names], node.outputs, node.name and f"{node.name}_{suffix}", CONTRIB, **attributes)
        model.nodes[model.nodes.index(node)] = made
        model.opsets.setdefault(CONTRIB, 1)


class MatMul4BitsQuantizer(MatMulNBitsQuantizer):
    """The same with 4 bits, by its older name."""


def blocks_of(weight: Any, bits: int, block: int, is_symmetric: bool) -> Tuple[Any, Any, Optional[Any]]:
    """(numbers, scales, zero points) of a matrix [K, N], as MatMulNBits reads them: uint8 [N, K / block, block * bits / 8],
    [N, K / block] of the type of the weight, uint8 [N, (K / block * bits + 7) / 8] or None, where the zero point is
    2 ** (bits - 1). The last block is filled up with zeros."""
    np = numpy()
    k, n = weight.shape
    count, most, half = -(-k // block), 2 ** bits - 1, 2 ** (bits - 1)
    padded = np.zeros((n, count * block), "f4")
    padded[:, :k] = weight.T
    values = padded.reshape(n, count, block)
    if not np.isfinite(values).all():
        raise InvalidArgument("a weight has elements that are not finite; exclude its node by nodes_to_exclude")
    if is_symmetric:
        extreme = np.take_along_axis(values, np.abs(values).argmax(2)[:, :, None], 2)[:, :, 0]
        scales, zeros = extreme / -half, np.full((n, count), half, "u1")  # the extreme becomes the number 0
    else:
        low, high = np.minimum(values.min(2), 0), np.maximum(values.max(2), 0)
        scales = (high - low) / most
        zeros = np.clip(np.rint(-low / np.where(scales == 0, 1, scales)), 0, most).astype("u1")
    scales = np.where(scales == 0, 1, scales).astype(weight.dtype)
    numbers = np.clip(np.rint(values / scales[:, :, None].astype("f4")) + zeros[:, :, None], 0, most).astype("u1")
    packed = _packed(numbers.reshape(n, -1), bits).reshape(n, count, -1)
    return packed, scales, None if is_symmetric else _packed(zeros, bits)


def _packed(numbers: Any, bits: int) -> Any:
    """Rows of bytes, the first number in the lowest bits."""
    np = numpy()
    n, each = len(numbers), 8 // bits
    filled = np.zeros((n, -(-numbers.shape[1] // each) * each), "u1")
    filled[:, :numbers.shape[1]] = numbers
    shifts = np.arange(each, dtype="u1") * bits
    return np.bitwise_or.reduce(filled.reshape(n, -1, each) << shifts, 2).astype("u1")


def main(arguments: Optional[Sequence[str]] = None) -> None:
    """The command python -m onnxruntime.quantization.matmul_nbits_quantizer."""
    parser = argparse.ArgumentParser(description="Writes the constant matrices of a model in few bits.")
    parser.add_argument("--input_model", required=True, help="the model")
    parser.add_argument("--output_model", required=True, help="the file to write")
    parser.add_argument("--bits", type=int, default=4, choices=BITS)
    parser.add_argument("--block_size", type=int, default=32, help="rows that share a scale: a power of 2, at least 16")
    parser.add_argument("--symmetric", nargs="?", const=True, default=True, type=lambda text: text.lower() != "false")
    parser.add_argument("--accuracy_level", type=int, help="of MatMulNBits")
    parser.add_argument("--nodes_to_exclude", nargs="+", default=[], help="names of nodes that stay")
    parser.add_argument("--use_external_data_format", action="store_true", help="constants of 1 KB or more go to a file beside it")
    given = parser.parse_args(arguments)
    quantizer = MatMulNBitsQuantizer(given.input_model, given.block_size, given.symmetric, given.accuracy_level,
                                     given.nodes_to_exclude, bits=given.bits)
    quantizer.process()
    quantizer.model.save_model_to_file(given.output_model, given.use_external_data_format)


if __name__ == "__main__":
    main()
