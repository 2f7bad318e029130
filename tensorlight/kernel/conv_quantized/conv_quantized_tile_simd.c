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
    SUM_STEP = BLOCKS * TL_BLOCK * sizeof(uint32_t), // bytes from the sums of a pixel to the next
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
    int pixel; // of the result, for tl_quad_zeros: not of every second column
} place;

static place place_of(const area *a, int i)
{
    const tl_quad_job *const job = a->job;
    int repeated; // these pixels are computed and written twice
    const size_t y = (size_t)(i / a->line.tiles);
    const size_t x = (size_t)tl_tile_first(&a->line, i % a->line.tiles, &repeated);
    const size_t pixel = (size_t)job->area.pixel * (size_t)job->area.src_step;
    const size_t dst = y * job->area.dst_line_step + x * job->dst_step;
    return (place){a->src + y * job->area.src_line_step + x * pixel, a->dst + dst * size_of(job),
                   (int)(dst / job->dst_step)};
}

// Loads the initial sums of two tiles.
#define LOAD_STARTS(t, first, second, l, m, n, n_blocks)          \
    do {                                                          \
        const int differ = (l)->starts != NULL;                   \
        const size_t step = differ ? SUM_STEP : 0;                \
        if (differ)                                               \
            start_pixels(l, m, n, n_blocks);                      \
        tl_tile_load(t, first, start_of(l, 0, 0), step);          \
        if ((n_blocks) > 1)                                       \
            tl_tile_load(t, second, start_of(l, 0, PARTS), step); \
    } while (0)

// Stores two tiles of sums, and writes their results.
#define WRITE_RESULTS(t, first, second, l, n, n_blocks, lanes, to) \
    do {                                                           \
        sums sum[PIXELS];                                          \
        tl_tile_store(t, first, sum, SUM_STEP);                    \
        if ((n_blocks) > 1)                                        \
            tl_tile_store(t, second, sum[0] + PARTS, SUM_STEP);    \
        write_results(l, sum, n, n_blocks, lanes, to);             \
    } while (0)

// Adds all products of one or two tiles of pixels and one or two blocks.
static void add_products(tl_tiles *t, const area *a, const place *p, int n, const int8_t *weight,
                         int n_blocks)
{
    const tl_quad_job *const job = a->job;
    const size_t pixel_step = (size_t)job->area.pixel * job->area.src_step;
    const int groups = tl_quad_groups_of(job->channels).n;
    for (int g = 0; g < groups; g++)
        for (int i = 0; i < job->n_taps; i += a->taps, weight += a->taps * job->tap_step) {
            const ptrdiff_t at = (ptrdiff_t)(g * job->src_block_step) + job->taps[i];
            tl_tile_load(t, 4, p[0].src + at, pixel_step);
            tl_tile_load(t, 6, weight, TL_TILE_BYTES);
            tl_tile_add_us(t, 0, 4, 6);
            if (n > 1) {
                tl_tile_load(t, 5, p[1].src + at, pixel_step);
                tl_tile_add_us(t, 2, 5, 6);
            }
            if (n_blocks > 1) {
                tl_tile_load(t, 7, weight + job->weight_step, TL_TILE_BYTES);
                tl_tile_add_us(t, 1, 4, 7);
                if (n > 1)
                    tl_tile_add_us(t, 3, 5, 7);
            }
        }
}

// Computes tiles `first` and, if n is 2, the next one of one or two blocks.
static void run_tiles(tl_tiles *t, const area *a, const line *l, int first, int n, int n_blocks,
                      int lanes)
{
    const place p[] = {place_of(a, first), place_of(a, first + n - 1)};
    LOAD_STARTS(t, 0, 1, l, p[0].pixel, a->line.each, n_blocks);
    if (n > 1)
        LOAD_STARTS(t, 2, 3, l, p[1].pixel, a->line.each, n_blocks);
    add_products(t, a, p, n, l->weight, n_blocks);
    WRITE_RESULTS(t, 0, 1, l, a->line.each, n_blocks, lanes, p[0].dst);
    if (n > 1)
        WRITE_RESULTS(t, 2, 3, l, a->line.each, n_blocks, lanes, p[1].dst);
}

static void run_lines(const tl_quad_job *job, const uint8_t *src, const int8_t *weight, void *dst,
                      int columns, int n_blocks, int lanes)
{
    area a = {job, src, dst, tl_tile_split_of(columns), joined_taps(job)};
    tl_tiles t;
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
