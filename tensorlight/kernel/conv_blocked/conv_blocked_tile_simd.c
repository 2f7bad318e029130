// SPDX-License-Identifier: Apache-2.0
// Convolutions of pairs of bfloat16 in the blocked layout by matrix units, see conv_blocked.h.
//
// A block of a pixel has 8 pairs, half a row of a tile. Products multiply two blocks, if the window
// has a single tap (the caller joins their pixels), or two neighbouring taps whose pixels are
// adjacent. What remains are products of half the width, in a second pass with another
// configuration of the tiles.

#include <math.h>

#include "kernel/conv_blocked/conv_blocked.h"
#include "kernel/simd/tl_simd.h"
#include "kernel/simd/tl_tile.h"

#define STORE_ROUNDED(p, v) tl_vf_store_bf16(p, v)

enum {
    PARTS = TL_BLOCK / TL_VF_LANES, // vectors of a block
    BLOCKS = 2,
    PIXELS = TL_TILE_ROWS,
    PIXEL = TL_TILE_PAIRS,          // words of a pixel of a block
    TAP = TL_TILE_PAIRS * TL_BLOCK, // of the weights of a tap of a block
};

#include "kernel/conv_blocked/conv_blocked_results.inc.h"

// Products of tiles of equal width: for some groups of source blocks, each with the same products.
typedef struct pass {
    int width; // halves of the rows of a tile: blocks, or taps
    int begin, end;
    int n;
    ptrdiff_t src[TL_BLOCKED_TAPS]; // words from the group's first pixel
    size_t weight[TL_BLOCKED_TAPS]; // and from its first weight
} pass;

// Lines of results, each divided into tiles of pixels.
typedef struct area {
    const tl_tile_job *job;
    const float *src;
    tl_tile_split line;
    size_t pixel_step, group_step, weight_step; // words: of a tile's rows; from group to group
    pass passes[2];
} area;

static void add_product(pass *p, int width, ptrdiff_t src, size_t weight)
{
    p->width = width;
    p->src[p->n] = src;
    p->weight[p->n++] = weight;
}

// The passes of a window with several taps: pairs of neighbours, then the others.
static void pass_taps(area *a, int blocks)
{
    const tl_tile_job *const job = a->job;
    for (int t = 0, n; t < job->n_taps; t += n) {
        n = t + 1 < job->n_taps && job->taps[t + 1] == job->taps[t] + PIXEL ? 2 : 1;
        add_product(&a->passes[2 - n], n, job->taps[t], (size_t)t * TAP);
    }
    a->passes[0].end = a->passes[1].end = blocks;
    a->group_step = job->src_block_step;
    a->weight_step = (size_t)job->n_taps * TAP;
}

// Those of a single tap: pairs of blocks, then the last one.
static void pass_blocks(area *a, int blocks)
{
    const ptrdiff_t tap = a->job->taps[0];
    const int pairs = blocks / 2;
    if (pairs > 0)
        add_product(&a->passes[0], 2, tap, 0);
    if (blocks % 2)
        add_product(&a->passes[1], 1, tap, 0);
    a->passes[0].end = a->passes[1].begin = pairs;
    a->passes[1].end = pairs + 1;
    a->group_step = a->job->src_block_step;
    a->weight_step = 2 * TAP;
}

static void init_area(area *a, const tl_tile_job *job, const float *src, int columns)
{
    const int blocks = (job->channels + TL_TILE_PAIRS - 1) / TL_TILE_PAIRS;
    const int are_joined = job->lanes > TL_TILE_PAIRS;
    a->job = job;
    a->src = src;
    a->line = tl_tile_split_of(columns);
    a->pixel_step = (size_t)job->lanes * (size_t)job->src_step;
    for (int i = 0; i < 2; i++)
        a->passes[i].begin = a->passes[i].end = a->passes[i].n = 0;
    if (are_joined)
        pass_blocks(a, blocks);
    else
        pass_taps(a, blocks);
}

// A tile of pixels: its source, and elements from the first result to its own. Those that the tile
// before it has, too, are not written again: dst may be add.
typedef struct pixels {
    const float *src;
    size_t dst;
    int repeated;
} pixels;

static pixels pixels_of(const area *a, int i)
{
    int repeated;
    const size_t y = (size_t)(i / a->line.tiles);
    const size_t x = (size_t)tl_tile_first(&a->line, i % a->line.tiles, &repeated);
    return (pixels){a->src + y * a->job->src_line_step + x * a->pixel_step,
                    y * a->job->dst_line_step + x * a->job->dst_step, repeated};
}

// Sums of two tiles of pixels in memory: each [block][pixel][TL_BLOCK].
typedef float tile_sums[2][BLOCKS * PIXELS * TL_BLOCK];

