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
    tl_tile_load(t, 4, left, row * sizeof(float));
    tl_tile_load(t, 6, panel, PANEL_STEP);
    tl_tile_load(t, 7, panel + TL_TILE_ROWS, PANEL_STEP);
    tl_tile_add_pairs(t, 0, 4, 6);
    tl_tile_add_pairs(t, 1, 4, 7);
    if (r->tiles == 1)
        return;
    tl_tile_load(t, 5, left + second_of(r, row), row * sizeof(float));
    tl_tile_add_pairs(t, 2, 5, 6);
    tl_tile_add_pairs(t, 3, 5, 7);
}

static void load_sums(tl_tiles *t, const tl_tile_split *r, const float *from, size_t row)
{
    tl_tile_load(t, 0, from, row * sizeof(float));
    tl_tile_load(t, 1, from + TL_TILE_ROWS, row * sizeof(float));
    if (r->tiles == 1)
        return;
    tl_tile_load(t, 2, from + second_of(r, row), row * sizeof(float));
    tl_tile_load(t, 3, from + second_of(r, row) + TL_TILE_ROWS, row * sizeof(float));
}

static void store_sums(tl_tiles *t, const tl_tile_split *r, float *to, size_t row)
{
    tl_tile_store(t, 0, to, row * sizeof(float));
    tl_tile_store(t, 1, to + TL_TILE_ROWS, row * sizeof(float));
    if (r->tiles == 1)
        return;
    tl_tile_store(t, 2, to + second_of(r, row), row * sizeof(float));
    tl_tile_store(t, 3, to + second_of(r, row) + TL_TILE_ROWS, row * sizeof(float));
}

static void multiply(const strip *s, size_t n, const float *panel, size_t cols, size_t len,
                     const prefetch next[2], float *dst, size_t dst_row)
{
    const tl_tile_split r = tl_tile_split_of((int)n);
    const size_t chunks = len / PAIRS, rest = len % PAIRS;
    tl_tiles t;
    (void)cols; // those of padding are computed, too
    tl_tile_begin(&t, r.each, TL_TILE_BYTES);
    for (size_t c = 0; c < chunks; c++) {
        prefetch_chunk(next, c);
        add_chunk(&t, &r, s->data + c * s->line, s->row, panel + c * PAIRS * TL_GEMM_PANEL);
    }
    store_sums(&t, &r, dst, dst_row);
    if (rest == 0)
        return;
    tl_tile_begin(&t, r.each, (int)(rest * sizeof(float)));
    load_sums(&t, &r, dst, dst_row);
    add_chunk(&t, &r, s->data + chunks * s->line, s->row, panel + chunks * PAIRS * TL_GEMM_PANEL);
    store_sums(&t, &r, dst, dst_row);
}

static void release(void)
{
    tl_tile_end();
}
