# SPDX-License-Identifier: Apache-2.0
"""Shapes of all values of an ONNX model, by the name of onnxruntime. They are those of ONNX's own shape inference, which follows
values that decide shapes; values that it does not know keep none."""
from __future__ import annotations

import onnx
from onnx import shape_inference


class SymbolicShapeInference:
    """infer_shapes is static."""

    @staticmethod
    def infer_shapes(in_mp: onnx.ModelProto, int_max: int = 2 ** 31 - 1, auto_merge: bool = False, guess_output_rank: bool = False,
                     verbose: int = 0) -> onnx.ModelProto:
        """A copy of the model with types and shapes in value_info. int_max, auto_merge, guess_output_rank and verbose are
        accepted: ONNX's inference merges sizes itself, and guesses none."""
        return shape_inference.infer_shapes(in_mp, data_prop=True)
