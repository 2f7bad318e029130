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

/* ---- channels ---- */

/** The channels of source and result, in groups. */
typedef struct groups {
    int n;
    int in, out; /* of a group */
    int all_out; /* looked at only where there are several groups */
    int shared;  /* of tl_tile_job */
} groups;

/** Groups that lie within a block, as many channels in as out. Two of 2 are taken for one of 4 with
 *  weights of 0, unless a last one stands alone. */
static int shared_by(const groups *g)
{
    if (g->n == 1 || g->in != g->out)
        return 0;
    return g->in == 4 || g->in == 8 ? g->in : g->in == 2 && g->n % 2 == 0 ? 4 : 0;
}

static groups groups_of(const int channels[2], int group)
{
    assert(channels[0] % group == 0 && channels[1] % group == 0);
    groups g = {group, channels[0] / group, channels[1] / group, channels[1], 0};
    g.shared = shared_by(&g);
    return g;
}

/** The source channels that a block of the result is summed from. */
typedef struct span {
    int block;           /* where the first one is */
    int first, channels; /* they are first .. channels-1 of those from that block on */
} span;

/** Of the blocks from `block` on; what lies within that belongs to other groups has weight 0. */
static span span_of(const groups *g, int block, int n_blocks)
{
    if (g->n == 1)
        return (span){0, 0, g->in};
    const int after = tl_smaller(tl_blocks(g->all_out) - block, n_blocks) * TL_BLOCK;
    const int last = tl_smaller(after, g->all_out - block * TL_BLOCK) - 1 + block * TL_BLOCK;
    const int begin = block * TL_BLOCK / g->out * g->in, end = (last / g->out + 1) * g->in;
    const int at = begin / TL_BLOCK;
    return (span){at, begin - at * TL_BLOCK, end - at * TL_BLOCK};
}

/* ---- packing ---- */

size_t tl_blocked_conv2d_packed(const int channels[2], int group, const int size[2], int lanes)
{
    const groups g = groups_of(channels, group);
    int most = g.n == 1 ? g.in : 0;
    if (g.shared)
        return TL_BLOCK + (size_t)g.shared * size[0] * size[1] * TL_BLOCK;
    for (int b = 0; b < tl_blocks(g.all_out); b++) {
        const int n = span_of(&g, b, 1).channels;
        most = n > most ? n : most;
    }
    const size_t rows = lanes == 1 ? (size_t)most : (size_t)tl_blocks(most) * TL_BLOCK;
    return TL_BLOCK + rows * size[0] * size[1] * TL_BLOCK;
}

typedef struct pack_job {
    const float *weight, *bias;
    float *dst;
    size_t row; /* floats of a block of output channels */
    groups groups;
    int n_taps, lanes; /* lanes: of a pixel that are summed for a tap before the next one */
} pack_job;

/** The weight between channel `o` of the result and channel `c` of the source; 0: there is none. */
static float weight_of(const pack_job *job, int o, int c, int tap)
{
    const groups *const g = &job->groups;
    if (o >= g->all_out)
        return 0;
    const int k = c - o / g->out * g->in; // of its group
    return k >= 0 && k < g->in ? job->weight[((size_t)o * g->in + k) * job->n_taps + tap] : 0;
}

/** The source channel that comes as number `k` in the sum of channel `o`. */
static int channel_of(const pack_job *job, int o, int first, int k)
{
    return job->groups.shared ? ((o / 4) ^ (k / 4)) * 4 + k % 4 : first + k;
}

static void pack_channel(const pack_job *job, int o)
{
    const int first = span_of(&job->groups, o / TL_BLOCK, 1).block * TL_BLOCK;
    float *dst = job->dst + o / TL_BLOCK * job->row + o % TL_BLOCK;
    const float *const end = dst + job->row;
    *dst = job->bias && o < job->groups.all_out ? job->bias[o] : 0;
    dst += TL_BLOCK;
    for (int c = 0; dst < end; c += job->lanes)
        for (int tap = 0; tap < job->n_taps; tap++)
            for (int k = 0; k < job->lanes; k++, dst += TL_BLOCK)
                *dst = weight_of(job, o, channel_of(job, o, first, c + k), tap);
}

