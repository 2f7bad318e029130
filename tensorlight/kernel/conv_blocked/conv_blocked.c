// SPDX-License-Identifier: Apache-2.0
// Convolution and transposed convolution in the blocked layout: partitions the work, copies the
// source with padding, and runs tiles.
//
// A transposed convolution with a stride is several convolutions without one: each computes a grid
// of results, every stride-th line and column, from some of the taps. All read the same source.

#include "kernel/conv_blocked/conv_blocked.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernel/act/act.h"
#include "kernel/conv_blocked/conv_blocked_plan.h"
#include "kernel/tl_axis.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_util.h"

TL_KERNEL_TABLE(pick_line, tl_tile_line_func, TL_BLOCKCONV_KERNELS)
TL_KERNEL_TABLE(pick_area, tl_tile_line_func, TL_BLOCKCONV_TILES)

tl_tile_line_func *tl_tile_line(const tl_exec *exec)
{
    return pick_line(exec, TL_FLOAT);
}

// Dividing the work

enum {
    SOURCE_BYTES = 256 * 1024, // of the source that a unit reads: stays in the L2 cache
    LINE_BYTES = 512 * 1024,   // max for one line, which is then divided, too
    UNIT_MACS = 500000,        // min multiply-accumulates of a unit
};

// The polyphase components of the source along an axis: every stride-th position, so that the
// operands of one tap for adjacent results are contiguous. There is one for each phase of the
// stride, which all taps share, or, if that copies fewer positions, one for each tap: with a large
// dilation, windows skip most positions between their taps.
typedef struct phases {
    int is_by_taps;
    int n;       // the number of components: the stride, or the taps
    int step;    // source positions from the start of one to that of the next: 1, or the dilation
    int64_t len; // positions of each
    int n_long;  // components from this index on have only len - 1
    int apart;   // source positions from one of a component to the next: the stride, or 1
} phases;

// Every step-th line and column of the result, and how it is summed.
typedef struct grid {
    int y, x;             // the first result
    int tap;              // index of the first tap in tl_conv_taps.order
    int n_taps;           // 0: only the bias
    size_t weight_offset; // of tl_conv_line_func
} grid;

// A convolution, divided into units: some lines of an image, or some columns of a line (of each
// grid), by some blocks of output channels.
typedef struct conv {
    const tl_conv_kind *kind;
    tl_tile_job tile;
    const char *src;
    tl_conv2d_param window; // covers the taps of all grids in the source
    tl_conv_groups groups;
    int blocks_in, ih, iw;
    int blocks_out, oh, ow; // of the largest grid; if is_pointwise, a single line
    int dh, dw, step[2];    // the extents of the result, and the steps of its grids
    int n_grids;
    grid grids[TL_BLOCKED_GRIDS];
    int lines_per_unit, line_units;
    int columns_per_unit, column_units;
    int blocks_per_unit, block_units;
    size_t regions;   // images * line_units * column_units
    int region_units; // block units of a region that are computed before the next region
    int is_pointwise; // a 1x1 convolution with stride 1: lines are joined to one
    int is_direct;    // the source is read in place; otherwise copied as `y` and `x` describe
    phases y, x;      // of a unit
    char *scratch;
    size_t slot_size;
    size_t prepared[TL_MAX_SLOTS]; // 1 + the region whose source a slot's scratch holds (with
                                   // several groups: 1 + the unit), 0: none
} conv;

static int is_pointwise(const conv *c)
{
    const tl_conv2d_param *const p = &c->window;
    return c->n_grids == 1 && p->size[0] == 1 && p->size[1] == 1 && p->stride[0] == 1 &&
           p->stride[1] == 1 && p->padding[0] == 0 && p->padding[1] == 0 && c->ih == c->oh &&
           c->iw == c->ow;
}

// The max blocks (or planes) of the source that a unit of `n` blocks of the result reads, as it
// copies them.
static int spanned_blocks(const conv *c, int n)
{
    const int blocks =
        c->groups.n == 1 ? c->blocks_in : tl_blocks(tl_conv_max_channels(&c->groups, n));
    return c->kind->joined ? (int)tl_ceil_div(blocks, c->kind->joined) : blocks;
}

// The distance from the first to the last tap of the window along an axis.
static int64_t reach(const tl_conv2d_param *p, int axis)
{
    return (int64_t)(p->size[axis] - 1) * p->dilation[axis];
}

// The phases for `n` neighbouring results along an axis.
static phases phases_for(const tl_conv2d_param *p, int axis, int n)
{
    const int taps = p->size[axis], stride = p->stride[axis];
    const int64_t len = n + reach(p, axis) / stride;
    if ((double)taps * n <= (double)stride * len)
        return (phases){1, taps, p->dilation[axis], n, taps, stride};
    return (phases){0, stride, 1, len, (int)(reach(p, axis) % stride) + 1, stride};
}

