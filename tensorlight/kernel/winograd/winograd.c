// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution in the blocked layout: weights transformed, work divided, tiles computed.

#include "kernel/winograd/winograd.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernel/blockconv/blockconv.h"
#include "kernel/act/act.h"
#include "kernel/tl_axis.h"
#include "tensor/tl_result.h"

#define TL_KERNEL(name, dtype, isa) [isa][dtype] = name,
static tl_wino_source_func *const source_table[TL_ISA_SIZE][TL_DTYPE_SIZE] = {
#include "kernel/winograd/wino_source.def"
};
static tl_wino_result_func *const result_table[TL_ISA_SIZE][TL_DTYPE_SIZE] = {
#include "kernel/winograd/wino_result.def"
};
#undef TL_KERNEL
TL_KERNEL_PICK(pick_source, tl_wino_source_func, source_table)
TL_KERNEL_PICK(pick_result, tl_wino_result_func, result_table)

/** Points along both axes for tiles of `m` x `m` results. */
static size_t n_points(int m)
{
    return (size_t)(m + 2) * (m + 2);
}

/* ---- packing ---- */

size_t tl_blocked_winograd_packed(int channels, int m)
{
    return TL_BLOCK + n_points(m) * tl_blocks(channels) * TL_BLOCK * TL_BLOCK;
}

typedef struct pack_job {
    const float *weight, *bias;
    float *dst;
    size_t row; /* floats of a block of output channels */
    int oc, ic, pairs;
} pack_job;

/** Windows of a block of output channels, or what became of them: [place][channel]. */
typedef double block_table[TL_WINO_SIZE * TL_WINO_SIZE][TL_BLOCK];

/** G times three rows of a table, `step` apart: the values of polynomials with these factors, over
 *  what B' and A' leave out. */
static void weight_line(int pairs, double (*src)[TL_BLOCK], int step, double (*dst)[TL_BLOCK],
                        int dst_step)
{
    const tl_wino_points *const points = &tl_wino_points_of[pairs];
    for (int o = 0; o < TL_BLOCK; o++)
        dst[0][o] = src[0][o] / points->all[0];
    for (int i = 0; i < pairs; i++) {
        const double p = points->power[i][1], square = p * p;
        double scale = 0; // 2 p^2 N(p)
        for (int k = pairs - 1; k >= 0; k--)
            scale = scale * square + points->others[i][k];
        scale = 1 / (2 * square * scale);
        double(*const plus)[TL_BLOCK] = dst + (1 + 2 * i) * dst_step;
        double(*const minus)[TL_BLOCK] = plus + dst_step;
        for (int o = 0; o < TL_BLOCK; o++) {
            const double even = scale * (src[0][o] + square * src[2 * step][o]);
            const double odd = scale * p * src[step][o];
            plus[0][o] = even + odd;
            minus[0][o] = even - odd;
        }
    }
    memcpy(dst[(2 * pairs + 1) * dst_step], src[2 * step], sizeof(*dst));
}

/** The windows of the output channels from `o` on for the input channel `c`. */
static void load_windows(const pack_job *job, int o, int c, block_table table)
{
    for (int tap = 0; tap < 9; tap++)
        for (int i = 0; i < TL_BLOCK; i++)
            table[tap][i] = o + i < job->oc && c < job->ic
                                ? job->weight[((size_t)(o + i) * job->ic + c) * 9 + tap]
                                : 0;
}

static void pack_channel(const pack_job *job, int o, int c, float *dst)
{
    const int size = 2 * job->pairs + 2;
    const size_t step = (size_t)tl_blocks(job->ic) * TL_BLOCK * TL_BLOCK;
    block_table window, columns, all;
    load_windows(job, o, c, window);
    for (int x = 0; x < 3; x++)
        weight_line(job->pairs, window + x, 3, columns + x, 3);
    for (int y = 0; y < size; y++)
        weight_line(job->pairs, columns + y * 3, 1, all + y * size, 1);
    for (int i = 0; i < size * size; i++)
        for (int lane = 0; lane < TL_BLOCK; lane++)
            dst[i * step + lane] = (float)all[i][lane];
}

static void pack(void *arg, size_t begin, size_t end)
{
    const pack_job *const job = arg;
    for (size_t b = begin; b < end; b++) {
        float *const dst = job->dst + b * job->row;
        const int o = (int)b * TL_BLOCK;
        for (int i = 0; i < TL_BLOCK; i++)
            dst[i] = job->bias && o + i < job->oc ? job->bias[o + i] : 0;
        for (int c = 0; c < tl_blocks(job->ic) * TL_BLOCK; c++)
            pack_channel(job, o, c, dst + (size_t)(1 + c) * TL_BLOCK);
    }
}

