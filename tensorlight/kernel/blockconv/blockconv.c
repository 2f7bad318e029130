// SPDX-License-Identifier: Apache-2.0
// Convolution in the blocked layout: weights packed, work divided, sources prepared, tiles run.

#include "kernel/blockconv/blockconv.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernel/act/act.h"
#include "kernel/tl_axis.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_util.h"

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
    LINE_BYTES = 512 * 1024,   /* the most of it for one line, before that is divided, too */
    UNIT_SUMS = 500000,        /* multiply-accumulates that a unit is worth */
};

/** How the source is prepared along an axis: in strands of every stride-th position, where what one
 *  tap needs for neighbouring results lies side by side. There is a strand for each phase of the
 *  stride, which all taps share or, where that takes fewer positions, one for each tap: a window
 *  that reaches far has not even room for what lies between its taps. */
typedef struct strands {
    int is_by_taps;
    int n;       /* of them: the stride, or the taps */
    int step;    /* positions of the source from where one begins to the next: 1, or the dilation */
    int64_t len; /* positions of each */
    int n_long;  /* those from this one on need one less */
} strands;

/** A convolution, divided into units: some lines of an image, or some columns of a line, by some
 *  blocks of output channels. */
typedef struct conv {
    tl_tile_line_func *line;
    tl_tile_job tile;
    const float *src, *weight, *add;
    float *dst;
    const tl_conv2d_param *param;
    groups groups;
    size_t row; /* floats of the packed weights of a block */
    int blocks_in, ih, iw;
    int blocks_out, oh, ow; /* a 1x1 convolution with stride 1 is one line: its length is ow */
    int lines_per_unit, line_units;
    int columns_per_unit, column_units;
    int blocks_per_unit, block_units;
    size_t places;   /* lines and columns of units, of all images */
    int group_units; /* block units that one thread takes, place by place */
    int is_direct;   /* the source is read where it lies; otherwise prepared: */
    strands y, x;    /* of a unit */
    float *scratch;
    size_t slot_size;
    size_t prepared[TL_MOST_SLOTS]; /* 1 + the place that a slot's scratch holds (of several groups:
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

/** How far the window reaches from its first to its last tap along an axis. */
static int64_t reach(const tl_conv2d_param *p, int axis)
{
    return (int64_t)(p->size[axis] - 1) * p->dilation[axis];
}

/** The strands of what `n` neighbouring results along an axis need. */
static strands strands_for(const tl_conv2d_param *p, int axis, int n)
{
    const int taps = p->size[axis], stride = p->stride[axis];
    const int64_t len = n + reach(p, axis) / stride;
    if ((double)taps * n <= (double)stride * len)
        return (strands){1, taps, p->dilation[axis], n, taps};
    return (strands){0, stride, 1, len, (int)(reach(p, axis) % stride) + 1};
}

/** Floats of a prepared row of a block. */
static size_t prepared_row(const conv *c)
{
    return (size_t)c->x.n * c->x.len * c->tile.lanes;
}

/** As many things of `size` bytes as `bytes` have room for, of `most`; at least one. */
static int fit(double bytes, double size, int most)
{
    const double n = bytes / size;
    return n < 1 ? 1 : n < most ? (int)n : most;
}

/** The same in whole tiles, if not all. */
static int fit_pixels(double bytes, double size, int most)
{
    const int n = fit(bytes, size, most);
    if (n == most)
        return n;
    return n < TL_TILE_PIXELS ? tl_smaller(TL_TILE_PIXELS, most) : n - n % TL_TILE_PIXELS;
}

/** Lines of results whose prepared rows of `row_bytes` stay in the second cache. What a window
 *  reaches beyond them is not counted. */
static int lines_of_unit(const conv *c, double row_bytes)
{
    const int taps = c->param->size[0], stride = c->param->stride[0];
    const int n = fit(SOURCE_BYTES, row_bytes * tl_smaller(taps, stride), c->oh);
    return strands_for(c->param, 0, n).is_by_taps ? fit(SOURCE_BYTES, row_bytes * taps, c->oh) : n;
}

/** Columns of one line of results, of which a prepared one has `column_bytes`: about as many in
 *  each unit. */
static int columns_of_unit(const conv *c, double column_bytes)
{
    const double whole = column_bytes * c->x.n * c->x.len;
    if (whole <= LINE_BYTES)
        return c->ow;
    const double shared = c->x.is_by_taps ? 0 : column_bytes * reach(c->param, 1);
    const double each = (whole - shared) / c->ow;
    const int most = fit_pixels(LINE_BYTES - shared, each, c->ow);
    const int even = (int)tl_divide_up(c->ow, tl_divide_up(c->ow, most));
    return tl_smaller(c->ow, (int)tl_divide_up(even, TL_TILE_PIXELS) * TL_TILE_PIXELS);
}

/** Lines and columns of a unit that prepares its source. */
static void divide_prepared(conv *c, double pixel_bytes)
{
    c->x = strands_for(c->param, 1, c->ow);
    c->columns_per_unit = c->ow;
    c->lines_per_unit = lines_of_unit(c, pixel_bytes * c->x.n * c->x.len);
    c->y = strands_for(c->param, 0, c->lines_per_unit);
    if (c->lines_per_unit == 1) {
        c->columns_per_unit = columns_of_unit(c, pixel_bytes * c->y.n * c->y.len);
        c->x = strands_for(c->param, 1, c->columns_per_unit);
    }
}

/** Decides what a unit is, from the shapes alone. */
static void divide(conv *c)
{
    const double pixel_bytes = (double)spanned_blocks(c, 2) * c->tile.lanes * sizeof(float);
    if (c->is_direct) {
        c->lines_per_unit = 1;
        c->columns_per_unit = fit_pixels(SOURCE_BYTES, pixel_bytes, c->ow);
    } else {
        divide_prepared(c, pixel_bytes);
    }
    c->line_units = (int)tl_divide_up(c->oh, c->lines_per_unit);
    c->column_units = (int)tl_divide_up(c->ow, c->columns_per_unit);
    const double sums = (double)c->row * c->blocks_out * c->oh * c->ow;
    const double wanted = sums / UNIT_SUMS < 32 ? sums / UNIT_SUMS : 32;
    const double block_units = wanted / c->line_units / c->column_units;
    c->blocks_per_unit =
        (int)tl_divide_up(c->blocks_out, block_units < 1 ? 1 : (size_t)block_units);
    c->blocks_per_unit += c->blocks_per_unit % 2; // tiles have two blocks
    c->block_units = (int)tl_divide_up(c->blocks_out, c->blocks_per_unit);
}

/** Bytes of a unit's prepared source: for two blocks of output channels at most LINE_BYTES, KH
 * times SOURCE_BYTES, or what a tile needs, which is less than a row of packed weights. SIZE_MAX:
 * more than an address can name. */
static size_t prepared_size(const conv *c)
{
    if (c->is_direct)
        return 0;
    size_t size = (size_t)spanned_blocks(c, c->blocks_per_unit) * c->tile.lanes * sizeof(float);
    if (tl_size_mul(size, (size_t)c->x.n * c->x.len, &size) < 0 ||
        tl_size_mul(size, (size_t)c->y.n * c->y.len, &size) < 0)
        return SIZE_MAX;
    return size;
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
    c.places = (size_t)dst->dims[0] * c.line_units * c.column_units;
    c.slot_size = prepared_size(&c);
    c.tile.src_block_step =
        c.is_direct ? (size_t)c.iw * lanes : (size_t)c.y.n * c.y.len * prepared_row(&c);
    return c;
}

size_t tl_blocked_conv2d_scratch(const tl_tensor *src, const tl_tensor *dst,
                                 const tl_conv2d_param *param, const int channels[2], int threads)
{
    return tl_slots_size(conv_of(src, dst, param, channels).slot_size, threads);
}

/* ---- preparing the source ---- */

/** What a unit computes, and of what. */
typedef struct part {
    size_t image;
    int line, n_lines, column, n_columns, block, n_blocks;
    span span;        /* of these blocks */
    const float *src; /* what the first result is computed of, in the first block of the span */
    size_t src_step;  /* from line to line */
} part;

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

/** Where a strand begins in the source, for results from `first` on. */
static int64_t strand_begin(const tl_conv2d_param *p, int axis, const strands *s, int strand,
                            int first)
{
    return (int64_t)first * p->stride[axis] + (int64_t)strand * s->step - p->padding[axis];
}

/** How many of its positions a unit needs that has `missing` results less than others. */
static int64_t strand_len(const strands *s, int strand, int missing)
{
    return s->len - (strand >= s->n_long) - missing;
}

/** How many of `n` columns from `first` on, `stride` apart, are less than `limit`. */
static int64_t columns_below(int64_t limit, int64_t first, int64_t n, int stride)
{
    if (first + (n - 1) * stride < limit)
        return n; // mostly, and divisions are slow
    return first < limit ? (limit - first - 1) / stride + 1 : 0;
}

/** `n` pixels of a strand from column `first` on, 0 outside the image. */
static void prepare_strand(const conv *c, float *dst, const float *src, int64_t first, int64_t n)
{
    const int stride = c->param->stride[1], lanes = c->tile.lanes;
    const int64_t begin = first < 0 ? columns_below(0, first, n, stride) : 0;
    const int64_t end = columns_below(c->iw, first, n, stride);
    memset(dst, 0, (size_t)begin * lanes * sizeof(*dst));
    if (end > begin)
        copy_pixels(dst + begin * lanes, src + (first + begin * stride) * lanes, (int)(end - begin),
                    stride, lanes);
    memset(dst + end * lanes, 0, (size_t)(n - end) * lanes * sizeof(*dst));
}

/** A prepared row, from the source's row at `src`, or of zeros if that is NULL. */
static void prepare_row(const conv *c, const part *u, const float *src, float *dst)
{
    if (!src) {
        memset(dst, 0, prepared_row(c) * sizeof(*dst));
        return;
    }
    for (int i = 0; i < c->x.n; i++)
        prepare_strand(c, dst + i * c->x.len * c->tile.lanes, src,
                       strand_begin(c->param, 1, &c->x, i, u->column),
                       strand_len(&c->x, i, c->columns_per_unit - u->n_columns));
}

/** The rows of a block of the source at `src` that a unit needs, in the order in which they lie
 *  there. */
static void prepare_rows(const conv *c, const part *u, const float *src, float *dst)
{
    const size_t row = (size_t)c->iw * c->tile.lanes;
    const int missing = c->lines_per_unit - u->n_lines;
    for (int64_t k = 0; k < c->y.len - missing; k++)
        for (int i = 0; i < c->y.n; i++) {
            const int64_t y =
                strand_begin(c->param, 0, &c->y, i, u->line) + k * c->param->stride[0];
            if (k < strand_len(&c->y, i, missing))
                prepare_row(c, u, y >= 0 && y < c->ih ? src + y * row : NULL,
                            dst + (i * c->y.len + k) * prepared_row(c));
        }
}

/** A block (or plane) of an image. */
static const float *block_of(const conv *c, size_t image, int block)
{
    return c->src + (image * c->blocks_in + block) * c->ih * (size_t)c->iw * c->tile.lanes;
}

/** Copies what a unit needs, with padding, to a slot's scratch. */
static void prepare(const conv *c, const part *u, float *scratch)
{
    const int n = c->tile.lanes == 1 ? u->span.channels : tl_blocks(u->span.channels);
    for (int b = 0; b < n; b++)
        prepare_rows(c, u, block_of(c, u->image, u->span.block + b),
                     scratch + b * c->tile.src_block_step);
}

/** Where the first result's position for a tap lies in the strands of an axis. */
static ptrdiff_t tap_position(const tl_conv2d_param *p, int axis, const strands *s, int tap)
{
    const int64_t at = (int64_t)tap * p->dilation[axis];
    return s->is_by_taps ? tap * s->len : at % s->n * s->len + at / s->n;
}

/** Where the taps lie in what is prepared. */
static void find_taps(const conv *c, ptrdiff_t *taps)
{
    const tl_conv2d_param *const p = c->param;
    for (int y = 0; y < p->size[0]; y++)
        for (int x = 0; x < p->size[1]; x++)
            *taps++ = tap_position(p, 0, &c->y, y) * (ptrdiff_t)prepared_row(c) +
                      tap_position(p, 1, &c->x, x) * c->tile.lanes;
}

/* ---- computing ---- */

/** Whether two blocks of the result are summed from the same channels: a tile has both. */
static int is_pair(const conv *c, int block)
{
    const span a = span_of(&c->groups, block, 1), b = span_of(&c->groups, block + 1, 1);
    return a.block == b.block && a.first == b.first && a.channels == b.channels;
}

/** One or two blocks of the results of a unit. */
static void run_blocks(const conv *c, const part *u, int block, int n_blocks)
{
    const span s = span_of(&c->groups, block, 1);
    const float *const src = u->src + (size_t)(s.block - u->span.block) * c->tile.src_block_step;
    const float *const weight = c->weight + block * c->row;
    const size_t first = (u->image * c->blocks_out + block) * c->tile.dst_block_step;
    tl_tile_job tile = c->tile;
    tile.first = s.first;
    tile.channels = s.channels;
    for (int i = 0; i < u->n_lines; i++) {
        const size_t to = first + ((size_t)(u->line + i) * c->ow + u->column) * TL_BLOCK;
        c->line(&tile, src + i * u->src_step, weight + TL_BLOCK, weight,
                c->add ? c->add + to : NULL, c->dst + to, u->n_columns, n_blocks);
    }
}

static void run_part(const conv *c, const part *u)
{
    const int end = u->block + u->n_blocks;
    for (int b = u->block, n = 0; b < end; b += n) {
        n = b + 1 < end && is_pair(c, b) ? 2 : 1;
        run_blocks(c, u, b, n);
    }
}

static part part_of(const conv *c, size_t place, int block)
{
    const size_t line = place / c->column_units;
    part u = {.image = line / c->line_units,
              .line = (int)(line % c->line_units) * c->lines_per_unit,
              .column = (int)(place % c->column_units) * c->columns_per_unit,
              .block = block};
    u.n_lines = tl_smaller(c->lines_per_unit, c->oh - u.line);
    u.n_columns = tl_smaller(c->columns_per_unit, c->ow - u.column);
    u.n_blocks = tl_smaller(c->blocks_per_unit, c->blocks_out - block);
    u.span = span_of(&c->groups, block, u.n_blocks);
    return u;
}

static void run_unit(conv *c, size_t unit, size_t slot)
{
    const size_t group = unit / (c->places * c->group_units);
    const size_t place = unit / c->group_units % c->places;
    const int block = (int)(group * c->group_units + unit % c->group_units) * c->blocks_per_unit;
    part u = part_of(c, place, block);
    if (c->is_direct) {
        u.src = block_of(c, u.image, u.span.block) + (size_t)u.column * c->tile.lanes;
    } else {
        float *const scratch = c->scratch + slot * (c->slot_size / sizeof(float));
        const size_t content = 1 + (c->groups.n == 1 ? place : unit);
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
    c.tile.act = param->act;
    tl_act_bounds(param->act, &c.tile.low, &c.tile.high);
    c.tile.taps = taps;
    size_t slots = TL_MOST_SLOTS;
    if (!c.is_direct) {
        find_taps(&c, taps);
        if (tl_check_scratch(exec, c.slot_size, "for a convolution") < 0)
            return -1;
        c.scratch = exec->scratch;
        slots = tl_smaller_size(slots, exec->scratch_size / c.slot_size);
    }
    group_blocks(&c, tl_smaller_size(slots, (size_t)tl_pool_size(exec ? exec->pool : NULL)));
    tl_parallel_slots(exec, c.places * c.block_units, slots, run_units, &c);
    return 0;
}
