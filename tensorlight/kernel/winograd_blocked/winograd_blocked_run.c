// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution, divided into units: see winograd_blocked_run.h.

#include "kernel/winograd_blocked/winograd_blocked_run.h"

#include <assert.h>
#include <string.h>

#include "kernel/conv_blocked/conv_blocked.h"
#include "kernel/winograd_blocked/winograd_blocked.h"
#include "tensor/tl_result.h"

// Dividing the work

enum {
    PRODUCT_BLOCKS = 2,       // blocks of output channels whose products exist at a time
    UNIT_BYTES = 512 * 1024,  // of a unit's source and products: half of an L2 cache
    MAX_TILES = 56,           // of a unit: more would hardly reduce the loads of weights
    LARGE_WEIGHTS = 16 << 20, // bytes that the L3 cache may not keep from unit to unit
    MANY_TILES = 4096,        // of all images: from here on, units have about the same number
    UNITS = 8,                // enough to balance the load of a few threads
    UNIT_MACS = 2000000,      // min multiply-accumulates of a unit
};

// Elements from one point to the next. An odd number of pixels, so that the points of a tile fall
// in different sets of a cache.
static size_t point_step(int blocks, int tiles)
{
    return (((size_t)blocks * tiles) | 1) * TL_BLOCK;
}

// Bytes of a slot whose points have these elements of source and products.
static size_t slot_size(const tl_wino *w, size_t source, size_t products)
{
    const tl_wino_kind *const kind = w->kind;
    return tl_wino_n_points(kind->m) *
           (source * kind->point_size + kind->groups * products * TL_WINO_PRODUCT);
}

// The number of units that outweigh their overhead and balance the load of a few threads.
static double wanted_units(const tl_wino *w)
{
    const double macs = (double)w->kind->row * w->blocks_out * w->n_tiles;
    return macs < UNIT_MACS ? 1 : macs / UNIT_MACS < UNITS ? macs / UNIT_MACS : UNITS;
}

// The tiles of a unit. Its transformed source is read again for each pair of blocks, so it should
// stay in the L2 cache with the products; but the weights are read once for each unit, so
// tiles should fill the registers of a product, and large weights justify some more.
static int tiles_of_unit(const tl_wino *w)
{
    if ((double)w->kind->row * w->blocks_out * w->kind->point_size > LARGE_WEIGHTS)
        return MAX_TILES;
    const size_t tile_bytes =
        slot_size(w, (size_t)w->blocks_in * TL_BLOCK, PRODUCT_BLOCKS * TL_BLOCK);
    const size_t fit = UNIT_BYTES / tile_bytes / TL_TILE_PIXELS * TL_TILE_PIXELS;
    const double share = (double)w->n_tiles / wanted_units(w);
    const double tiles = share < fit ? share : (double)fit;
    return tiles < TL_TILE_PIXELS ? TL_TILE_PIXELS : tiles > MAX_TILES ? MAX_TILES : (int)tiles;
}

static void set_tiles(tl_wino *w, int tiles)
{
    w->tiles_per_unit = tiles;
    w->source_step = point_step(w->blocks_in, tiles);
    w->product_step = point_step(PRODUCT_BLOCKS, tiles);
    w->slot_size = slot_size(w, w->source_step, w->product_step);
}

// Sets the size of a unit, from the shapes alone. Blocks are divided where tiles are too few: each
// thread then transforms the source again.
static void divide(tl_wino *w)
{
    const size_t n = w->n_tiles ? w->n_tiles : 1; // an empty batch: one unit
    const size_t max = n / tiles_of_unit(w);      // units, rounded down
    set_tiles(w, (int)tl_ceil_div(n, max ? max : 1));
    w->tile_units = (int)tl_ceil_div(n, w->tiles_per_unit);
    const int block_units = (int)(wanted_units(w) / w->tile_units);
    w->blocks_per_unit = (int)tl_ceil_div(w->blocks_out, block_units > 1 ? block_units : 1);
    w->blocks_per_unit += w->blocks_per_unit % PRODUCT_BLOCKS;
    w->block_units = (int)tl_ceil_div(w->blocks_out, w->blocks_per_unit);
}