int tl_exec_blocked_winograd_pack(const tl_exec *exec, const tl_tensor *weight,
                                  const tl_tensor *bias, tl_tensor *dst, int m)
{
    const int blocks = tl_blocks(weight->dims[0]);
    assert(weight->dtype == TL_FLOAT && weight->ndim == 4);
    assert(weight->dims[2] == 3 && weight->dims[3] == 3);
    pack_job job = {.weight = weight->data,
                    .bias = bias ? bias->data : NULL,
                    .dst = dst->data,
                    .row = tl_blocked_winograd_packed(weight->dims[1], m),
                    .oc = weight->dims[0],
                    .ic = weight->dims[1],
                    .pairs = m / 2};
    assert((size_t)dst->len == blocks * job.row);
    tl_parallel(exec, (size_t)blocks, tl_axis_grain(job.row), pack, &job);
    return 0;
}

/* ---- dividing the work ---- */

enum {
    PRODUCT_BLOCKS = 2,       /* blocks of output channels whose products exist at a time */
    UNIT_BYTES = 512 * 1024,  /* of a unit's source and products: half of a second cache */
    MOST_TILES = 56,          /* of a unit: more are of no use to the weights' traffic */
    LARGE_WEIGHTS = 16 << 20, /* bytes that the third cache may not keep from unit to unit */
    MANY_TILES = 4096,        /* of all images: units have about the same number from here on */
    UNITS = 8,                /* enough for a few threads to end at about the same time */
    UNIT_SUMS = 2000000,      /* multiply-accumulates that a unit is worth */
};

/** A convolution, divided into units: some tiles, counted over all images line by line, by some
 *  blocks of output channels. */
typedef struct wino {
    tl_tile_line_func *line;
    tl_wino_source_func *source;
    tl_wino_result_func *result;
    tl_tile_job product;
    tl_wino_job job;
    const float *src, *weight, *add;
    float *dst;
    size_t row; /* floats of the packed weights of a block */
    int m, t;
    int top, left; /* padding */
    int blocks_in, ih, iw;
    int blocks_out, oh, ow;
    int lines, columns; /* of tiles in an image */
    size_t n_tiles;     /* of all images */
    int tiles_per_unit, tile_units;
    int blocks_per_unit, block_units;
    /* A slot's scratch: the transformed source of its tiles [point][block][tile][TL_BLOCK], then
     * the products of PRODUCT_BLOCKS blocks likewise. */
    size_t source_step; /* floats from a point to the next */
    size_t slot_floats;
    float *scratch;
    size_t transformed[TL_MOST_SLOTS]; /* 1 + the tiles that a slot's scratch holds, 0: none */
} wino;

/** Floats from one point to the next. An odd number of pixels, so that the points of a tile fall in
 *  different sets of a cache. */
static size_t point_step(int blocks, int tiles)
{
    return (((size_t)blocks * tiles) | 1) * TL_BLOCK;
}

/** Units that are worth their overhead, and that let a few threads end at about the same time. */
static double wanted_units(const wino *w)
{
    const double sums = (double)w->row * w->blocks_out * w->n_tiles;
    return sums < UNIT_SUMS ? 1 : sums / UNIT_SUMS < UNITS ? sums / UNIT_SUMS : UNITS;
}

/** The tiles of a unit. Its transformed source is read again for each pair of blocks, so it should
 *  stay in the second cache, beside the products; but the weights are read once for each unit, so
 *  tiles should fill the registers of a product, and large weights are worth some more. */
static int tiles_of_unit(const wino *w)
{
    if ((double)w->row * w->blocks_out * sizeof(float) > LARGE_WEIGHTS)
        return MOST_TILES;
    const size_t tile_bytes =
        n_points(w->m) * (w->blocks_in + PRODUCT_BLOCKS) * TL_BLOCK * sizeof(float);
    const size_t fit = UNIT_BYTES / tile_bytes / TL_TILE_PIXELS * TL_TILE_PIXELS;
    const double share = (double)w->n_tiles / wanted_units(w);
    const double tiles = share < fit ? share : (double)fit;
    return tiles < TL_TILE_PIXELS ? TL_TILE_PIXELS : tiles > MOST_TILES ? MOST_TILES : (int)tiles;
}

static void set_tiles(wino *w, int tiles)
{
    w->tiles_per_unit = tiles;
    w->source_step = point_step(w->blocks_in, tiles);
    w->job.step = point_step(PRODUCT_BLOCKS, tiles);
    w->slot_floats = n_points(w->m) * (w->source_step + w->job.step);
}

/** Decides what a unit is, from the shapes alone. Blocks are divided where tiles are too few: each
 *  thread then transforms the source anew. */
