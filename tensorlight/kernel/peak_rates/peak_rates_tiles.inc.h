// SPDX-License-Identifier: Apache-2.0
// Shared by the kernels that measure the peak rates of matrix units.

#include "kernel/simd/tl_tile.h"

typedef struct tile_of_words {
    _Alignas(64) uint32_t words[TL_TILE_ROWS][TL_TILE_ROWS];
} tile_of_words;

// Loads all factors; the sums are 0.
static inline void begin_tiles(tl_tiles *t, const tile_of_words *left, const tile_of_words *right)
{
    tl_tile_begin(t, TL_TILE_ROWS, TL_TILE_BYTES);
    tl_tile_zero_sums(t);
    tl_tile_load(t, 4, left->words, TL_TILE_BYTES);
    tl_tile_load(t, 5, left->words, TL_TILE_BYTES);
    tl_tile_load(t, 6, right->words, TL_TILE_BYTES);
    tl_tile_load(t, 7, right->words, TL_TILE_BYTES);
}

// As many rounds as take about as long as `rounds` of a kernel in vectors.
static inline size_t tile_rounds(size_t rounds)
{
    return (rounds + TL_TILE_COST - 1) / TL_TILE_COST;
}

// Additions and multiplications of words in `rounds` rounds of four products.
static inline double tile_products(double rounds)
{
    return 2.0 * 4 * TL_TILE_ROWS * TL_TILE_ROWS * TL_TILE_ROWS * rounds;
}
