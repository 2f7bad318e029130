// SPDX-License-Identifier: Apache-2.0
// For the test of matrix units: a sequence of products that uses all tiles, by AMX and in C.

#pragma once

#include "kernel/simd/tl_tile.h"

/** sums += left * right, `steps` times: two tiles of rows and two of columns. */
typedef struct tile_product {
    int rows, k, steps, are_pairs;
    uint8_t left[2 * TL_TILE_ROWS][TL_TILE_BYTES], right[2 * TL_TILE_ROWS][TL_TILE_BYTES];
    uint8_t sums[2 * TL_TILE_ROWS][2 * TL_TILE_BYTES];
} tile_product;

void tile_product_c(tile_product *p);
void tile_product_amx(tile_product *p);