static void divide(wino *w)
{
    const size_t n = w->n_tiles ? w->n_tiles : 1; // no images: one unit of nothing
    const size_t most = n / tiles_of_unit(w);     // units: rather larger ones than one more
    set_tiles(w, (int)tl_divide_up(n, most ? most : 1));
    w->tile_units = (int)tl_divide_up(n, w->tiles_per_unit);
    const int block_units = (int)(wanted_units(w) / w->tile_units);
    w->blocks_per_unit = (int)tl_divide_up(w->blocks_out, block_units > 1 ? block_units : 1);
    w->blocks_per_unit += w->blocks_per_unit % PRODUCT_BLOCKS;
    w->block_units = (int)tl_divide_up(w->blocks_out, w->blocks_per_unit);
}

static wino wino_of(const tl_tensor *src, const tl_tensor *dst, int channels, int m)
{
    wino w = {.row = tl_blocked_winograd_packed(channels, m),
              .m = m,
              .t = m + 2,
              .blocks_in = src->dims[1],
              .ih = src->dims[2],
              .iw = src->dims[3],
              .blocks_out = dst->dims[1],
              .oh = dst->dims[2],
              .ow = dst->dims[3]};
    w.lines = (int)tl_divide_up(w.oh, m);
    w.columns = (int)tl_divide_up(w.ow, m);
    w.n_tiles = (size_t)dst->dims[0] * w.lines * w.columns;
    w.job.pairs = m / 2;
    divide(&w);
    return w;
}

size_t tl_blocked_winograd_scratch(const tl_tensor *src, const tl_tensor *dst, int channels, int m,
                                   int threads)
{
    return tl_slots_size(wino_of(src, dst, channels, m).slot_floats * sizeof(float), threads);
}

/** The floats that a slot of this many tiles or fewer, of whole images, needs at most: a few tiles
 * may make a larger unit than many. Units of very many tiles differ by one or two. */
static size_t most_slot_floats(wino w)
{
    const size_t image = (size_t)w.lines * w.columns, n_tiles = w.n_tiles;
    size_t most = w.slot_floats;
    for (w.n_tiles = image; image && w.n_tiles < n_tiles && w.n_tiles < MANY_TILES;
         w.n_tiles += image) {
        divide(&w);
        most = w.slot_floats > most ? w.slot_floats : most;
    }
    if (n_tiles < MANY_TILES)
        return most;
    set_tiles(&w, MOST_TILES + 2);
    return w.slot_floats > most ? w.slot_floats : most;
}

size_t tl_blocked_winograd_batch_scratch(const tl_tensor *src, const tl_tensor *dst, int channels,
                                         int m, int threads)
{
    const wino w = wino_of(src, dst, channels, m);
    return tl_slots_size(most_slot_floats(w) * sizeof(float), threads);
}

/* ---- computing ---- */

/** Where a tile lies: its image, line and column. */
typedef struct place {
    size_t image;
    int y, x;
} place;

static place place_of(const wino *w, size_t tile)
{
    const size_t line = tile / w->columns;
    return (place){line / w->lines, (int)(line % w->lines), (int)(tile % w->columns)};
}

static void next_place(const wino *w, place *at)
{
    if (++at->x < w->columns)
        return;
    at->x = 0;
    if (++at->y < w->lines)
        return;
    at->y = 0;
    at->image++;
}

/** Copies the t x t pixels from row `y`, column `x` on, with zeros outside the image. */
static void copy_patch(const wino *w, const float *image, int y, int x, float *dst)
{
    const int before = x < 0 ? tl_smaller(-x, w->t) : 0;
    const int end = tl_smaller(w->iw - x, w->t);
    for (int i = 0; i < w->t; i++, dst += w->t * TL_BLOCK) {
        if (y + i < 0 || y + i >= w->ih || end <= before) {
            memset(dst, 0, w->t * TL_BLOCK * sizeof(*dst));
            continue;
        }
        const float *const src =
            image + ((ptrdiff_t)(y + i) * w->iw + x + before) * (ptrdiff_t)TL_BLOCK;
        memset(dst, 0, before * TL_BLOCK * sizeof(*dst));
        memcpy(dst + before * TL_BLOCK, src, (end - before) * TL_BLOCK * sizeof(*dst));
        memset(dst + end * TL_BLOCK, 0, (w->t - end) * TL_BLOCK * sizeof(*dst));
    }
}

/** The patch of a tile: where it lies in the image, or its copy if it meets the image's border. */
static void transform_patch(const wino *w, const float *image, const place *at, float *dst)
{
    const int y = at->y * w->m - w->top, x = at->x * w->m - w->left;
    if (y >= 0 && x >= 0 && y + w->t <= w->ih && x + w->t <= w->iw) {
        w->source(w->job.pairs, image + ((size_t)y * w->iw + x) * TL_BLOCK,
                  (size_t)w->iw * TL_BLOCK, dst, w->source_step);
        return;
    }
    float patch[TL_WINO_SIZE * TL_WINO_SIZE * TL_BLOCK];
    copy_patch(w, image, y, x, patch);
    w->source(w->job.pairs, patch, (size_t)w->t * TL_BLOCK, dst, w->source_step);
}