static void pack(void *arg, size_t begin, size_t end)
{
    const pack_job *const job = arg;
    for (size_t o = begin * TL_BLOCK; o < end * TL_BLOCK; o++)
        pack_channel(job, (int)o);
}

int tl_exec_blocked_conv2d_pack(const tl_exec *exec, const tl_tensor *weight, const tl_tensor *bias,
                                tl_tensor *dst, int group, int lanes)
{
    const int blocks = tl_blocks(weight->dims[0]);
    const int channels[] = {weight->dims[1] * group, weight->dims[0]};
    assert(weight->dtype == TL_FLOAT && weight->ndim == 4);
    pack_job job = {.weight = weight->data,
                    .bias = bias ? bias->data : NULL,
                    .dst = dst->data,
                    .row = tl_blocked_conv2d_packed(channels, group, weight->dims + 2, lanes),
                    .groups = groups_of(channels, group),
                    .n_taps = weight->dims[2] * weight->dims[3]};
    job.lanes = job.groups.shared ? job.groups.shared : lanes;
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
    groups groups;
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
    size_t prepared[TL_MOST_SLOTS]; /* 1 + the lines that a slot's scratch holds (of several groups:
                                       1 + the unit), 0: none */
} conv;

static int is_direct(const conv *c)
{
    const tl_conv2d_param *const p = c->param;
    return p->size[0] == 1 && p->size[1] == 1 && p->stride[0] == 1 && p->stride[1] == 1 &&
           p->padding[0] == 0 && p->padding[1] == 0 && c->ih == c->oh && c->iw == c->ow;
}

/** The blocks (or planes) of the source that `n` blocks of the result are summed from, at most,
 *  where blocks are counted out in units of `n`. */
static int spanned_blocks(const conv *c, int n)
{
    int most = 0;
    if (c->groups.n == 1)
        return c->blocks_in;
    for (int b = 0; b < c->blocks_out; b += n) {
        const int blocks = tl_blocks(span_of(&c->groups, b, n).channels);
        most = blocks > most ? blocks : most;
    }
    return most;
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
    size_t line_bytes = (size_t)spanned_blocks(c, 2) * c->tile.lanes * sizeof(float);
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
        c->slot_floats = (size_t)spanned_blocks(c, c->blocks_per_unit) * c->rows * prepared_row(c);
    }
}

