// SPDX-License-Identifier: Apache-2.0
// Tiles of convolutions of floats in the blocked layout, see conv_blocked.h.

#define LINE_FUNC             SIMD(tl_tile_line)
#define LANES                 TL_BLOCK
#define MULTIPLY_ADD(a, b, c) tl_vf_fma(a, b, c)
#define STORE_ROUNDED(p, v)   tl_vf_store_bf16(p, v)
#define TILES_ROUND           0
#define HAS_PLANES            1
#include "kernel/conv_blocked/conv_blocked_simd.inc.h"
