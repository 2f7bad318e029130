// SPDX-License-Identifier: Apache-2.0
// The tiles of gemm_block_simd.inc.h by matrix units, of pairs of bfloat16.

#include "kernel/simd/tl_tile.h"

enum {
    HAS_PARTS = 1,
    HAS_TAIL = 0,
    ROWS = 2 * TL_TILE_ROWS,
    PAIRS = TL_TILE_BYTES / sizeof(float), // of a row of a tile
    PANEL_STEP = TL_GEMM_PANEL * sizeof(float),
    PASSES = 2, // lines that are prefetched with each pair
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

// Prefetches the lines of a chunk of pairs.
static void prefetch_lines(cursor *next)
{
    for (size_t left = PASSES * LINE; left > 0;) {
        lines_ahead ahead = next_lines(next, left, NULL);
        left -= ahead.n;
        for (; ahead.first && ahead.n > 0; ahead.n--, ahead.first += ahead.step)
            __builtin_prefetch(ahead.first, 0, 2);
    }
}

// Adds the products of the pairs at `left` and those of the rows of a panel.
static void add_chunk(tl_tiles *t, const tl_tile_split *r, const float *left, size_t row,
                      const float *panel)
{
    TL_TILE_MULTIPLY(pairs, t, left, left + second_of(r, row), row * sizeof(float), r->tiles > 1,
                     panel, panel + TL_TILE_ROWS, PANEL_STEP, 1);
}

// Parts

// Some rows of parts, as one or two tiles, and a panel.
typedef struct split_factors {
    const float *left, *right;
    size_t row, second; // floats of left between rows, and both tiles of rows
    int has_rows;       // there are two tiles of rows
} split_factors;

// The tiles of part `i`, counted over all chunks.
static void load_rows(tl_tiles *t, const split_factors *f, size_t i)
{
    const float *const first = f->left + i * PAIRS;
    tl_tile_load(t, 4, first, f->row * sizeof(float));
    if (f->has_rows)
        tl_tile_load(t, 5, first + f->second, f->row * sizeof(float));
}

static void load_columns(tl_tiles *t, const split_factors *f, size_t i)
{
    const float *const first = f->right + i * PAIRS * TL_GEMM_PANEL;
    tl_tile_load(t, 6, first, PANEL_STEP);
    tl_tile_load(t, 7, first + TL_TILE_ROWS, PANEL_STEP);
}

static void add_products(tl_tiles *t, const split_factors *f)
{
    tl_tile_add_pairs(t, 0, 4, 6);
    tl_tile_add_pairs(t, 1, 4, 7);
    if (!f->has_rows)
        return;
    tl_tile_add_pairs(t, 2, 5, 6);
    tl_tile_add_pairs(t, 3, 5, 7);
}

// The products c * a, b * a, b * b, a * b, a * c of the chunk whose parts are a, a + 1 and a + 2.
static void add_small_products(tl_tiles *t, const split_factors *f, size_t a)
{
    load_columns(t, f, a);
    load_rows(t, f, a + 2);
    add_products(t, f);
    load_rows(t, f, a + 1);
    add_products(t, f);
    load_columns(t, f, a + 1);
    add_products(t, f);
    load_rows(t, f, a);
    add_products(t, f);
    load_columns(t, f, a + 2);
    add_products(t, f);
}

static void multiply_parts(tl_tiles *t, const product *p, const tl_tile_split *r)
{
    const strip *const s = &p->strip;
    const size_t parts = p->len / PAIRS;
    const split_factors f = {s->data, p->panel, s->row, second_of(r, s->row), r->tiles > 1};
    cursor next = cursor_of(p);
    tl_tile_begin(t, r->each, TL_TILE_BYTES);
    tl_tile_zero_sums(t);
    for (size_t i = 0; i < parts; i++) {
        prefetch_lines(&next);
        if (i % TL_GEMM_PARTS == 0)
            add_small_products(t, &f, i);
    }
    for (size_t i = 0; i < parts; i += TL_GEMM_PARTS) {
        load_rows(t, &f, i);
        load_columns(t, &f, i);
        add_products(t, &f);
    }
    tl_tile_store_sums(t, p->dst, p->dst_row * sizeof(float),
                       second_of(r, p->dst_row) * sizeof(float), f.has_rows, TL_TILE_BYTES);
}

static void multiply(tile_state *t, const product *p, size_t n, size_t cols)
{
    const strip *const s = &p->strip;
    const tl_tile_split r = tl_tile_split_of((int)n);
    const size_t chunks = p->len / PAIRS, rest = p->len % PAIRS, step = p->dst_row * sizeof(float);
    const size_t second = second_of(&r, p->dst_row) * sizeof(float), column = TL_TILE_BYTES;
    const int has_rows = r.tiles > 1;
    (void)cols; // those of padding are computed, too
    if (s->is_split) {
        multiply_parts(t, p, &r);
        return;
    }
    cursor next = cursor_of(p);
    tl_tile_begin(t, r.each, TL_TILE_BYTES);
    tl_tile_zero_sums(t);
    for (size_t c = 0; c < chunks; c++) {
        prefetch_lines(&next);
        add_chunk(t, &r, s->data + c * PAIRS, s->row, p->panel + c * PAIRS * TL_GEMM_PANEL);
    }
    tl_tile_store_sums(t, p->dst, step, second, has_rows, column);
    if (rest == 0)
        return;
    tl_tile_begin(t, r.each, (int)(rest * sizeof(float)));
    tl_tile_load_sums(t, p->dst, step, second, has_rows, column);
    add_chunk(t, &r, s->data + chunks * PAIRS, s->row, p->panel + chunks * PAIRS * TL_GEMM_PANEL);
    tl_tile_store_sums(t, p->dst, step, second, has_rows, column);
}

static void release(tile_state *t)
{
    (void)t;
    tl_tile_end();
}