static tl_wino wino_of(const tl_wino_kind *kind, const tl_tensor *src, const tl_tensor *dst)
{
    tl_wino w = {.kind = kind,
                 .t = kind->m + 2,
                 .blocks_in = src->dims[1],
                 .ih = src->dims[2],
                 .iw = src->dims[3],
                 .blocks_out = dst->dims[1],
                 .oh = dst->dims[2],
                 .ow = dst->dims[3]};
    w.lines = (int)tl_ceil_div(w.oh, kind->m);
    w.columns = (int)tl_ceil_div(w.ow, kind->m);
    w.n_tiles = (size_t)dst->dims[0] * w.lines * w.columns;
    divide(&w);
    return w;
}

size_t tl_wino_scratch(const tl_wino_kind *kind, const tl_tensor *src, const tl_tensor *dst,
                       int threads)
{
    return tl_slots_size(wino_of(kind, src, dst).slot_size, threads);
}

// The max bytes of a slot for this batch and all smaller ones, whose units may be larger. With
// MANY_TILES, units have at most MAX_TILES + 2 tiles.
static size_t max_slot_size(tl_wino w)
{
    const size_t image = (size_t)w.lines * w.columns, n_tiles = w.n_tiles;
    size_t max = w.slot_size;
    for (w.n_tiles = image; image && w.n_tiles < n_tiles && w.n_tiles < MANY_TILES;
         w.n_tiles += image) {
        divide(&w);
        max = w.slot_size > max ? w.slot_size : max;
    }
    if (n_tiles < MANY_TILES)
        return max;
    set_tiles(&w, MAX_TILES + 2);
    return w.slot_size > max ? w.slot_size : max;
}

size_t tl_wino_batch_scratch(const tl_wino_kind *kind, const tl_tensor *src, const tl_tensor *dst,
                             int threads)
{
    return tl_slots_size(max_slot_size(wino_of(kind, src, dst)), threads);
}

// Patches

// The position of a tile: its image, line and column, in tiles.
typedef struct position {
    size_t image;
    int y, x;
} position;

static position position_of(const tl_wino *w, size_t tile)
{
    const size_t line = tile / w->columns;
    return (position){line / w->lines, (int)(line % w->lines), (int)(tile % w->columns)};
}

// Moves the position by `n` tiles, within its line or to the start of the next one.
static void advance(const tl_wino *w, position *at, int n)
{
    at->x += n;
    if (at->x < w->columns)
        return;
    at->x = 0;
    if (++at->y < w->lines)
        return;
    at->y = 0;
    at->image++;
}

// Copies the t x t pixels from row `y`, column `x` on, with padding outside the image.
static void copy_patch(const tl_wino *w, const char *image, int y, int x, char *dst)
{
    const size_t pixel = TL_BLOCK * w->kind->size;
    const int fill = w->kind->fill;
    const int before = x < 0 ? tl_min(-x, w->t) : 0;
    const int end = tl_min(w->iw - x, w->t);
    for (int i = 0; i < w->t; i++, dst += w->t * pixel) {
        if (y + i < 0 || y + i >= w->ih || end <= before) {
            memset(dst, fill, w->t * pixel);
            continue;
        }
        const char *const src =
            image + ((ptrdiff_t)(y + i) * w->iw + x + before) * (ptrdiff_t)pixel;
        memset(dst, fill, before * pixel);
        memcpy(dst + before * pixel, src, (end - before) * pixel);
        memset(dst + end * pixel, fill, (w->t - end) * pixel);
    }
}

