// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication of pairs of bfloat16 by matrix units, see gemm.h.

#include "kernel/matmul/gemm.h"

#define BLOCK_FUNC SIMD(tl_gemm_tile)
#define TILES_FILE "kernel/matmul/gemm_units_simd.inc.h"
#include "kernel/matmul/gemm_block_simd.inc.h"