// Adds the products of a pass to the sums of two tiles of pixels and two blocks, or of one each.
static void run_pass(tl_tiles *t, const area *a, const pass *p, const pixels at[2], int n,
                     const float *weight, int blocks)
{
    const size_t step = a->pixel_step * sizeof(float);
    for (int g = p->begin; g < p->end; g++)
        for (int i = 0; i < p->n; i++) {
            const ptrdiff_t src = (ptrdiff_t)((size_t)g * a->group_step) + p->src[i];
            const float *const w = weight + (size_t)g * a->weight_step + p->weight[i];
            tl_tile_load(t, 4, at[0].src + src, step);
            tl_tile_load(t, 6, w, TL_TILE_BYTES);
            tl_tile_add_pairs(t, 0, 4, 6);
            if (n > 1) {
                tl_tile_load(t, 5, at[1].src + src, step);
                tl_tile_add_pairs(t, 2, 5, 6);
            }
            if (blocks > 1) {
                tl_tile_load(t, 7, w + a->job->weight_step, TL_TILE_BYTES);
                tl_tile_add_pairs(t, 1, 4, 7);
                if (n > 1)
                    tl_tile_add_pairs(t, 3, 5, 7);
            }
        }
}

// Loads all sums: `block` floats lead from those of a block to those of the other, and `row` bytes
// from pixel to pixel.
static void load_all(tl_tiles *t, const float *first, const float *second, size_t block, size_t row)
{
    tl_tile_load(t, 0, first, row);
    tl_tile_load(t, 1, first + block, row);
    tl_tile_load(t, 2, second, row);
    tl_tile_load(t, 3, second + block, row);
}

static void store_all(tl_tiles *t, float *first, float *second, size_t block)
{
    tl_tile_store(t, 0, first, TL_TILE_BYTES);
    tl_tile_store(t, 1, first + block, TL_TILE_BYTES);
    tl_tile_store(t, 2, second, TL_TILE_BYTES);
    tl_tile_store(t, 3, second + block, TL_TILE_BYTES);
}

// The sums of one or two tiles of pixels and blocks. If there is no second one, its sums have no
// meaning.
static void sum_tiles(tl_tiles *t, const area *a, const pixels at[2], int n, const float *weight,
                      const float *bias, int blocks, tile_sums sums)
{
    const size_t block = (size_t)a->line.each * TL_BLOCK;
    int is_first = 1;
    for (int i = 0; i < 2; i++) {
        const pass *const p = &a->passes[i];
        if (p->n == 0 && (i == 0 || !is_first))
            continue;
        tl_tile_begin(t, a->line.each, (p->width ? p->width : 1) * PIXEL * (int)sizeof(float));
        if (is_first)
            load_all(t, bias, bias, blocks > 1 ? a->job->weight_step : 0, 0);
        else
            load_all(t, sums[0], sums[1], block, TL_TILE_BYTES);
        run_pass(t, a, p, at, n, weight, blocks);
        store_all(t, sums[0], sums[1], block);
        is_first = 0;
    }
}

static void run_tiles(tl_tiles *t, const area *a, int first, int n, const float *weight,
                      const float *bias, const void *add, void *dst, int blocks)
{
    const tl_tile_job *const job = a->job;
    const pixels at[] = {pixels_of(a, first), pixels_of(a, first + n - 1)};
    tile_sums sums;
    sum_tiles(t, a, at, n, weight, bias, blocks, sums);
    for (int i = 0; i < n; i++) {
        const size_t repeated = (size_t)at[i].repeated, to = at[i].dst + repeated * job->dst_step;
        const tile_place place = {.add = add ? element(add, to, job->is_add_bf16) : NULL,
                                  .dst = element(dst, to, job->is_dst_bf16),
                                  .step = job->dst_step,
                                  .block_step = job->dst_block_step,
                                  .is_dst_bf16 = job->is_dst_bf16,
                                  .is_add_bf16 = job->is_add_bf16,
                                  .low = job->low,
                                  .high = job->high};
        write_results(job, sums[i] + repeated * TL_BLOCK, (size_t)a->line.each * TL_BLOCK, &place,
                      a->line.each - at[i].repeated, blocks);
    }
}

void SIMD(tl_tile_area)(const tl_tile_job *job, const float *src, const float *weight,
                        const float *bias, const void *add, void *dst, int n, int n_blocks)
{
    area a;
    tl_tiles t;
    init_area(&a, job, src, n);
    for (int b = 0; b < n_blocks; b += BLOCKS) {
        const size_t to = (size_t)b * job->dst_block_step, row = (size_t)b * job->weight_step;
        for (int i = 0, all = a.line.tiles * job->n_lines; i < all; i += 2)
            run_tiles(&t, &a, i, tl_min(2, all - i), weight + row, bias + row,
                      add ? element(add, to, job->is_add_bf16) : NULL,
                      element(dst, to, job->is_dst_bf16), tl_min(BLOCKS, n_blocks - b));
    }
    tl_tile_end();
}