// The patch of a tile: its address in the image, or its copy if it crosses the image's border.
static void transform_patch(const tl_wino *w, const char *image, const position *at, void *dst)
{
    const tl_wino_kind *const kind = w->kind;
    const int y = at->y * kind->m - w->top, x = at->x * kind->m - w->left;
    if (y >= 0 && x >= 0 && y + w->t <= w->ih && x + w->t <= w->iw) {
        kind->source(w, image + ((size_t)y * w->iw + x) * TL_BLOCK * kind->size,
                     (size_t)w->iw * TL_BLOCK, dst);
        return;
    }
    _Alignas(64) char patch[TL_WINO_SIZE * TL_WINO_SIZE * TL_BLOCK * sizeof(float)];
    copy_patch(w, image, y, x, patch);
    kind->source(w, patch, (size_t)w->t * TL_BLOCK, dst);
}

static void transform_source(const tl_wino *w, size_t tile, int n, char *dst)
{
    const size_t plane = (size_t)w->ih * w->iw * TL_BLOCK * w->kind->size;
    const size_t step = TL_BLOCK * w->kind->point_size;
    for (int b = 0; b < w->blocks_in; b++) {
        position at = position_of(w, tile);
        for (int i = 0; i < n; i++, dst += step, advance(w, &at, 1))
            transform_patch(w, w->src + (at.image * w->blocks_in + b) * plane, &at, dst);
    }
}

// Computing

static void transform_results(const tl_wino *w, const char *products, size_t tile, int n, int block,
                              int n_blocks)
{
    const int m = w->kind->m;
    for (int b = block; b < block + n_blocks; b++) {
        position at = position_of(w, tile);
        tl_wino_span span = {.n = 0};
        for (int i = 0; i < n; i += span.n, advance(w, &at, span.n)) {
            const int y = at.y * m, x = at.x * m;
            span.n = tl_min(w->columns - at.x, n - i);
            span.offset = (((at.image * w->blocks_out + b) * w->oh + y) * w->ow + x) * TL_BLOCK;
            span.rows = tl_min(m, w->oh - y);
            span.cols = tl_min(m * span.n, w->ow - x);
            w->kind->result(w, products, b, &span);
            products += (size_t)span.n * TL_BLOCK * TL_WINO_PRODUCT;
        }
    }
}

static void run_units(void *arg, size_t slot, size_t begin, size_t end)
{
    tl_wino *const w = arg;
    char *const source = w->scratch + slot * w->slot_size;
    char *const products =
        source + tl_wino_n_points(w->kind->m) * w->source_step * w->kind->point_size;
    for (size_t u = begin; u < end; u++) {
        const size_t tile = u / w->block_units * w->tiles_per_unit;
        const int n = (int)tl_min_size(w->tiles_per_unit, w->n_tiles - tile);
        const int block = (int)(u % w->block_units) * w->blocks_per_unit;
        const int blocks = tl_min(w->blocks_per_unit, w->blocks_out - block);
        if (w->transformed[slot] != tile + 1)
            transform_source(w, tile, n, source);
        w->transformed[slot] = tile + 1;
        for (int b = 0; b < blocks; b += PRODUCT_BLOCKS) {
            const int n_blocks = tl_min(PRODUCT_BLOCKS, blocks - b);
            w->kind->multiply(w, source, n, block + b, n_blocks, products);
            transform_results(w, products, tile, n, block + b, n_blocks);
        }
    }
}

int tl_wino_run(const tl_exec *exec, const tl_wino_kind *kind, const tl_tensor *src,
                const tl_tensor *dst, const tl_conv2d_param *param)
{
    assert(src->ndim == 5 && dst->ndim == 5);
    tl_wino w = wino_of(kind, src, dst);
    if (tl_check_scratch(exec, w.slot_size, "for a convolution") < 0)
        return -1;
    w.src = src->data;
    w.top = param->padding[0];
    w.left = param->padding[1];
    w.scratch = exec->scratch;
    tl_parallel_slots(exec, (size_t)w.tile_units * w.block_units,
                      tl_min_size(TL_MAX_SLOTS, exec->scratch_size / w.slot_size), run_units, &w);
    return 0;
}
