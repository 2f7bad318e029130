// SPDX-License-Identifier: Apache-2.0
// Convolution in the blocked layout: weights packed, work divided, sources prepared, tiles run.

#include "kernel/blockconv/blockconv.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernel/act/act.h"
#include "kernel/tl_axis.h"

#define TL_KERNEL(name, dtype, isa) [isa][dtype] = name,
static tl_tile_line_func *const line_table[TL_ISA_SIZE][TL_DTYPE_SIZE] = {
#include "kernel/blockconv/blockconv.def"
};
#undef TL_KERNEL
TL_KERNEL_PICK(pick_line, tl_tile_line_func, line_table)

tl_tile_line_func *tl_tile_line(const tl_exec *exec)
{
    return pick_line(exec, TL_FLOAT);
}

int tl_blocks(int channels)
{
    return channels / TL_BLOCK + (channels % TL_BLOCK != 0);
}

/* ---- packing ---- */

size_t tl_blocked_conv2d_packed(int channels, const int size[2], int lanes)
{
    const size_t rows = lanes == 1 ? (size_t)channels : (size_t)tl_blocks(channels) * TL_BLOCK;
    return TL_BLOCK + rows * size[0] * size[1] * TL_BLOCK;
}

typedef struct pack_job {
    const float *weight, *bias;
    float *dst;
    size_t row; /* floats of a block of output channels */
    int oc, ic, n_taps, lanes;
} pack_job;

/** The weights of output channel `o` for the lanes of one block (or plane) and one tap. */
static void pack_lanes(const pack_job *job, int o, int c, int tap, float *dst)
{
    for (int lane = 0; lane < job->lanes; lane++)
        dst[lane * TL_BLOCK] =
            o < job->oc && c + lane < job->ic
                ? job->weight[((size_t)o * job->ic + c + lane) * job->n_taps + tap]
                : 0;
}

static void pack_channel(const pack_job *job, int o)
{
    float *dst = job->dst + o / TL_BLOCK * job->row + o % TL_BLOCK;
    *dst = job->bias && o < job->oc ? job->bias[o] : 0;
    dst += TL_BLOCK;
    for (int c = 0; c < job->ic; c += job->lanes)
        for (int tap = 0; tap < job->n_taps; tap++, dst += job->lanes * TL_BLOCK)
            pack_lanes(job, o, c, tap, dst);
}

static void pack(void *arg, size_t begin, size_t end)
{
    const pack_job *const job = arg;
    for (size_t o = begin * TL_BLOCK; o < end * TL_BLOCK; o++)
        pack_channel(job, (int)o);
}

int tl_exec_blocked_conv2d_pack(const tl_exec *exec, const tl_tensor *weight, const tl_tensor *bias,
                                tl_tensor *dst, int lanes)
{
    const int blocks = tl_blocks(weight->dims[0]);
    assert(weight->dtype == TL_FLOAT && weight->ndim == 4);
    pack_job job = {.weight = weight->data,
                    .bias = bias ? bias->data : NULL,
                    .dst = dst->data,
                    .row = tl_blocked_conv2d_packed(weight->dims[1], weight->dims + 2, lanes),
                    .oc = weight->dims[0],
                    .ic = weight->dims[1],
                    .n_taps = weight->dims[2] * weight->dims[3],
                    .lanes = lanes};
    assert((size_t)dst->len == blocks * job.row);
    tl_parallel(exec, (size_t)blocks, tl_axis_grain(job.row), pack, &job);
    return 0;
}

typedef struct scale_job {
    const float *weight, *factor;
    float *dst;
    size_t row;  /* floats of a block of output channels */
    size_t rows; /* of TL_BLOCK weights in it */
    size_t taps;
} scale_job;

static void scale(void *arg, size_t begin, size_t end)
{
    const scale_job *const job = arg;
    for (size_t o = begin; o < end; o++) {
        const float *src = job->weight + o * job->row;
        float *dst = job->dst + o * job->row;
        memcpy(dst, src, TL_BLOCK * sizeof(*dst)); // the biases
        for (size_t k = 0; k < job->rows; k++) {   // block of input channels, tap, lane
            src += TL_BLOCK;
            dst += TL_BLOCK;
            const float f = job->factor[k / TL_BLOCK / job->taps * TL_BLOCK + k % TL_BLOCK];
            for (int i = 0; i < TL_BLOCK; i++)
                dst[i] = src[i] * f;
        }
    }
}

