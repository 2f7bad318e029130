// SPDX-License-Identifier: Apache-2.0
// Products of many rows with weights of few bits, by matrix units: see matmul_lowbit.h.
//
// A panel is unpacked block by block: its weights are unsigned bytes, the right factors. Tiles sum
// the products of a block for each limb, exactly. Vectors add the terms of the zero points
// (tl_lowbit_head), and the block to the totals of the rows.

#include <assert.h>

#include "kernel/matmul_lowbit/matmul_lowbit_results.inc.h"
#include "kernel/simd/tl_tile.h"

enum {
    QUAD = TL_LOWBIT_QUAD,
    LIMBS = TL_LOWBIT_MAX_LIMBS,
    COLUMNS = TL_TILE_BYTES / QUAD,    // of a tile
    TILES = TL_LOWBIT_PANEL / COLUMNS, // of a panel
    MAX_QUADS = TL_LOWBIT_MAX_BLOCK / QUAD,
    GROUP = 64, // rows whose totals stay in the L1 cache
    VECTORS = TL_LOWBIT_PANEL / TL_VF_LANES,
};

_Static_assert(TILES == 2, "two tiles of columns");

// Weights: [tile of columns][quad of rows].
typedef struct unpacked {
    _Alignas(64) uint8_t quads[TILES][MAX_QUADS][TL_TILE_BYTES];
} unpacked;

typedef uint8_t line __attribute__((vector_size(TL_TILE_BYTES)));

// Unpacks a block of the columns of a tile, whose weights begin at `weights`.
TL_INLINE void unpack_tile(const int bits, size_t block, const uint8_t *weights,
                           uint8_t (*quads)[TL_TILE_BYTES])
{
    const line mask = (line){0} + (uint8_t)((1 << bits) - 1);
    for (size_t k = 0; k < block; k += QUAD * 8 / bits, weights += QUAD * TL_LOWBIT_PANEL) {
        line bytes;
        memcpy(&bytes, weights, sizeof(bytes));
        TL_UNROLL
        for (int j = 0; j < 8 / bits; j++) {
            const line q = bytes >> (uint8_t)(j * bits) & mask;
            memcpy(*quads++, &q, sizeof(q));
        }
    }
}

static void unpack(const tl_lowbit_job *job, const uint8_t *weights, unpacked *to)
{
    const size_t block = (size_t)job->param.block;
    for (int i = 0; i < TILES; i++, weights += TL_TILE_BYTES) {
        if (job->param.bits == 2)
            unpack_tile(2, block, weights, to->quads[i]);
        else if (job->param.bits == 4)
            unpack_tile(4, block, weights, to->quads[i]);
        else
            unpack_tile(8, block, weights, to->quads[i]);
    }
}

// Rows of a group, divided into tiles.
typedef struct group {
    const tl_lowbit_job *job;
    const char *prepared; // the first row, at the block
    tl_tile_split rows;
    size_t step; // weights of a block that a product of tiles multiplies
} group;

typedef uint32_t block_sums[LIMBS][2 * TL_TILE_ROWS][TL_LOWBIT_PANEL];

// The sums of a limb of a block, of one or two tiles of rows.
static void sum_limb(tl_tiles *t, const group *g, const unpacked *weights, size_t limb,
                     const char *const row[2], int n, uint32_t (*sums)[TL_LOWBIT_PANEL])
{
    enum { SUM_STEP = TL_LOWBIT_PANEL * sizeof(uint32_t) };
    const tl_lowbit_job *const job = g->job;
    const size_t at = sizeof(tl_lowbit_head) + limb * (size_t)job->param.block;
    tl_tile_zero_sums(t);
    for (size_t k = 0; k < (size_t)job->param.block; k += g->step)
        TL_TILE_MULTIPLY(su, t, row[0] + at + k, row[1] + at + k, job->row_size, n > 1,
                         weights->quads[0][k / QUAD], weights->quads[1][k / QUAD], TL_TILE_BYTES,
                         1);
    tl_tile_store_sums(t, sums, SUM_STEP, TL_TILE_ROWS * SUM_STEP, n > 1, TL_TILE_BYTES);
}

typedef uint32_t words __attribute__((vector_size(sizeof(tl_vf))));
typedef int32_t integers __attribute__((vector_size(sizeof(tl_vf))));

TL_INLINE tl_vf to_floats(words sums)
{
    return (tl_vf) __builtin_convertvector((integers)sums, tl_vf);
}

// The columns of a panel in a block: their scales, and zero points if they have separate ones.
typedef struct columns {
    tl_vf scales[VECTORS];
    words zeros[VECTORS];
} columns;

static void load_columns(const tl_lowbit_job *job, const uint8_t *scales, const uint8_t *zeros,
                         columns *c)
{
    uint32_t each[TL_LOWBIT_PANEL];
    for (int i = 0; i < TL_LOWBIT_PANEL; i++)
        each[i] = job->param.has_zeros ? zeros[i] : 1;
    memcpy(c->zeros, each, sizeof(each));
    for (size_t v = 0; v < VECTORS; v++)
        c->scales[v] = load_scales(job, scales, v * TL_VF_LANES);
}

