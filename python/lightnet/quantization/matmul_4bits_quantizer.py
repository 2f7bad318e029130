# SPDX-License-Identifier: Apache-2.0
"""Weight-only quantization, by its older name."""
from .matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMul4BitsQuantizer

__all__ = ["DefaultWeightOnlyQuantConfig", "MatMul4BitsQuantizer"]
