// SPDX-License-Identifier: Apache-2.0
// Products of tiles of bfloat16: see peak_rates_simd.c.

#include "kernel/peak_rates/peak_rates.h"
#include "kernel/peak_rates/peak_rates_tiles.inc.h"
#include "kernel/simd/tl_simd.h"
#include "tensor/tl_half.h"

static uint32_t pair_of(float x)
{
    return tl_bfloat_from_float(x) * UINT32_C(0x10001);
}

double SIMD(tl_peak_pair_tile)(size_t rounds, float factor1, float factor2, float *result)
{
    tl_tiles t = {0};
    tile_of_words left, right;
    float sums[TL_TILE_ROWS][TL_TILE_ROWS];
    const size_t n = tile_rounds(rounds);
    for (int i = 0; i < TL_TILE_ROWS * TL_TILE_ROWS; i++) {
        left.words[i / TL_TILE_ROWS][i % TL_TILE_ROWS] = pair_of(factor1);
        right.words[i / TL_TILE_ROWS][i % TL_TILE_ROWS] = pair_of(factor2);
    }
    begin_tiles(&t, &left, &right);
    for (size_t r = 0; r < n; r++)
        TL_TILE_ADD_ALL(pairs, &t);
    tl_tile_store(&t, 3, sums, TL_TILE_BYTES);
    tl_tile_end();
    *result = sums[0][0];
    return tile_products((double)n) * 2;
}
