// SPDX-License-Identifier: Apache-2.0
// Products of tiles of bytes: see peak_rates_simd.c.

#include "kernel/peak_rates/peak_rates.h"
#include "kernel/peak_rates/peak_rates_tiles.inc.h"
#include "kernel/simd/tl_simd_small.h"

double SIMD_OF(tl_peak_tile_u8)(size_t rounds, const uint8_t *src, const int8_t *weight,
                                float *result)
{
    tl_tiles t = {0};
    tile_of_words left, right;
    int32_t sums[TL_TILE_ROWS][TL_TILE_ROWS];
    const size_t n = tile_rounds(rounds);
    for (int i = 0; i < TL_TILE_ROWS; i++) {
        memcpy(right.words[i], weight, TL_TILE_BYTES);
        for (int j = 0; j < TL_TILE_ROWS; j++)
            memcpy(&left.words[i][j], src, sizeof(left.words[i][j]));
    }
    begin_tiles(&t, &left, &right);
    for (size_t r = 0; r < n; r++)
        TL_TILE_ADD_ALL(us, &t);
    tl_tile_store(&t, 3, sums, TL_TILE_BYTES);
    tl_tile_end();
    int32_t max = sums[0][0];
    for (int i = 1; i < TL_TILE_ROWS; i++)
        max = sums[0][i] > max ? sums[0][i] : max;
    *result = (float)max;
    return tile_products((double)n) * 4;
}
