# SPDX-License-Identifier: Apache-2.0
"""Weight-only quantization: constant matrices in 2, 4 or 8 bits, with a scale for each block of rows of a column.

    quantizer = MatMulNBitsQuantizer("decoder.onnx", bits=4, block_size=32, is_symmetric=True)
    quantizer.process()
    quantizer.model.save_model_to_file("decoder4.onnx")
"""
from __future__ import annotations

import argparse
from typing import Any, Optional, Sequence

from .._arrays import numpy
from .._blockwise import check_block_size, in_blocks
from .._command import errors_end, truth
from .._errors import InvalidArgument, NotImplemented
from ._node import CONTRIB, Node
from ._selection import Selection, names_of
from ._tensor import FLOAT, FLOAT16, Tensor
from .onnx_model import ONNXModel
from .quant_utils import QuantFormat

BITS = (2, 4, 8)


class DefaultWeightOnlyQuantConfig:
    """The arguments of MatMulNBitsQuantizer, as its algo_config."""

    def __init__(self, block_size: int = 128, is_symmetric: bool = False, accuracy_level: Optional[int] = None,
                 quant_format: QuantFormat = QuantFormat.QOperator, op_types_to_quantize: Optional[Sequence[str]] = None,
                 quant_axes: Any = None, bits: int = 4, channel_wised_quantize: bool = False) -> None:
        self.block_size, self.is_symmetric, self.accuracy_level = block_size, is_symmetric, accuracy_level
        self.quant_format, self.op_types_to_quantize = quant_format, op_types_to_quantize
        self.quant_axes, self.bits = quant_axes, bits
        if channel_wised_quantize:
            raise NotImplemented("channel_wised_quantize: expected blocks")


class MatMulNBitsQuantizer:
    """Makes MatMulNBits of each MatMul by a constant matrix of floats.

    model: a file, bytes or a message. block_size: a power of 2, at least 16. is_symmetric: without zero points. accuracy_level:
    the attribute of MatMulNBits; 4 allows sources in 8 bits. nodes_to_include: no others; None: all.
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
        self._selection = Selection(frozenset({"MatMul"}), names_of("nodes_to_include", nodes_to_include),
                                    names_of("nodes_to_exclude", nodes_to_exclude))
        self._check()
        self.model = ONNXModel(model)

    def _check(self) -> None:
        config = self._config
        if config.bits not in BITS:
            raise InvalidArgument(f"bits is {config.bits}, expected one of {BITS}")
        check_block_size(config.block_size)
        if config.quant_format is not QuantFormat.QOperator:
            raise NotImplemented(f"QuantFormat.{config.quant_format}: expected QOperator, which writes MatMulNBits")
        others = names_of("op_types_to_quantize", config.op_types_to_quantize) - {"MatMul"}
        if others:
            raise NotImplemented(f"op_types_to_quantize has {sorted(others)}, expected MatMul")
        axis = dict(config.quant_axes or ()).get("MatMul", 0)
        if axis != 0:
            raise NotImplemented(f"quant_axes has axis {axis} of MatMul, expected 0: blocks of rows")

    def process(self) -> None:
        """Quantizes self.model."""
        model = self.model._model
        self._selection.warn_of_unknown(model)
        for node in model.nodes:
            tensor = model.constant(node.input(1)) if self._selection.wants(node) else None
            if tensor is not None and tensor.type in (FLOAT, FLOAT16) and len(tensor.dims) == 2 and 0 not in tensor.dims:
                self._quantize(node, tensor)
        model.remove_unused()

    def _quantize(self, node: Node, tensor: Tensor) -> None:
        model, config = self.model._model, self._config
        k, n = tensor.dims
        weight = tensor.array()
        if not numpy().isfinite(weight).all():
            raise InvalidArgument(f"weight '{tensor.name}' is not finite; exclude its nodes by nodes_to_exclude")
        parts = in_blocks(weight, config.bits, config.block_size, n, k, config.is_symmetric, weight.dtype)
        suffix = f"Q{config.bits}"
        names = [model.shared(f"{tensor.name}_{suffix}{what}", array)
                 for what, array in zip(("", "_scales") if config.is_symmetric else ("", "_scales", "_zero_points"), parts)]
        attributes = {"K": k, "N": n, "bits": config.bits, "block_size": config.block_size}
        if config.accuracy_level:
            attributes["accuracy_level"] = config.accuracy_level
        made = Node("MatMulNBits", [node.input(0), *names], node.outputs, node.name and f"{node.name}_{suffix}", CONTRIB, **attributes)
        model.nodes[model.nodes.index(node)] = made
        model.opsets.setdefault(CONTRIB, 1)


class MatMul4BitsQuantizer(MatMulNBitsQuantizer):
    """The same with 4 bits, by its older name."""


def main(arguments: Optional[Sequence[str]] = None) -> None:
    """The command python -m onnxruntime.quantization.matmul_nbits_quantizer."""
    parser = argparse.ArgumentParser(description="Writes the constant matrices of a model in few bits.")
    parser.add_argument("--input_model", required=True, help="the model")
    parser.add_argument("--output_model", required=True, help="the file to write")
    parser.add_argument("--bits", type=int, default=4, choices=BITS)
    parser.add_argument("--block_size", type=int, default=32, help="rows that share a scale: a power of 2, at least 16")
    parser.add_argument("--symmetric", nargs="?", const=True, default=True, type=truth)
    parser.add_argument("--accuracy_level", type=int, help="of MatMulNBits")
    parser.add_argument("--nodes_to_exclude", nargs="+", default=[], help="names of nodes that stay")
    parser.add_argument("--use_external_data_format", action="store_true", help="constants of 1 KB or more go to a file beside it")
    given = parser.parse_args(arguments)
    with errors_end(parser):
        quantizer = MatMulNBitsQuantizer(given.input_model, given.block_size, given.symmetric, given.accuracy_level,
                                         given.nodes_to_exclude, bits=given.bits)
        quantizer.process()
        quantizer.model.save_model_to_file(given.output_model, given.use_external_data_format)


if __name__ == "__main__":
    main()