// The same for `n` columns. Areas may keep all columns between the taps of a window, so that pixels
// of neighbouring taps are adjacent.
static phases columns_for(const conv *c, int n)
{
    const phases s = phases_for(&c->window, 1, n);
    const int64_t all = (int64_t)(n - 1) * c->window.stride[1] + reach(&c->window, 1) + 1;
    return c->kind->is_area && !s.is_by_taps ? (phases){0, 1, 1, all, 1, 1} : s;
}

// Elements of a row of a block in the copied source.
static size_t prepared_row(const conv *c)
{
    return (size_t)c->x.n * c->x.len * c->tile.lanes;
}

// clamp(bytes / size, 1, max).
static int fit(double bytes, double size, int max)
{
    const double n = bytes / size;
    return n < 1 ? 1 : n < max ? (int)n : max;
}

// The pixels that tiles compute at once.
static int tile_pixels(const conv *c)
{
    enum { AREA_PIXELS = 32 }; // two tiles of matrix units
    return c->kind->is_area ? AREA_PIXELS : TL_TILE_PIXELS;
}

// fit() in multiples of the pixels of tiles, unless it is `max`.
static int fit_pixels(const conv *c, double bytes, double size, int max)
{
    const int n = fit(bytes, size, max), tile = tile_pixels(c);
    if (n == max)
        return n;
    return n < tile ? tl_min(tile, max) : n - n % tile;
}

// Lines of results whose copied rows, of `row_bytes` each, stay in the L2 cache. Ignores the rows
// beyond them that the last windows overlap.
static int lines_of_unit(const conv *c, double row_bytes)
{
    const int taps = c->window.size[0], stride = c->window.stride[0];
    const int n = fit(SOURCE_BYTES, row_bytes * tl_min(taps, stride), c->oh);
    return phases_for(&c->window, 0, n).is_by_taps ? fit(SOURCE_BYTES, row_bytes * taps, c->oh) : n;
}

// Columns of a unit of one line, whose copied source has `column_bytes` per column. Units are
// nearly equal; one of n columns copies shared + n * each bytes.
static int columns_of_unit(const conv *c, double column_bytes)
{
    const double whole = column_bytes * c->x.n * c->x.len;
    if (whole <= LINE_BYTES)
        return c->ow;
    const double shared = c->x.is_by_taps ? 0 : column_bytes * reach(&c->window, 1);
    const double each = (whole - shared) / c->ow;
    const int max = fit_pixels(c, LINE_BYTES - shared, each, c->ow);
    const int even = (int)tl_ceil_div(c->ow, tl_ceil_div(c->ow, max));
    return tl_min(c->ow, (int)tl_ceil_div(even, tile_pixels(c)) * tile_pixels(c));
}

// Lines and columns of a unit that prepares its source.
static void divide_prepared(conv *c, double pixel_bytes)
{
    c->x = columns_for(c, c->ow);
    c->columns_per_unit = c->ow;
    c->lines_per_unit = lines_of_unit(c, pixel_bytes * c->x.n * c->x.len);
    c->y = phases_for(&c->window, 0, c->lines_per_unit);
    if (c->lines_per_unit == 1) {
        c->columns_per_unit = columns_of_unit(c, pixel_bytes * c->y.n * c->y.len);
        c->x = columns_for(c, c->columns_per_unit);
    }
}

// Sets the size of a unit, from the shapes alone.
static void divide(conv *c)
{
    const double pixel_bytes = (double)spanned_blocks(c, 2) * c->tile.lanes * c->kind->size;
    if (c->is_pointwise) {
        const int is_whole = pixel_bytes * c->ow <= LINE_BYTES; // reads the weights only once
        c->lines_per_unit = 1;
        c->columns_per_unit = is_whole ? c->ow : fit_pixels(c, SOURCE_BYTES, pixel_bytes, c->ow);
        c->y = phases_for(&c->window, 0, 1);
        c->x = columns_for(c, c->columns_per_unit);
    } else {
        divide_prepared(c, pixel_bytes);
    }
    c->line_units = (int)tl_ceil_div(c->oh, c->lines_per_unit);
    c->column_units = (int)tl_ceil_div(c->ow, c->columns_per_unit);
    const double macs = (double)c->kind->row_len * c->blocks_out * c->oh * c->ow;
    const double wanted = macs / UNIT_MACS < 32 ? macs / UNIT_MACS : 32;
    const double block_units = wanted / c->line_units / c->column_units;
    c->blocks_per_unit = (int)tl_ceil_div(c->blocks_out, block_units < 1 ? 1 : (size_t)block_units);
    if (c->groups.n > 1) // groups share no source
        c->blocks_per_unit = tl_min(c->blocks_per_unit, tl_blocks(c->groups.out));
    c->blocks_per_unit += c->blocks_per_unit % 2; // tiles have two blocks
    c->block_units = (int)tl_ceil_div(c->blocks_out, c->blocks_per_unit);
}

