// SPDX-License-Identifier: Apache-2.0
// For the test of matrix units: a sequence of products that uses all tiles, by AMX and in C.

#pragma once

#include "kernel/simd/tl_tile.h"

typedef enum factors { UNSIGNED, SIGNED, PAIRS } factors;

/** sums += left * right, `steps` times: two tiles of rows and two of columns. */
typedef struct tile_product {
    int rows, k, steps;
    factors
        factors;   // unsigned times signed bytes, signed times unsigned ones, or pairs of bfloat16
    int is_zeroed; // the tile of the second rows and first columns begins with 0
    uint8_t left[2 * TL_TILE_ROWS][TL_TILE_BYTES], right[2 * TL_TILE_ROWS][TL_TILE_BYTES];
    uint8_t sums[2 * TL_TILE_ROWS][2 * TL_TILE_BYTES];
} tile_product;

void tile_product_c(tile_product *p);
void tile_product_amx(tile_product *p);