int tl_exec_blocked_conv2d_scale(const tl_exec *exec, const tl_tensor *weight,
                                 const tl_tensor *factor, tl_tensor *dst)
{
    assert(weight->dtype == TL_FLOAT && weight->ndim == 2 && factor->dtype == TL_FLOAT);
    assert(tl_tensor_issameshape(weight, dst));
    scale_job job = {.weight = weight->data,
                     .factor = factor->data,
                     .dst = dst->data,
                     .row = (size_t)weight->dims[1],
                     .rows = (size_t)weight->dims[1] / TL_BLOCK - 1};
    job.taps = job.rows / (size_t)factor->len;
    assert(job.taps * (size_t)factor->len == job.rows);
    tl_parallel(exec, (size_t)weight->dims[0], tl_axis_grain(job.row), scale, &job);
    return 0;
}

/* ---- dividing the work ---- */

enum {
    SOURCE_BYTES = 256 * 1024, /* of the source that a unit reads: stays in the second cache */
    UNIT_SUMS = 500000,        /* multiply-accumulates that a unit is worth */
};

/** A convolution, divided into units: some lines of an image by some blocks of output channels. */
typedef struct conv {
    tl_tile_line_func *line;
    tl_tile_job tile;
    const float *src, *weight, *add;
    float *dst;
    const tl_conv2d_param *param;
    size_t row; /* floats of the packed weights of a block */
    int blocks_in, ih, iw;
    int blocks_out, oh, ow; /* a 1x1 convolution is one line: its length is ow */
    int lines_per_unit, line_units;
    int blocks_per_unit, block_units;
    size_t all_lines; /* line units of all images */
    int group_units;  /* block units that one thread takes, line unit by line unit */
    /* Of prepared sources, and how a 1x1 convolution with stride 1 divides its one line. */
    int is_direct;     /* the source is read where it lies */
    int phases, width; /* prepared lines: columns of each phase of the stride, `width` of each */
    int rows;          /* prepared rows of each block */
    int row_stride;    /* prepared rows from one result's line to the next */
    float *scratch;
    size_t slot_floats;
    size_t prepared[TL_MOST_SLOTS]; /* 1 + the lines that a slot's scratch holds, 0: none */
} conv;

static int is_direct(const conv *c)
{
    const tl_conv2d_param *const p = c->param;
    return p->size[0] == 1 && p->size[1] == 1 && p->stride[0] == 1 && p->stride[1] == 1 &&
           p->padding[0] == 0 && p->padding[1] == 0 && c->ih == c->oh && c->iw == c->ow;
}

/** Floats of a prepared row of a block. */
static size_t prepared_row(const conv *c)
{
    return (size_t)c->phases * c->width * c->tile.lanes;
}

/** Lines of results from `n` prepared ones need this many prepared rows. */
static int prepared_rows(const conv *c, int n)
{
    return (n - 1) * c->row_stride + (c->param->size[0] - 1) * c->param->dilation[0] + 1;
}

/** Decides what a unit is, from the shapes alone. */
static void divide(conv *c)
{
    const tl_conv2d_param *const p = c->param;
    const int lines = c->is_direct ? c->ow : c->oh;
    size_t line_bytes = (size_t)c->blocks_in * c->tile.lanes * sizeof(float);
    if (!c->is_direct) {
        c->phases = p->size[1] == 1 ? 1 : p->stride[1];
        c->row_stride = p->size[0] == 1 ? 1 : p->stride[0];
        c->width = (int)tl_divide_up((size_t)(c->ow - 1) * (c->phases == 1 ? 1 : p->stride[1]) +
                                         (size_t)(p->size[1] - 1) * p->dilation[1] + 1,
                                     c->phases);
        line_bytes *= (size_t)c->phases * c->width * c->row_stride;
    }
    const double most = (double)SOURCE_BYTES / line_bytes;
    c->lines_per_unit = most < 1 ? 1 : most < lines ? (int)most : lines;
    if (c->is_direct && c->lines_per_unit < lines) // whole tiles, if several
        c->lines_per_unit -= c->lines_per_unit % TL_TILE_PIXELS;
    if (c->lines_per_unit == 0)
        c->lines_per_unit = lines < TL_TILE_PIXELS ? lines : TL_TILE_PIXELS;
    c->line_units = (int)tl_divide_up(lines, c->lines_per_unit);
    const double sums = (double)c->row * c->blocks_out * c->oh * c->ow;
    const double wanted = sums / UNIT_SUMS < 32 ? sums / UNIT_SUMS : 32;
    c->block_units = wanted / c->line_units < 1 ? 1 : (int)(wanted / c->line_units);
    c->blocks_per_unit = (int)tl_divide_up(c->blocks_out, c->block_units);
    c->blocks_per_unit += c->blocks_per_unit % 2; // tiles have two blocks
    c->block_units = (int)tl_divide_up(c->blocks_out, c->blocks_per_unit);
    if (!c->is_direct) {
        c->rows = prepared_rows(c, c->lines_per_unit);
        c->slot_floats = (size_t)c->blocks_in * c->rows * prepared_row(c);
    }
}