// Bytes of a unit's copied source; SIZE_MAX: larger than the address space. For two blocks of
// output channels at most the largest of LINE_BYTES, KH * SOURCE_BYTES, and the source of one tile.
static size_t prepared_size(const conv *c)
{
    if (c->is_direct)
        return 0;
    size_t size = (size_t)spanned_blocks(c, c->blocks_per_unit) * c->tile.lanes * c->kind->size;
    if (tl_size_mul(size, (size_t)c->x.n * c->x.len, &size) < 0 ||
        tl_size_mul(size, (size_t)c->y.n * c->y.len, &size) < 0)
        return SIZE_MAX;
    return size;
}

// Along an axis of a transposed convolution, a tap multiplies position src and adds to position dst
// = src * stride + tap * dilation - padding. The first dst >= 0 that a tap adds to...
static int first_dst(const tl_conv2d_param *p, int axis, int tap)
{
    const int stride = p->stride[axis];
    const int64_t at = (int64_t)tap * p->dilation[axis] - p->padding[axis];
    return (int)((at % stride + stride) % stride);
}

// ...and its src, which may be outside the source.
static int first_src(const tl_conv2d_param *p, int axis, int tap)
{
    const int64_t at = (int64_t)tap * p->dilation[axis] - p->padding[axis];
    return (int)((first_dst(p, axis, tap) - at) / p->stride[axis]);
}

