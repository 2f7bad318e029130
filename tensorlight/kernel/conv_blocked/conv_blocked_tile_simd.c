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

// Products of tiles of equal width, for some groups of source blocks: of each, `n` taps, from which
// on they multiply.
typedef struct pass {
    int width; // halves of the rows of a tile: blocks, or neighbouring taps
    int begin, end;
    int n;
    uint16_t taps[TL_BLOCKED_TAPS];
} pass;

// Lines of results, each divided into tiles of pixels.
typedef struct area {
    const tl_tile_job *job;
    const float *src;
    tl_tile_split line;
    size_t pixel_step, group_step, weight_step; // words: of a tile's rows; from group to group
    int n_passes;
    pass passes[2];
} area;

static pass *add_pass(area *a, int width, int begin, int end)
{
    pass *const p = &a->passes[a->n_passes++];
    p->width = width;
    p->begin = begin;
    p->end = end;
    p->n = 0;
    return p;
}

// Whether tap t and the next one are neighbours.
static int is_pair(const tl_tile_job *job, int t)
{
    return t + 1 < job->n_taps && job->taps[t + 1] == job->taps[t] + PIXEL;
}

// The passes of a window with several taps: pairs of neighbours, then the others. Without taps,
// sums are biases.
static void pass_taps(area *a, int blocks)
{
    const tl_tile_job *const job = a->job;
    for (int width = 2; width > 0; width--) {
        pass *const p = add_pass(a, width, 0, blocks);
        for (int t = 0, n; t < job->n_taps; t += n) {
            n = is_pair(job, t) ? 2 : 1;
            if (n == width)
                p->taps[p->n++] = (uint16_t)t;
        }
        a->n_passes -= p->n == 0 && (width == 2 || a->n_passes == 2);
    }
    a->weight_step = (size_t)job->n_taps * TAP;
}

// Those of a single tap, of joined blocks: pairs of blocks, then the last one.
static void pass_blocks(area *a, int blocks)
{
    const int pairs = blocks / 2;
    pass *const whole = add_pass(a, 2, 0, pairs);
    whole->taps[whole->n++] = 0;
    if (blocks % 2) {
        pass *const last = add_pass(a, 1, pairs, pairs + 1);
        last->taps[last->n++] = 0;
    }
    a->weight_step = 2 * TAP;
}

static void init_area(area *a, const tl_tile_job *job, const float *src, int columns)
{
    const int blocks = (job->channels + TL_TILE_PAIRS - 1) / TL_TILE_PAIRS;
    a->job = job;
    a->src = src;
    a->line = tl_tile_split_of(columns);
    a->pixel_step = (size_t)job->lanes * (size_t)job->src_step;
    a->group_step = job->src_block_step;
    a->n_passes = 0;
    if (job->lanes > TL_TILE_PAIRS)
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
    const tl_tile_job *const job = a->job;
    const size_t step = a->pixel_step * sizeof(float);
    for (int g = p->begin; g < p->end; g++)
        for (int i = 0; i < p->n; i++) {
            const int tap = p->taps[i];
            const ptrdiff_t src = (ptrdiff_t)((size_t)g * a->group_step) + job->taps[tap];
            const float *const w = weight + (size_t)g * a->weight_step + (size_t)tap * TAP;
            TL_TILE_MULTIPLY(pairs, t, at[0].src + src, at[1].src + src, step, n > 1, w,
                             w + job->weight_step, TL_TILE_BYTES, blocks > 1);
        }
}

// The sums of one or two tiles of pixels and blocks. If there is no second one, its sums have no
// meaning.
static void sum_tiles(tl_tiles *t, const area *a, const pixels at[2], int n, const float *weight,
                      const float *bias, int blocks, tile_sums sums)
{
    const size_t block = (size_t)a->line.each * TL_TILE_BYTES;
    const size_t next_bias = blocks > 1 ? a->job->weight_step * sizeof(float) : 0;
    for (const pass *p = a->passes; p < a->passes + a->n_passes; p++) {
        tl_tile_begin(t, a->line.each, p->width * PIXEL * (int)sizeof(float));
        if (p == a->passes)
            tl_tile_load_sums(t, bias, 0, 0, n > 1, next_bias);
        else
            tl_tile_load_sums(t, sums, TL_TILE_BYTES, sizeof(sums[0]), n > 1, block);
        run_pass(t, a, p, at, n, weight, blocks);
        tl_tile_store_sums(t, sums, TL_TILE_BYTES, sizeof(sums[0]), n > 1, block);
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
    tl_tiles t = {0};
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