static conv conv_of(const tl_tensor *src, const tl_tensor *dst, const tl_conv2d_param *param,
                    int channels)
{
    const int lanes = src->ndim == 5 ? TL_BLOCK : 1;
    conv c = {.param = param,
              .row = tl_blocked_conv2d_packed(channels, param->size, lanes),
              .blocks_in = src->dims[1],
              .ih = src->dims[2],
              .iw = src->dims[3],
              .blocks_out = dst->dims[1],
              .oh = dst->dims[2],
              .ow = dst->dims[3]};
    c.tile = (tl_tile_job){.lanes = lanes,
                           .channels = channels,
                           .n_taps = param->size[0] * param->size[1],
                           .weight_step = c.row,
                           .dst_block_step = (size_t)c.oh * c.ow * TL_BLOCK};
    c.is_direct = is_direct(&c);
    if (c.is_direct) {
        c.iw = c.ow = c.oh * c.ow;
        c.ih = c.oh = 1;
    }
    divide(&c);
    c.tile.src_block_step = c.is_direct ? (size_t)c.iw * lanes : (size_t)c.rows * prepared_row(&c);
    return c;
}

size_t tl_blocked_conv2d_scratch(const tl_tensor *src, const tl_tensor *dst,
                                 const tl_conv2d_param *param, int channels, int threads)
{
    return tl_slots_size(conv_of(src, dst, param, channels).slot_floats * sizeof(float), threads);
}

/* ---- preparing the source ---- */

/** Pixels of `lanes` floats, `step` pixels apart in src. */
static void copy_pixels(float *dst, const float *src, int n, int step, int lanes)
{
    if (step == 1) {
        memcpy(dst, src, (size_t)n * lanes * sizeof(*dst));
        return;
    }
    if (lanes == 1) {
        for (int i = 0; i < n; i++)
            dst[i] = src[(size_t)i * step];
        return;
    }
    for (int i = 0; i < n; i++)
        memcpy(dst + i * TL_BLOCK, src + (size_t)i * step * TL_BLOCK, TL_BLOCK * sizeof(*dst));
}

/** The columns of one phase of the stride: pixel i is column first + i * stride, 0 outside. */
static void prepare_phase(const conv *c, float *dst, const float *src, int first)
{
    const int stride = c->param->stride[1], lanes = c->tile.lanes;
    const int before = first < 0 ? (int)tl_divide_up(-(int64_t)first, stride) : 0;
    const int begin = before < c->width ? before : c->width;
    const int64_t last = (int64_t)c->iw - first; // columns from `first` to the end
    const int fit = last > 0 ? (int)tl_divide_up(last, stride) : 0;
    const int end = fit < begin ? begin : fit < c->width ? fit : c->width;
    memset(dst, 0, (size_t)begin * lanes * sizeof(*dst));
    copy_pixels(dst + (size_t)begin * lanes,
                src + ((ptrdiff_t)first + (ptrdiff_t)begin * stride) * lanes, end - begin, stride,
                lanes);
    memset(dst + (size_t)end * lanes, 0, (size_t)(c->width - end) * lanes * sizeof(*dst));
}

/** Copies what the lines of results from `line` on need, with padding, to a slot's scratch. */
static void prepare(const conv *c, const float *image, float *scratch, int line, int n_lines)
{
    const tl_conv2d_param *const p = c->param;
    const size_t row_floats = prepared_row(c), src_row = (size_t)c->iw * c->tile.lanes;
    const int rows = prepared_rows(c, n_lines);
    const int step = p->size[0] == 1 ? p->stride[0] : 1; // source rows from one to the next
    for (int b = 0; b < c->blocks_in; b++) {
        const float *const src = image + (size_t)b * c->ih * src_row;
        float *dst = scratch + (size_t)b * c->rows * row_floats;
        for (int r = 0; r < rows; r++, dst += row_floats) {
            const int64_t y = (int64_t)line * p->stride[0] - p->padding[0] + (int64_t)r * step;
            if (y < 0 || y >= c->ih) {
                memset(dst, 0, row_floats * sizeof(*dst));
                continue;
            }
            for (int phase = 0; phase < c->phases; phase++)
                prepare_phase(c, dst + (size_t)phase * c->width * c->tile.lanes,
                              src + (size_t)y * src_row, phase - p->padding[1]);
        }
    }
}