// The window that all grids of a transposed convolution read.
static tl_conv2d_param window_of(const tl_conv2d_param *p)
{
    tl_conv2d_param w = *p;
    for (int i = 0; i < 2; i++) {
        int low = first_src(p, i, 0), high = low;
        for (int tap = 1; tap < p->size[i]; tap++) {
            const int at = first_src(p, i, tap);
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        w.size[i] = high - low + 1;
        w.stride[i] = w.dilation[i] = 1;
        w.padding[i] = -low;
    }
    return w;
}

static void find_grids(conv *c, const tl_conv2d_param *p, const tl_conv_taps *taps)
{
    c->n_grids = taps->n_grids;
    for (int g = 0, begin = 0; g < taps->n_grids; begin = taps->end[g++]) {
        c->grids[g] = (grid){.tap = begin,
                             .n_taps = taps->end[g] - begin,
                             .weight_offset = c->kind->head_len * g + c->kind->tap_len * begin};
        if (c->step[0] * c->step[1] == 1)
            continue;
        // All taps of a grid have its index as tap * dilation % stride: its first result is that of
        // this tap with dilation 1, even if the grid has no taps.
        const tl_conv2d_param ones = {.stride = {p->stride[0], p->stride[1]},
                                      .dilation = {1, 1},
                                      .padding = {p->padding[0], p->padding[1]}};
        c->grids[g].y = first_dst(&ones, 0, g / p->stride[1]);
        c->grids[g].x = first_dst(&ones, 1, g % p->stride[1]);
    }
}

static conv conv_of(const tl_conv_kind *kind, const tl_tensor *src, const tl_tensor *dst,
                    const tl_conv2d_param *param, const int channels[2], const tl_conv_taps *taps)
{
    assert(kind->lanes == TL_BLOCK || kind->joined || param->group == 1);
    conv c = {.kind = kind,
              .window = kind->is_transposed ? window_of(param) : *param,
              .groups = tl_conv_groups_of(channels, param->group),
              .blocks_in = src->dims[1],
              .ih = src->dims[2],
              .iw = src->dims[3],
              .blocks_out = dst->dims[1],
              .dh = dst->dims[2],
              .dw = dst->dims[3],
              .step = {1, 1}};
    if (kind->is_transposed)
        memcpy(c.step, param->stride, sizeof(c.step));
    find_grids(&c, param, taps);
    c.oh = (int)tl_ceil_div(c.dh, c.step[0]);
    c.ow = (int)tl_ceil_div(c.dw, c.step[1]);
    c.tile = (tl_tile_job){.lanes = kind->lanes,
                           .group_lanes = c.groups.group_lanes,
                           .weight_step = kind->row_len,
                           .dst_block_step = (size_t)c.dh * c.dw * TL_BLOCK,
                           .dst_step = (size_t)c.step[1] * TL_BLOCK,
                           .dst_line_step = (size_t)c.step[0] * c.dw * TL_BLOCK};
    c.is_pointwise = is_pointwise(&c);
    c.is_direct = c.is_pointwise && !kind->widen &&
                  (!kind->joined || kind->lanes * (int)kind->size == kind->block_bytes);
    if (c.is_pointwise) {
        c.iw = c.ow = c.dw = c.oh * c.ow;
        c.ih = c.oh = c.dh = 1;
    }
    divide(&c);
    const int keeps_columns = kind->is_area && !c.x.is_by_taps;
    c.tile.src_step = keeps_columns ? c.window.stride[1] : 1;
    c.regions = (size_t)dst->dims[0] * c.line_units * c.column_units;
    c.slot_size = prepared_size(&c);
    c.tile.src_block_step =
        c.is_direct ? (size_t)c.iw * kind->lanes : (size_t)c.y.n * c.y.len * prepared_row(&c);
    return c;
}

size_t tl_conv_scratch(const tl_conv_kind *kind, const tl_tensor *src, const tl_tensor *dst,
                       const tl_conv2d_param *param, const int channels[2], int threads)
{
    tl_conv_taps taps;
    tl_conv_taps_of(&taps, param, kind->is_transposed);
    return tl_slots_size(conv_of(kind, src, dst, param, channels, &taps).slot_size, threads);
}

// Preparing the source

// The part of the result that a unit computes.
typedef struct part {
    size_t image;
    int line, n_lines, column, n_columns, block, n_blocks;
    tl_conv_span span; // of these blocks
    const char *src;   // source of the first result, in the first block of the span
    size_t src_step;   // from line to line
    size_t copied;     // bytes of a pixel of the block that is being copied
} part;

// If `size` is a constant, the compiler copies pixels in registers.
static inline void copy_each(char *dst, const char *src, size_t n, size_t step, size_t size)
{
    for (size_t i = 0; i < n; i++)
        memcpy(dst + i * size, src + i * step * size, size);
}

// Four bytes of any type, anywhere.
typedef uint32_t __attribute__((may_alias, aligned(1))) word;

// The case of the first layers of networks. Compilers vectorize loops over words.
static void copy_every_second(word *restrict dst, const word *restrict src, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = src[2 * i];
}

// The first `size` bytes of pixels, `step` bytes apart in src and `to` bytes in dst.
static void join_pixels(char *dst, size_t to, const char *src, size_t n, size_t step, size_t size)
{
    size_t k = 0;
    for (; k + TL_BLOCK <= size; k += TL_BLOCK)
        for (size_t i = 0; i < n; i++)
            memcpy(dst + i * to + k, src + i * step + k, TL_BLOCK);
    for (; k < size; k += sizeof(word))
        for (size_t i = 0; i < n; i++)
            memcpy(dst + i * to + k, src + i * step + k, sizeof(word));
}

// Pixels of `size` bytes, `step` pixels apart in src.
static void copy_pixels(char *dst, const char *src, size_t n, size_t step, size_t size)
{
    if (step == 1)
        memcpy(dst, src, n * size);
    else if (step == 2 && size == sizeof(word))
        copy_every_second((word *)dst, (const word *)src, n);
    else if (size == sizeof(float))
        copy_each(dst, src, n, step, sizeof(float));
    else if (size == TL_BLOCK)
        copy_each(dst, src, n, step, TL_BLOCK);
    else if (size == TL_BLOCK * sizeof(uint16_t))
        copy_each(dst, src, n, step, TL_BLOCK * sizeof(uint16_t));
    else
        copy_each(dst, src, n, step, TL_BLOCK * sizeof(float));
}

// The source position at which a phase begins, for results from `first` on.
static int64_t phase_begin(const tl_conv2d_param *p, int axis, const phases *s, int phase,
                           int first)
{
    return (int64_t)first * p->stride[axis] + (int64_t)phase * s->step - p->padding[axis];
}

// The positions of a phase that a unit with `missing` results less than others reads.
static int64_t phase_len(const phases *s, int phase, int missing)
{
    return s->len - (phase >= s->n_long) - missing;
}

// The number of columns below `limit`, of `n` from `first` on, `stride` apart.
static int64_t columns_below(int64_t limit, int64_t first, int64_t n, int stride)
{
    if (first + (n - 1) * stride < limit)
        return n; // the usual case, without a slow division
    return first < limit ? (limit - first - 1) / stride + 1 : 0;
}

// Bytes of a pixel of a block as tl_conv_kind.line reads it.
static int pixel_size(const conv *c)
{
    return c->tile.lanes * (int)c->kind->size;
}

// Bytes of a pixel of a block in the source.
static int source_pixel_size(const conv *c)
{
    return c->kind->joined ? c->kind->block_bytes : pixel_size(c) / (c->kind->widen ? 2 : 1);
}

enum { MAX_PIXEL_BYTES = 64 };

// Writes `n` pixels of padding.
static void fill_pixels(const conv *c, const part *u, char *dst, size_t n)
{
    const size_t size = (size_t)pixel_size(c);
    for (size_t i = 0; u->copied < size && i < n; i++)
        memset(dst + i * size, c->kind->fill, u->copied);
    if (u->copied < size)
        return;
    if (!c->kind->widen) {
        memset(dst, c->kind->fill, n * size);
        return;
    }
    char pixel[MAX_PIXEL_BYTES];
    memset(pixel, c->kind->fill, sizeof(pixel));
    c->kind->widen(dst, pixel, n, 0);
}

// Copies pixels of the source, `step` apart.
static void copy_source(const conv *c, const part *u, char *dst, const char *src, size_t n,
                        size_t step)
{
    if (c->kind->joined)
        join_pixels(dst, (size_t)pixel_size(c), src, n, step * (size_t)source_pixel_size(c),
                    u->copied);
    else if (c->kind->widen)
        c->kind->widen(dst, src, n, step);
    else
        copy_pixels(dst, src, n, step, (size_t)pixel_size(c));
}

// Copies `n` pixels of a phase from column `first` on, with padding outside the image.
static void prepare_phase(const conv *c, const part *u, char *dst, const char *src, int64_t first,
                          int64_t n)
{
    const int stride = c->x.apart, size = pixel_size(c);
    const int64_t begin = first < 0 ? columns_below(0, first, n, stride) : 0;
    const int64_t end = columns_below(c->iw, first, n, stride);
    if (begin > 0)
        fill_pixels(c, u, dst, (size_t)begin);
    if (end > begin)
        copy_source(c, u, dst + begin * size, src + (first + begin * stride) * source_pixel_size(c),
                    (size_t)(end - begin), (size_t)stride);
    if (n > end)
        fill_pixels(c, u, dst + end * size, (size_t)(n - end));
}

// Copies the row of the source at `src`, or a row of padding if that is NULL.
static void prepare_row(const conv *c, const part *u, const char *src, char *dst)
{
    if (!src) {
        fill_pixels(c, u, dst, prepared_row(c) / (size_t)c->tile.lanes);
        return;
    }
    for (int i = 0; i < c->x.n; i++)
        prepare_phase(c, u, dst + i * c->x.len * pixel_size(c), src,
                      phase_begin(&c->window, 1, &c->x, i, u->column),
                      phase_len(&c->x, i, c->columns_per_unit - u->n_columns));
}

// Prefetches a row of a plane of the source, if it exists. GCC would drop calls of a function that
// only prefetches.
TL_INLINE void prefetch_row(const conv *c, const char *src, int64_t y)
{
    enum { LINE = 64 };
    const size_t size = (size_t)c->iw * source_pixel_size(c);
    for (size_t i = 0; y >= 0 && y < c->ih && i < size; i += LINE)
        __builtin_prefetch(src + (size_t)y * size + i);
}

// Copies the rows of the block at `src` that a unit reads, phase by phase. Planes, the input of a
// network, are seldom in a cache: prefetches their rows.
static void prepare_rows(const conv *c, const part *u, const char *src, char *dst)
{
    enum { AHEAD = 2 }; // rows of a phase
    const size_t row = (size_t)c->iw * source_pixel_size(c),
                 prepared = prepared_row(c) * c->kind->size;
    const int missing = c->lines_per_unit - u->n_lines;
    for (int64_t k = 0; k < c->y.len - missing; k++)
        for (int i = 0; i < c->y.n; i++) {
            const int64_t y = phase_begin(&c->window, 0, &c->y, i, u->line) + k * c->y.apart;
            if (c->tile.lanes == 1 && k + AHEAD < phase_len(&c->y, i, missing))
                prefetch_row(c, src, y + AHEAD * c->y.apart);
            if (k < phase_len(&c->y, i, missing))
                prepare_row(c, u, y >= 0 && y < c->ih ? src + y * row : NULL,
                            dst + (i * c->y.len + k) * prepared);
        }
}

// The address of a block (or plane) of an image.
static const char *block_of(const conv *c, size_t image, int block)
{
    return c->src + (image * c->blocks_in + block) * c->ih * (size_t)c->iw * source_pixel_size(c);
}

// Copies a unit's source, with padding, to a slot's scratch.
static void prepare(const conv *c, const part *u, char *scratch)
{
    const int n = c->tile.lanes == 1 ? u->span.channels : tl_blocks(u->span.channels);
    const int joined = c->kind->joined ? c->kind->joined : 1;
    part copy = *u;
    for (int b = 0; b < n; b++) {
        const size_t block = (size_t)c->kind->block_bytes, pixel = (size_t)pixel_size(c);
        const size_t at = (size_t)(b % joined) * block;
        copy.copied = c->kind->joined ? tl_min_size(pixel - at, block) : pixel;
        prepare_rows(c, &copy, block_of(c, u->image, u->span.block + b),
                     scratch + b / joined * c->tile.src_block_step * c->kind->size + at);
    }
}

// The position, in the phases of an axis, that a tap multiplies for the first result.
static ptrdiff_t tap_position(const tl_conv2d_param *p, int axis, const phases *s, int tap)
{
    const int64_t at = (int64_t)tap * p->dilation[axis];
    return s->is_by_taps ? tap * s->len : at % s->n * s->len + at / s->n;
}

// Offsets of the taps in the prepared source, in their order.
static void find_taps(const conv *c, const tl_conv2d_param *p, const tl_conv_taps *order,
                      int is_transposed, ptrdiff_t *taps)
{
    for (int i = 0; i < order->n; i++) {
        const int y = order->order[i] / p->size[1], x = order->order[i] % p->size[1];
        const int row = is_transposed ? first_src(p, 0, y) + c->window.padding[0] : y;
        const int column = is_transposed ? first_src(p, 1, x) + c->window.padding[1] : x;
        taps[i] = tap_position(&c->window, 0, &c->y, row) * (ptrdiff_t)prepared_row(c) +
                  tap_position(&c->window, 1, &c->x, column) * c->tile.lanes;
    }
}

// Computing

// Whether lines of `n` results follow one another, as do their sources: those of a 1x1 convolution
// with a stride. Short lines would not fill tiles.
static int are_one_line(const part *u, const tl_tile_job *tile, int n)
{
    return tile->src_step == 1 && u->src_step == (size_t)n * tile->lanes &&
           tile->dst_line_step == (size_t)n * tile->dst_step;
}

// Computes the results of a grid in `n_blocks` blocks, whose source is at `src`.
static void run_grid(const conv *c, const part *u, const grid *g, tl_tile_job tile, const char *src,
                     int block, int n_blocks)
{
    const int x = u->column * c->step[1] + g->x; // there may be one column less than in others
    const int columns = x < c->dw ? (int)tl_ceil_div(c->dw - x, c->step[1]) : 0;
    const size_t first = (u->image * c->blocks_out + block) * tile.dst_block_step;
    const int y = u->line * c->step[0] + g->y; // and one line less
    const int lines = y < c->dh ? (int)tl_ceil_div(c->dh - y, c->step[0]) : 0;
    int n_lines = columns > 0 ? tl_min(u->n_lines, lines) : 0;
    int n_columns = tl_min(u->n_columns, columns);
    if (are_one_line(u, &tile, n_columns)) {
        n_columns *= n_lines;
        n_lines = tl_min(n_lines, 1);
    }
    const int each = c->kind->is_area ? n_lines : 1;
    tile.taps += g->tap;
    tile.n_taps = g->n_taps;
    tile.n_lines = each;
    tile.src_line_step = u->src_step;
    for (int i = 0; i < n_lines; i += each)
        c->kind->line(c->kind->arg, &tile, src + i * u->src_step * c->kind->size, block,
                      g->weight_offset,
                      first + i * tile.dst_line_step + ((size_t)y * c->dw + x) * TL_BLOCK,
                      n_columns, n_blocks);
}

// The source of the blocks of the result whose span begins with block `block` of the source.
static const char *source_of(const conv *c, const part *u, int block)
{
    const int joined = c->kind->joined ? c->kind->joined : 1;
    return u->src +
           (size_t)((block - u->span.block) / joined) * c->tile.src_block_step * c->kind->size;
}

// Computes blocks of the results of a unit that have the same span.
static void run_blocks(const conv *c, const part *u, int block, int n_blocks)
{
    const tl_conv_span s = tl_conv_span_of(&c->groups, block, 1);
    tl_tile_job tile = c->tile;
    tile.first = s.first;
    tile.channels = s.channels;
    const int all = c->groups.all_out; // 0: unknown
    const int ends_in_half_block = all > 0 && (all - 1) % TL_BLOCK < TL_BLOCK / 2;
    tile.has_half_block = block + n_blocks == c->blocks_out && ends_in_half_block;
    for (int g = 0; g < c->n_grids; g++)
        run_grid(c, u, &c->grids[g], tile, source_of(c, u, s.block), block, n_blocks);
}

static void run_part(const conv *c, const part *u)
{
    const int end = u->block + u->n_blocks;
    for (int b = u->block, n = 0; b < end; b += n) {
        const int max = c->kind->is_area ? end - b : tl_min(2, end - b);
        for (n = 1; n < max && tl_conv_is_pair(&c->groups, b + n - 1);)
            n++;
        run_blocks(c, u, b, n);
    }
}

static part part_of(const conv *c, size_t region, int block)
{
    const size_t line = region / c->column_units;
    part u = {.image = line / c->line_units,
              .line = (int)(line % c->line_units) * c->lines_per_unit,
              .column = (int)(region % c->column_units) * c->columns_per_unit,
              .block = block};
    u.n_lines = tl_min(c->lines_per_unit, c->oh - u.line);
    u.n_columns = tl_min(c->columns_per_unit, c->ow - u.column);
    u.n_blocks = tl_min(c->blocks_per_unit, c->blocks_out - block);
    u.span = tl_conv_span_of(&c->groups, block, u.n_blocks);
    return u;
}

static void run_unit(conv *c, size_t unit, size_t slot)
{
    const size_t pass = unit / (c->regions * c->region_units);
    const size_t region = unit / c->region_units % c->regions;
    const int block = (int)(pass * c->region_units + unit % c->region_units) * c->blocks_per_unit;
    part u = part_of(c, region, block);
    if (c->is_direct) {
        u.src = block_of(c, u.image, u.span.block) + (size_t)u.column * pixel_size(c);
    } else {
        char *const scratch = c->scratch + slot * c->slot_size;
        const size_t content = 1 + (c->groups.n == 1 ? region : unit);
        if (c->prepared[slot] != content)
            prepare(c, &u, scratch);
        c->prepared[slot] = content;
        u.src = scratch;
        u.src_step = prepared_row(c);
    }
    run_part(c, &u);
}

static void run_units(void *arg, size_t slot, size_t begin, size_t end)
{
    for (size_t u = begin; u < end; u++)
        run_unit(arg, u, slot);
}

int tl_conv_run(const tl_exec *exec, const tl_conv_kind *kind, const tl_tensor *src,
                const tl_tensor *dst, const tl_conv2d_param *param, const int channels[2])
{
    assert(param->size[0] * param->size[1] <= TL_BLOCKED_TAPS);
    tl_conv_taps order;
    ptrdiff_t taps[TL_BLOCKED_TAPS] = {0};
    tl_conv_taps_of(&order, param, kind->is_transposed);
    conv c = conv_of(kind, src, dst, param, channels, &order);
    c.src = src->data;
    c.tile.act = param->act;
    tl_act_bounds(param->act, &c.tile.low, &c.tile.high);
    c.tile.taps = taps;
    size_t slots = TL_MAX_SLOTS;
    if (!c.is_direct) {
        find_taps(&c, param, &order, kind->is_transposed, taps);
        if (tl_check_scratch(exec, c.slot_size, "for a convolution") < 0)
            return -1;
        c.scratch = exec->scratch;
        slots = tl_min_size(slots, exec->scratch_size / c.slot_size);
    }
    // If possible, each thread computes separate blocks, so that depthwise convolutions and other
    // operators that process block by block find them in the cache of their core.
    const int threads = (int)tl_min_size(slots, (size_t)tl_pool_size(exec ? exec->pool : NULL));
    const int splits_blocks = c.is_direct && c.block_units % threads == 0;
    c.region_units = splits_blocks ? c.block_units / threads : c.block_units;
    tl_parallel_slots(exec, c.regions * c.block_units, slots, run_units, &c);
    return 0;
}

// Floats, and pairs of bfloat16

typedef struct operands {
    tl_tile_line_func *line;
    const float *weight;
    const char *add; // or NULL
    char *dst;
    size_t add_size, dst_size; // bytes of an element
    int are_pairs;
} operands;

static void run_line(const void *arg, const tl_tile_job *tile, const void *src, int block,
                     size_t weight_offset, size_t dst_offset, int n, int n_blocks)
{
    const operands *const f = arg;
    const float *const weight = f->weight + block * tile->weight_step;
    tl_tile_job job = *tile;
    job.is_dst_bf16 = f->dst_size == sizeof(uint16_t);
    job.is_add_bf16 = f->add_size == sizeof(uint16_t);
    if (f->are_pairs)
        job.channels /= 2;
    f->line(&job, src, weight + TL_BLOCK + weight_offset, weight,
            f->add ? f->add + dst_offset * f->add_size : NULL, f->dst + dst_offset * f->dst_size, n,
            n_blocks);
}

int tl_blocked_conv2d_fills_tiles(int channels, const int dst[4], const tl_conv2d_param *param)
{
    return channels % TL_BLOCK == 0 && tl_conv_line(param, dst) >= TL_AREA_PIXELS;
}

static int fills_tiles(const tl_tensor *src, const tl_tensor *dst, const tl_conv2d_param *param,
                       const int channels[2])
{
    return src->dtype == TL_BFLOAT16 &&
           tl_blocked_conv2d_fills_tiles(channels[0], dst->dims, param);
}

static tl_conv_kind kind_of(const tl_tensor *src, const tl_conv2d_param *param,
                            const int channels[2], int is_transposed, int is_area)
{
    const int lanes = src->ndim == 5 ? TL_BLOCK : 1, are_pairs = src->dtype == TL_BFLOAT16;
    const size_t row = are_pairs
                           ? tl_blocked_conv2d_packed_pairs(channels[0], param->size) / 2
                           : tl_blocked_conv2d_packed(channels, param->group, param->size, lanes);
    const int is_joined = is_area && param->size[0] * param->size[1] == 1 && src->dims[1] > 1;
    return (tl_conv_kind){
        .size = sizeof(float),
        .lanes = is_joined   ? 2 * TL_TILE_PAIRS
                 : are_pairs ? TL_TILE_PAIRS
                             : lanes,
        .joined = is_joined ? 2 : 0,
        .block_bytes = TL_TILE_PAIRS * sizeof(float),
        .is_area = is_area,
        .row_len = row,
        .tap_len = (row - TL_BLOCK) / (size_t)(param->size[0] * param->size[1]),
        .is_transposed = is_transposed,
        .line = run_line,
    };
}

size_t tl_blocked_conv2d_scratch(const tl_tensor *src, const tl_tensor *dst,
                                 const tl_conv2d_param *param, const int channels[2], int threads)
{
    size_t max = 0; // of both kinds: the one that will run is unknown
    for (int is_area = 0; is_area <= fills_tiles(src, dst, param, channels); is_area++) {
        const tl_conv_kind kind = kind_of(src, param, channels, 0, is_area);
        const size_t size = tl_conv_scratch(&kind, src, dst, param, channels, threads);
        max = size > max ? size : max;
    }
    return max;
}

size_t tl_blocked_deconv2d_scratch(const tl_tensor *src, const tl_tensor *dst,
                                   const tl_conv2d_param *param, const int channels[2], int threads)
{
    const tl_conv_kind kind = kind_of(src, param, channels, 1, 0);
    return tl_conv_scratch(&kind, src, dst, param, channels, threads);
}

static inline int is_floating(const tl_tensor *t)
{
    return t->dtype == TL_FLOAT || t->dtype == TL_BFLOAT16;
}

static int run(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
               const tl_tensor *add, tl_tensor *dst, const tl_conv2d_param *param,
               const int channels[2], int is_transposed)
{
    const int are_pairs = src->dtype == TL_BFLOAT16;
    assert(is_floating(src) && weight->dtype == src->dtype && is_floating(dst));
    assert((src->ndim == 5 || src->ndim == 4) && dst->ndim == 5 && (!add || is_floating(add)));
    assert(!are_pairs || (src->ndim == 5 && param->group == 1 && channels[0] % 2 == 0));
    tl_tile_line_func *const area =
        fills_tiles(src, dst, param, channels) ? pick_area(exec, TL_BFLOAT16) : NULL;
    tl_tile_line_func *const line = are_pairs ? pick_line(exec, TL_BFLOAT16) : tl_tile_line(exec);
    const operands f = {.line = area ? area : line,
                        .weight = weight->data,
                        .add = add ? add->data : NULL,
                        .dst = dst->data,
                        .add_size = add ? tl_size_of(add->dtype) : 0,
                        .dst_size = tl_size_of(dst->dtype),
                        .are_pairs = are_pairs};
    tl_conv_kind kind = kind_of(src, param, channels, is_transposed, area != NULL);
    kind.arg = &f;
    return tl_conv_run(exec, &kind, src, dst, param, channels);
}

int tl_exec_blocked_conv2d(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                           const tl_tensor *add, tl_tensor *dst, const tl_conv2d_param *param,
                           const int channels[2])
{
    return run(exec, src, weight, add, dst, param, channels, 0);
}

int tl_exec_blocked_deconv2d(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                             const tl_tensor *add, tl_tensor *dst, const tl_conv2d_param *param,
                             const int channels[2])
{
    assert(src->ndim == 5 && src->dtype == TL_FLOAT);
    assert(param->stride[0] * param->stride[1] <= TL_BLOCKED_GRIDS);
    return run(exec, src, weight, add, dst, param, channels, 1);
}