static conv conv_of(const tl_tensor *src, const tl_tensor *dst, const tl_conv2d_param *param,
                    const int channels[2])
{
    const int lanes = src->ndim == 5 ? TL_BLOCK : 1;
    assert(lanes == TL_BLOCK || param->group == 1);
    conv c = {.param = param,
              .groups = groups_of(channels, param->group),
              .row = tl_blocked_conv2d_packed(channels, param->group, param->size, lanes),
              .blocks_in = src->dims[1],
              .ih = src->dims[2],
              .iw = src->dims[3],
              .blocks_out = dst->dims[1],
              .oh = dst->dims[2],
              .ow = dst->dims[3]};
    c.tile = (tl_tile_job){.lanes = lanes,
                           .shared = c.groups.shared,
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
                                 const tl_conv2d_param *param, const int channels[2], int threads)
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

/** Copies what the lines of results from `line` on need of `n_blocks` blocks (or planes), with
 *  padding, to a slot's scratch. */
static void prepare(const conv *c, const float *src, int n_blocks, float *scratch, int line,
                    int n_lines)
{
    const tl_conv2d_param *const p = c->param;
    const size_t row_floats = prepared_row(c), src_row = (size_t)c->iw * c->tile.lanes;
    const int rows = prepared_rows(c, n_lines);
    const int step = p->size[0] == 1 ? p->stride[0] : 1; // source rows from one to the next
    for (int b = 0; b < n_blocks; b++, src += c->ih * src_row) {
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

/** Whether two blocks of the result are summed from the same channels: a tile has both. */
static int is_pair(const conv *c, int block)
{
    const span a = span_of(&c->groups, block, 1), b = span_of(&c->groups, block + 1, 1);
    return a.block == b.block && a.first == b.first && a.channels == b.channels;
}

/** Where results are computed: some lines, prepared or direct, by some blocks. */
typedef struct place {
    const float *src; /* of the first line, of the source's block `src_block` */
    int src_block;
    size_t src_step; /* from line to line */
    size_t dst_at;   /* of the first line, of block 0 */
    int n_lines, pixels;
    int block, n_blocks;
} place;

/** Lines of results of one or two blocks. */
static void run_blocks(const conv *c, const place *at, int block, int n_blocks)
{
    const span s = span_of(&c->groups, block, 1);
    const float *const src = at->src + (size_t)(s.block - at->src_block) * c->tile.src_block_step;
    const float *const weight = c->weight + block * c->row;
    tl_tile_job tile = c->tile;
    tile.first = s.first;
    tile.channels = s.channels;
    for (int i = 0; i < at->n_lines; i++) {
        const size_t to = at->dst_at + block * tile.dst_block_step + (size_t)i * c->ow * TL_BLOCK;
        c->line(&tile, src + i * at->src_step, weight + TL_BLOCK, weight,
                c->add ? c->add + to : NULL, c->dst + to, at->pixels, n_blocks);
    }
}

static void run_lines(const conv *c, const place *at)
{
    const int end = at->block + at->n_blocks;
    for (int b = at->block, n = 0; b < end; b += n) {
        n = b + 1 < end && is_pair(c, b) ? 2 : 1;
        run_blocks(c, at, b, n);
    }
}

static void run_unit(conv *c, size_t u, size_t slot)
{
    const size_t group = u / (c->all_lines * c->group_units);
    const size_t lines = u / c->group_units % c->all_lines;
    const int block = (int)(group * c->group_units + u % c->group_units) * c->blocks_per_unit;
    const size_t n = lines / c->line_units;
    const int line = (int)(lines % c->line_units) * c->lines_per_unit;
    const size_t plane = c->ih * (size_t)c->iw * c->tile.lanes;
    const float *const image = c->src + n * c->blocks_in * plane;
    place at = {.src = image + (size_t)line * c->tile.lanes,
                .dst_at = n * c->blocks_out * c->tile.dst_block_step + (size_t)line * TL_BLOCK,
                .n_lines = 1,
                .pixels = tl_smaller(c->lines_per_unit, c->ow - line),
                .block = block,
                .n_blocks = tl_smaller(c->blocks_per_unit, c->blocks_out - block)};
    if (!c->is_direct) {
        const span s = span_of(&c->groups, block, at.n_blocks);
        const size_t content = 1 + (c->groups.n == 1 ? lines : u);
        float *const scratch = c->scratch + slot * c->slot_floats;
        at.n_lines = tl_smaller(c->lines_per_unit, c->oh - line);
        if (c->prepared[slot] != content)
            prepare(c, image + s.block * plane,
                    c->tile.lanes == 1 ? s.channels : tl_blocks(s.channels), scratch, line,
                    at.n_lines);
        c->prepared[slot] = content;
        at.src = scratch;
        at.src_block = s.block;
        at.src_step = prepared_row(c) * c->row_stride;
        at.dst_at += (size_t)line * (c->ow - 1) * TL_BLOCK;
        at.pixels = c->ow;
    }
    run_lines(c, &at);
}

static void run_units(void *arg, size_t slot, size_t begin, size_t end)
{
    for (size_t u = begin; u < end; u++)
        run_unit(arg, u, slot);
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
                           const int channels[2])
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
