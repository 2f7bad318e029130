// SPDX-License-Identifier: Apache-2.0
// Tiles of convolutions of pairs of bfloat16 in the blocked layout, see conv_blocked.h.

#define LINE_FUNC             SIMD(tl_tile_pairs)
#define LANES                 TL_TILE_PAIRS
#define MULTIPLY_ADD(a, b, c) tl_vf_fma_pairs(a, b, c)
#define STORE_ROUNDED(p, v)   tl_vf_store_rounded(p, v)
#define TILES_ROUND           1
#define HAS_PLANES            0
#include "kernel/conv_blocked/conv_blocked_simd.inc.h"
