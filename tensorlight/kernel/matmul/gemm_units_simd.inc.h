// SPDX-License-Identifier: Apache-2.0
// The tiles of gemm_block_simd.inc.h by matrix units, of pairs of bfloat16.

#include "kernel/simd/tl_tile.h"

enum {
    ROWS = 2 * TL_TILE_ROWS,
    PAIRS = TL_TILE_BYTES / sizeof(float), // of a row of a tile
    PANEL_STEP = TL_GEMM_PANEL * sizeof(float),
};

_Static_assert((int)TL_GEMM_PANEL == 2 * (int)TL_TILE_ROWS && (int)PAIRS == (int)LINE,
               "two tiles of columns");

typedef tl_tiles tile_state;

// The second of two tiles of a strip's rows, in floats from the first one; 0: there is only one.
static size_t second_of(const tl_tile_split *r, size_t row)
{
    int repeated;
    return (size_t)tl_tile_first(r, r->tiles - 1, &repeated) * row;
}

// Adds the products of the pairs at `left` and those of the rows of a panel.
static void add_chunk(tl_tiles *t, const tl_tile_split *r, const float *left, size_t row,
                      const float *panel)
{
    TL_TILE_MULTIPLY(pairs, t, left, left + second_of(r, row), row * sizeof(float), r->tiles > 1,
                     panel, panel + TL_TILE_ROWS, PANEL_STEP, 1);
}

static void multiply(tile_state *t, const strip *s, size_t n, const float *panel, size_t cols,
                     size_t len, const prefetch next[2], float *dst, size_t dst_row)
{
    const tl_tile_split r = tl_tile_split_of((int)n);
    const size_t chunks = len / PAIRS, rest = len % PAIRS, step = dst_row * sizeof(float);
    const size_t second = second_of(&r, dst_row) * sizeof(float), column = TL_TILE_BYTES;
    const int has_rows = r.tiles > 1;
    (void)cols; // those of padding are computed, too
    tl_tile_begin(t, r.each, TL_TILE_BYTES);
    tl_tile_zero_sums(t);
    for (size_t c = 0; c < chunks; c++) {
        prefetch_chunk(next, c);
        add_chunk(t, &r, s->data + c * s->line, s->row, panel + c * PAIRS * TL_GEMM_PANEL);
    }
    tl_tile_store_sums(t, dst, step, second, has_rows, column);
    if (rest == 0)
        return;
    tl_tile_begin(t, r.each, (int)(rest * sizeof(float)));
    tl_tile_load_sums(t, dst, step, second, has_rows, column);
    add_chunk(t, &r, s->data + chunks * s->line, s->row, panel + chunks * PAIRS * TL_GEMM_PANEL);
    tl_tile_store_sums(t, dst, step, second, has_rows, column);
}

static void release(tile_state *t)
{
    (void)t;
    tl_tile_end();
}
