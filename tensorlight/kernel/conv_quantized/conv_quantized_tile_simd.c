// SPDX-License-Identifier: Apache-2.0
// 8-bit convolutions and matrix multiplications by matrix units, see conv_quantized.h.
//
// A product of tiles multiplies up to 16 neighbouring pixels of a line, with the channels of a
// group for one tap, by their weights for a block of output channels. If groups are small, taps
// that are neighbours in a line of the window, whose pixels are adjacent, are multiplied at once.

#include "kernel/conv_quantized/conv_quantized.h"
#include "kernel/simd/tl_simd_dot.h"
#include "kernel/simd/tl_tile.h"

enum {
    PARTS = TL_BLOCK / TL_VF_LANES, // vectors of a block
    BLOCKS = 2,
    PIXELS = TL_TILE_ROWS,
    BLOCK_BYTES = TL_BLOCK * sizeof(uint32_t),
    SUM_STEP = BLOCKS * BLOCK_BYTES, // bytes from the sums of a pixel to the next
};

#include "kernel/conv_quantized/conv_quantized_results.inc.h"

_Static_assert(TL_VX_OFFSET == 0, "sums of tiles begin with the start");

// Lines of results, each divided into tiles of pixels.
typedef struct area {
    const tl_quad_job *job;
    const uint8_t *src;
    char *dst; // of the first of two blocks
    tl_tile_split line;
    int taps; // that a product of tiles multiplies
} area;

// Whether the taps form runs of `n` whose pixels are adjacent.
static int are_adjacent(const tl_quad_job *job, int n)
{
    for (int t = 0; t < job->n_taps; t++)
        if (t % n != 0 && job->taps[t] != job->taps[t - 1] + job->area.pixel)
            return 0;
    return job->n_taps % n == 0;
}

static int joined_taps(const tl_quad_job *job)
{
    int n = TL_TILE_BYTES / job->area.pixel;
    while (n > 1 && !are_adjacent(job, n))
        n--;
    return n;
}

// A tile of pixels.
typedef struct place {
    const uint8_t *src;
    char *dst;
    int pixel; // its index in the result, for tl_quad_zeros. Transposed convolutions have no zeros
} place;

static place place_of(const area *a, int i)
{
    const tl_quad_job *const job = a->job;
    int repeated; // these pixels are computed and written twice
    const size_t y = (size_t)(i / a->line.tiles);
    const size_t x = (size_t)tl_tile_first(&a->line, i % a->line.tiles, &repeated);
    const size_t dst = y * job->area.dst_line_step + x * job->dst_step;
    return (place){a->src + y * job->area.src_line_step + x * job->area.pixel_step,
                   a->dst + dst * size_of(job), (int)(dst / job->dst_step)};
}

// The initial sums of a tile, *step bytes from pixel to pixel.
static const char *starts_of(const line *l, const place *p, int rows, int n_blocks, size_t *step)
{
    *step = l->starts ? SUM_STEP : 0;
    if (l->starts)
        start_pixels(l, p->pixel, rows, n_blocks);
    return (const char *)start_of(l, 0, 0);
}

// Sets the sums of one or two tiles of pixels.
static void load_starts(tl_tiles *t, const area *a, const line *l, const place *p, int n,
                        int n_blocks)
{
    for (int i = 0; i < n; i++) { // the second one overwrites what the first one has read
        size_t step;
        const char *const starts = starts_of(l, &p[i], a->line.each, n_blocks, &step);
        if (i == 0) {
            tl_tile_load(t, 0, starts, step);
            tl_tile_load(t, 1, starts + BLOCK_BYTES, step);
        } else {
            tl_tile_load(t, 2, starts, step);
            tl_tile_load(t, 3, starts + BLOCK_BYTES, step);
        }
    }
}

// Prefetches the weights of a product for the next two blocks, to the L2 cache.
TL_INLINE void prefetch_next(const int8_t *weight, size_t weight_step)
{
    for (size_t i = 0; i < TL_TILE_ROWS * TL_TILE_BYTES; i += TL_TILE_BYTES) {
        __builtin_prefetch(weight + BLOCKS * weight_step + i, 0, 2);
        __builtin_prefetch(weight + (BLOCKS + 1) * weight_step + i, 0, 2);
    }
}

// Adds all products of one or two tiles of pixels and one or two blocks.
static void add_products(tl_tiles *t, const area *a, const place *p, int n, const int8_t *weight,
                         int n_blocks, int is_first)
{
    const tl_quad_job *const job = a->job;
    const int groups = tl_quad_groups_of(job->channels).n;
    for (int g = 0; g < groups; g++)
        for (int i = 0; i < job->n_taps; i += a->taps, weight += a->taps * job->tap_step) {
            const ptrdiff_t at = (ptrdiff_t)(g * job->src_block_step) + job->taps[i];
            if (is_first)
                prefetch_next(weight, job->weight_step);
            TL_TILE_MULTIPLY(us, t, p[0].src + at, p[1].src + at, job->area.pixel_step, n > 1,
                             weight, weight + job->weight_step, TL_TILE_BYTES, n_blocks > 1);
        }
}

// Computes tiles `first` and, if n is 2, the next one of one or two blocks.
static void run_tiles(tl_tiles *t, const area *a, const line *l, int first, int n, int n_blocks,
                      int lanes)
{
    const place p[] = {place_of(a, first), place_of(a, first + n - 1)};
    sums sum[2][PIXELS];
    load_starts(t, a, l, p, n, n_blocks);
    add_products(t, a, p, n, l->weight, n_blocks, first == 0);
    tl_tile_store_sums(t, sum, SUM_STEP, sizeof(sum[0]), n > 1, BLOCK_BYTES);
    for (int i = 0; i < n; i++)
        write_results(l, sum[i], a->line.each, n_blocks, lanes, p[i].dst);
}

static void run_lines(const tl_quad_job *job, const uint8_t *src, const int8_t *weight, void *dst,
                      int columns, int n_blocks, int lanes)
{
    area a = {job, src, dst, tl_tile_split_of(columns), joined_taps(job)};
    tl_tiles t = {0};
    pixel_starts starts;
    tl_tile_begin(&t, a.line.each, a.taps * job->area.pixel);
    for (int b = 0; b < n_blocks; b += BLOCKS) {
        const int blocks = tl_min(BLOCKS, n_blocks - b);
        const int last = b + blocks < n_blocks ? TL_BLOCK : lanes;
        line l = line_of(job, weight + b * job->weight_step, blocks, last);
        start_line(&l, b, blocks, &starts);
        a.dst = (char *)dst + b * job->dst_block_step * size_of(job);
        for (int i = 0, all = a.line.tiles * job->area.n_lines; i < all; i += 2)
            run_tiles(&t, &a, &l, i, tl_min(2, all - i), blocks, last);
    }
    tl_tile_end();
}

const tl_quad_kernel SIMD_OF(tl_quad_tile_u8) = {.line = run_lines, .bytes = 1, .is_tiled = 1};