/** Where the taps lie in prepared lines. */
static void find_taps(const conv *c, ptrdiff_t *taps)
{
    const tl_conv2d_param *const p = c->param;
    for (int y = 0; y < p->size[0]; y++)
        for (int x = 0; x < p->size[1]; x++) {
            const int column = x * p->dilation[1];
            *taps++ =
                (ptrdiff_t)y * p->dilation[0] * (ptrdiff_t)prepared_row(c) +
                ((ptrdiff_t)(column % c->phases) * c->width + column / c->phases) * c->tile.lanes;
        }
}

/* ---- computing ---- */

/** Lines of results from prepared (or direct) lines. */
static void run_lines(const conv *c, const float *src, size_t src_step, size_t dst_at, int n_lines,
                      int pixels, int block, int n_blocks)
{
    const float *const weight = c->weight + (size_t)block * c->row;
    dst_at += (size_t)block * c->tile.dst_block_step;
    for (int b = 0; b < n_blocks; b += 2) {
        const int blocks = n_blocks - b < 2 ? n_blocks - b : 2;
        const float *const w = weight + (size_t)b * c->row;
        for (int i = 0; i < n_lines; i++) {
            const size_t at = dst_at + b * c->tile.dst_block_step + (size_t)i * c->ow * TL_BLOCK;
            c->line(&c->tile, src + i * src_step, w + TL_BLOCK, w, c->add ? c->add + at : NULL,
                    c->dst + at, pixels, blocks);
        }
    }
}

static void run_units(void *arg, size_t slot, size_t begin, size_t end)
{
    conv *const c = arg;
    float *const scratch = c->scratch ? c->scratch + slot * c->slot_floats : NULL;
    for (size_t u = begin; u < end; u++) {
        const size_t group = u / (c->all_lines * c->group_units);
        const size_t lines = u / c->group_units % c->all_lines;
        const int block = (int)(group * c->group_units + u % c->group_units) * c->blocks_per_unit;
        const int blocks = tl_smaller(c->blocks_per_unit, c->blocks_out - block);
        const size_t n = lines / c->line_units;
        const int line = (int)(lines % c->line_units) * c->lines_per_unit;
        const float *const image =
            c->src + n * c->blocks_in * c->ih * (size_t)c->iw * c->tile.lanes;
        const size_t dst_at = n * c->blocks_out * c->tile.dst_block_step;
        if (c->is_direct) {
            run_lines(c, image + (size_t)line * c->tile.lanes, 0, dst_at + (size_t)line * TL_BLOCK,
                      1, tl_smaller(c->lines_per_unit, c->ow - line), block, blocks);
            continue;
        }
        const int n_lines = tl_smaller(c->lines_per_unit, c->oh - line);
        if (c->prepared[slot] != lines + 1)
            prepare(c, image, scratch, line, n_lines);
        c->prepared[slot] = lines + 1;
        run_lines(c, scratch, prepared_row(c) * c->row_stride,
                  dst_at + (size_t)line * c->ow * TL_BLOCK, n_lines, c->ow, block, blocks);
    }
}

/** Each of several threads takes blocks of its own where it can: depthwise convolutions and other
 *  work block by block then finds them in its cache. */
static void group_blocks(conv *c, size_t threads)
{
    const int apart = c->is_direct && c->block_units % threads == 0;
    c->group_units = apart ? c->block_units / (int)threads : c->block_units;
}

int tl_exec_blocked_conv2d(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                           const tl_tensor *add, tl_tensor *dst, const tl_conv2d_param *param,
                           int channels)
{
    assert(src->dtype == TL_FLOAT && (src->ndim == 5 || src->ndim == 4) && dst->ndim == 5);
    assert(param->size[0] * param->size[1] <= TL_BLOCKED_TAPS);
    ptrdiff_t taps[TL_BLOCKED_TAPS] = {0};
    conv c = conv_of(src, dst, param, channels);
    c.line = tl_tile_line(exec);
    c.src = src->data;
    c.weight = weight->data;
    c.add = add ? add->data : NULL;
    c.dst = dst->data;
    c.all_lines = (size_t)dst->dims[0] * c.line_units;
    c.tile.act = param->act;
    tl_act_bounds(param->act, &c.tile.low, &c.tile.high);
    c.tile.taps = taps;
    size_t slots = TL_MOST_SLOTS;
    if (!c.is_direct) {
        find_taps(&c, taps);
        c.scratch = exec->scratch;
        const size_t fit = exec->scratch_size / (c.slot_floats * sizeof(float));
        assert(fit >= 1);
        slots = tl_smaller_size(slots, fit);
    }
    group_blocks(&c, tl_smaller_size(slots, (size_t)tl_pool_size(exec ? exec->pool : NULL)));
    tl_parallel_slots(exec, c.all_lines * c.block_units, slots, run_units, &c);
    return 0;
}
