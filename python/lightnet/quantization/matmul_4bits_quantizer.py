# SPDX-License-Identifier: Apache-2.0
"""Weight-only quantization, by its older name."""
from .matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMul4BitsQuantizer, main

__all__ = ["DefaultWeightOnlyQuantConfig", "MatMul4BitsQuantizer"]

if __name__ == "__main__":
    main()
