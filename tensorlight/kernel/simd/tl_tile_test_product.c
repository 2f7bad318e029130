// SPDX-License-Identifier: Apache-2.0
// Compiled for AMX and in C: see tl_tile_test.h.

#include "kernel/simd/tl_tile_test.h"

#ifdef TL_SIMD_AMX
#define tile_product_here tile_product_amx
#else
#define tile_product_here tile_product_c
#endif

void tile_product_here(tile_product *p)
{
    tl_tiles t = {0};
    const ptrdiff_t step = 2 * TL_TILE_BYTES;
    tl_tile_begin(&t, p->rows, p->k);
    tl_tile_load(&t, 0, p->sums[0], step);
    tl_tile_load(&t, 1, p->sums[0] + TL_TILE_BYTES, step);
    tl_tile_load(&t, 2, p->sums[TL_TILE_ROWS], step);
    if (p->is_zeroed)
        tl_tile_zero(&t, 2);
    tl_tile_load(&t, 3, p->sums[TL_TILE_ROWS] + TL_TILE_BYTES, step);
    for (int i = 0; i < p->steps; i++) {
        tl_tile_load(&t, 4, p->left[0], TL_TILE_BYTES);
        tl_tile_load(&t, 5, p->left[TL_TILE_ROWS], TL_TILE_BYTES);
        tl_tile_load(&t, 6, p->right[0], TL_TILE_BYTES);
        tl_tile_load(&t, 7, p->right[TL_TILE_ROWS], TL_TILE_BYTES);
        if (p->factors == PAIRS)
            TL_TILE_ADD_ALL(pairs, &t);
        else if (p->factors == SIGNED)
            TL_TILE_ADD_ALL(su, &t);
        else
            TL_TILE_ADD_ALL(us, &t);
    }
    tl_tile_store(&t, 0, p->sums[0], step);
    tl_tile_store(&t, 1, p->sums[0] + TL_TILE_BYTES, step);
    tl_tile_store(&t, 2, p->sums[TL_TILE_ROWS], step);
    tl_tile_store(&t, 3, p->sums[TL_TILE_ROWS] + TL_TILE_BYTES, step);
    tl_tile_end();
}