// Row r of the sum of the limbs' sums, by their powers of 256, of vector v of columns.
TL_INLINE tl_vf value_at(const int limbs, const block_sums *sums, size_t r, int v,
                         const tl_lowbit_head *head, const columns *c)
{
    words sum[LIMBS];
    TL_UNROLL
    for (int l = 0; l < limbs; l++)
        memcpy(&sum[l], &(*sums)[l][r][v * TL_VF_LANES], sizeof(sum[l]));
    sum[limbs - 1] += c->zeros[v] * (uint32_t)head->low;
    if (limbs == 1)
        return to_floats(sum[0]);
    sum[0] += c->zeros[v] * (uint32_t)head->high;
    const tl_vf high = tl_vf_mul(to_floats(sum[0]), tl_vf_set1(65536));
    return tl_vf_add(high, to_floats(sum[1] * 256 + sum[2]));
}

// total += row r of a block's sums.
TL_INLINE void add_row(const int limbs, const block_sums *sums, size_t r,
                       const tl_lowbit_head *head, const columns *c, float *total)
{
    TL_UNROLL
    for (int v = 0; v < VECTORS; v++) {
        float *const to = total + v * TL_VF_LANES;
        const tl_vf factor = tl_vf_mul(c->scales[v], tl_vf_set1(head->unit));
        const tl_vf value = tl_vf_mul(value_at(limbs, sums, r, v, head, c), factor);
        tl_vf_store(to, tl_vf_add(tl_vf_load(to), value));
    }
}

// Adds a block to the totals of all rows.
TL_INLINE void add_block(const int limbs, tl_tiles *t, const group *g, const unpacked *weights,
                         const columns *c, float (*total)[TL_LOWBIT_PANEL])
{
    const size_t row_size = g->job->row_size;
    for (int i = 0; i < g->rows.tiles; i += 2) {
        const int n = tl_min(2, g->rows.tiles - i);
        int repeated[2], first[2]; // of each tile
        const char *row[2];
        block_sums sums;
        for (int k = 0; k < 2; k++) {
            first[k] = tl_tile_first(&g->rows, tl_min(i + k, g->rows.tiles - 1), &repeated[k]);
            row[k] = g->prepared + (size_t)first[k] * row_size;
        }
        for (size_t l = 0; l < (size_t)limbs; l++)
            sum_limb(t, g, weights, l, row, n, sums[l]);
        for (int k = 0; k < n; k++) // repeated rows are not added again
            for (int r = repeated[k]; r < g->rows.each; r++) {
                const tl_lowbit_head *const head = (const void *)(row[k] + (size_t)r * row_size);
                add_row(limbs, &sums, (size_t)(k * TL_TILE_ROWS + r), head, c, total[first[k] + r]);
            }
    }
}

static group group_of(const tl_lowbit_job *job, const char *prepared, size_t rows)
{
    const size_t block = (size_t)job->param.block;
    return (group){.job = job,
                   .prepared = prepared,
                   .rows = tl_tile_split_of((int)rows),
                   .step = block / tl_ceil_div(block, TL_TILE_BYTES)};
}

// The totals of some rows.
static void add_panel(tl_tiles *t, group g, const uint8_t *panel, float (*total)[TL_LOWBIT_PANEL])
{
    const tl_lowbit_job *const job = g.job;
    const uint8_t *zeros = panel + job->zeros_at;
    tl_tile_begin(t, g.rows.each, (int)g.step);
    for (size_t b = 0; b < job->blocks; b++) {
        unpacked weights;
        columns c;
        unpack(job, panel, &weights);
        load_columns(job, panel + job->scales_at, zeros, &c);
        if (job->limbs == 1)
            add_block(1, t, &g, &weights, &c, total);
        else
            add_block(LIMBS, t, &g, &weights, &c, total);
        panel += job->block_size;
        g.prepared += tl_lowbit_block_size(job);
        zeros += TL_LOWBIT_PANEL;
    }
}

void SIMD_OF(tl_lowbit_tile_u8)(const tl_lowbit_job *job, const char *prepared, size_t rows,
                                const tl_lowbit_cols *cols, int pair, size_t dst_row)
{
    assert(!pair); // one row is too few
    (void)pair;
    const size_t groups = tl_ceil_div(rows, GROUP);
    tl_tiles t = {0};
    for (size_t g = 0; g < groups; g++) {
        _Alignas(64) float total[GROUP][TL_LOWBIT_PANEL] = {{0}};
        const size_t r = rows * g / groups, n = rows * (g + 1) / groups - r;
        add_panel(&t, group_of(job, prepared + r * job->row_size, n), cols->panel, total);
        for (size_t i = 0; i < n; i++)
            write_row(total[i], cols, (r + i) * dst_row);
    }
    tl_tile_end();
}