static void transform_source(const wino *w, size_t tile, int n, float *dst)
{
    const size_t plane = (size_t)w->ih * w->iw * TL_BLOCK;
    for (int b = 0; b < w->blocks_in; b++) {
        place at = place_of(w, tile);
        for (int i = 0; i < n; i++, dst += TL_BLOCK, next_place(w, &at))
            transform_patch(w, w->src + (at.image * w->blocks_in + b) * plane, &at, dst);
    }
}

/** For each point the sums over channels, n tiles being the pixels of a line. */
static void multiply(const wino *w, const float *source, int n, int block, int n_blocks, float *dst)
{
    const float *const weight = w->weight + block * w->row + TL_BLOCK;
    const size_t weight_step = (size_t)w->blocks_in * TL_BLOCK * TL_BLOCK;
    tl_tile_job job = w->product;
    job.src_block_step = job.dst_block_step = (size_t)n * TL_BLOCK;
    for (size_t i = 0; i < n_points(w->m); i++)
        w->line(&job, source + i * w->source_step, weight + i * weight_step, NULL, NULL,
                dst + i * w->job.step, n, n_blocks);
}

static void transform_results(const wino *w, const float *src, size_t tile, int n, int block,
                              int n_blocks)
{
    const size_t plane = (size_t)w->oh * w->ow * TL_BLOCK;
    for (int b = block; b < block + n_blocks; b++) {
        place at = place_of(w, tile);
        for (int i = 0; i < n; i++, src += TL_BLOCK, next_place(w, &at)) {
            const int y = at.y * w->m, x = at.x * w->m;
            const size_t k =
                (at.image * w->blocks_out + b) * plane + ((size_t)y * w->ow + x) * TL_BLOCK;
            w->result(&w->job, src, w->weight + b * w->row, w->add ? w->add + k : NULL, w->dst + k,
                      tl_smaller(w->m, w->oh - y), tl_smaller(w->m, w->ow - x));
        }
    }
}

static void run_units(void *arg, size_t slot, size_t begin, size_t end)
{
    wino *const w = arg;
    float *const source = w->scratch + slot * w->slot_floats;
    float *const products = source + n_points(w->m) * w->source_step;
    for (size_t u = begin; u < end; u++) {
        const size_t tile = u / w->block_units * w->tiles_per_unit;
        const int n = (int)tl_smaller_size(w->tiles_per_unit, w->n_tiles - tile);
        const int block = (int)(u % w->block_units) * w->blocks_per_unit;
        const int blocks = tl_smaller(w->blocks_per_unit, w->blocks_out - block);
        if (w->transformed[slot] != tile + 1)
            transform_source(w, tile, n, source);
        w->transformed[slot] = tile + 1;
        for (int b = 0; b < blocks; b += PRODUCT_BLOCKS) {
            const int n_blocks = tl_smaller(PRODUCT_BLOCKS, blocks - b);
            multiply(w, source, n, block + b, n_blocks, products);
            transform_results(w, products, tile, n, block + b, n_blocks);
        }
    }
}

int tl_exec_blocked_winograd(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                             const tl_tensor *add, tl_tensor *dst, const tl_conv2d_param *param,
                             int channels, int m)
{
    assert(src->dtype == TL_FLOAT && src->ndim == 5 && dst->ndim == 5);
    wino w = wino_of(src, dst, channels, m);
    w.line = tl_tile_line(exec);
    w.source = pick_source(exec, TL_FLOAT);
    w.result = pick_result(exec, TL_FLOAT);
    w.src = src->data;
    w.weight = weight->data;
    w.add = add ? add->data : NULL;
    w.dst = dst->data;
    w.top = param->padding[0];
    w.left = param->padding[1];
    static const ptrdiff_t tap = 0;
    w.product = (tl_tile_job){.lanes = TL_BLOCK,
                              .channels = channels,
                              .n_taps = 1,
                              .taps = &tap,
                              .weight_step = w.row,
                              .dst_step = TL_BLOCK,
                              .low = -INFINITY,
                              .high = INFINITY};
    w.job.row = (size_t)w.ow * TL_BLOCK;
    w.job.act = param->act;
    tl_act_bounds(param->act, &w.job.low, &w.job.high);
    const size_t slot_size = w.slot_floats * sizeof(float);
    if (tl_check_scratch(exec, slot_size, "for a convolution") < 0)
        return -1;
    w.scratch = exec->scratch;
    tl_parallel_slots(exec, (size_t)w.tile_units * w.block_units,
                      tl_smaller_size(TL_MOST_SLOTS, exec->scratch_size / slot_size), run_units,
                      &w);
    return 0;
}
