// SPDX-License-Identifier: Apache-2.0
// Packs the weights of convolutions in the blocked layout, which determines the channels and taps
// of each sum, and their order.

#include <assert.h>
#include <string.h>

#include "kernel/conv_blocked/conv_blocked.h"
#include "kernel/conv_blocked/conv_blocked_plan.h"
#include "kernel/tl_axis.h"
#include "tensor/tl_convert.h"

int tl_blocks(int channels)
{
    return channels / TL_BLOCK + (channels % TL_BLOCK != 0);
}

// Channels

// tl_tile_job.group_lanes, for groups with as many input as output channels. Two groups of 2 become
// one of 4 with weights of 0, unless the number of groups is odd.
static int group_lanes_of(const tl_conv_groups *g)
{
    if (g->n == 1 || g->in != g->out)
        return 0;
    return g->in == 4 || g->in == 8 ? g->in : g->in == 2 && g->n % 2 == 0 ? 4 : 0;
}

tl_conv_groups tl_conv_groups_of(const int channels[2], int group)
{
    assert(channels[0] % group == 0 && channels[1] % group == 0);
    tl_conv_groups g = {group, channels[0] / group, channels[1] / group, channels[1], 0};
    g.group_lanes = group_lanes_of(&g);
    return g;
}

tl_conv_span tl_conv_span_of(const tl_conv_groups *g, int block, int n_blocks)
{
    if (g->n == 1)
        return (tl_conv_span){0, 0, g->in};
    const int after = tl_min(tl_blocks(g->all_out) - block, n_blocks) * TL_BLOCK;
    const int last = tl_min(after, g->all_out - block * TL_BLOCK) - 1 + block * TL_BLOCK;
    const int begin = block * TL_BLOCK / g->out * g->in, end = (last / g->out + 1) * g->in;
    const int at = begin / TL_BLOCK;
    return (tl_conv_span){at, begin - at * TL_BLOCK, end - at * TL_BLOCK};
}

int tl_conv_max_channels(const tl_conv_groups *g, int n_blocks)
{
    int max = 0;
    if (g->n == 1)
        return g->in;
    for (int b = 0; b < tl_blocks(g->all_out); b += n_blocks) {
        const int n = tl_conv_span_of(g, b, n_blocks).channels;
        max = n > max ? n : max;
    }
    return max;
}

int tl_conv_is_pair(const tl_conv_groups *g, int block)
{
    const tl_conv_span a = tl_conv_span_of(g, block, 1), b = tl_conv_span_of(g, block + 1, 1);
    return a.block == b.block && a.first == b.first && a.channels == b.channels;
}

// Taps

// Whether a tap belongs to grid `g`.
static int is_of_grid(const tl_conv2d_param *param, int g, int y, int x)
{
    return (int64_t)y * param->dilation[0] % param->stride[0] == g / param->stride[1] &&
           (int64_t)x * param->dilation[1] % param->stride[1] == g % param->stride[1];
}

void tl_conv_taps_of(tl_conv_taps *taps, const tl_conv2d_param *param, int is_transposed)
{
    taps->n = 0;
    taps->n_grids = is_transposed ? param->stride[0] * param->stride[1] : 1;
    for (int g = 0; g < taps->n_grids; g++) {
        for (int y = 0; y < param->size[0]; y++)
            for (int x = 0; x < param->size[1]; x++)
                if (!is_transposed || is_of_grid(param, g, y, x))
                    taps->order[taps->n++] = y * param->size[1] + x;
        taps->end[g] = taps->n;
    }
}

// Positions of the source from the first to the last tap of a transposed window along an axis.
static double extent(const tl_conv2d_param *param, int axis)
{
    return (param->size[axis] - 1.0) * param->dilation[axis] / param->stride[axis] + 1;
}

int tl_blocked_deconv2d_fits(const tl_conv2d_param *param)
{
    static const double far = 1 << 20; // sums of a few such values fit an int
    int fits = param->size[0] <= TL_BLOCKED_TAPS / param->size[1] &&
               param->stride[0] <= TL_BLOCKED_GRIDS / param->stride[1];
    for (int i = 0; i < 4; i++)
        fits = fits && param->padding[i] >= -far && param->padding[i] <= far;
    // Positions between distant taps are copied, too: no more than for the largest dense window.
    return fits && extent(param, 0) * extent(param, 1) <= TL_BLOCKED_TAPS;
}

// Packing

size_t tl_blocked_conv2d_packed(const int channels[2], int group, const int size[2], int lanes)
{
    const tl_conv_groups g = tl_conv_groups_of(channels, group);
    if (g.group_lanes)
        return TL_BLOCK + (size_t)g.group_lanes * size[0] * size[1] * TL_BLOCK;
    const int max = tl_conv_max_channels(&g, 1);
    const size_t rows = lanes == 1 ? (size_t)max : (size_t)tl_blocks(max) * TL_BLOCK;
    return TL_BLOCK + rows * size[0] * size[1] * TL_BLOCK;
}

size_t tl_blocked_conv2d_packed_pairs(int channels, const int size[2])
{
    const size_t taps = (size_t)size[0] * (size_t)size[1];
    return (TL_BLOCK + tl_blocks(channels) * taps * TL_TILE_PAIRS * TL_BLOCK) * 2;
}

typedef struct pack_job {
    const float *weight, *bias;
    float *dst;
    size_t row;  // floats of a block of output channels, or pairs of bfloat16
    size_t rows; // source channels for each tap, with padding
    tl_conv_groups groups;
    int is_transposed;
    tl_conv_taps taps;
    int lanes; // source channels that are summed for a tap before the next tap
    int are_pairs;
} pack_job;

// The weight of output channel `o` for source channel `c`; 0: absent.
static inline float weight_of(const pack_job *job, int o, int c, int tap)
{
    const tl_conv_groups *const g = &job->groups;
    if (o >= g->out * g->n)
        return 0;
    const int k = c - o / g->out * g->in; // of its group
    if (k < 0 || k >= g->in)
        return 0;
    const size_t plane =
        job->is_transposed ? (size_t)c * g->out + o % g->out : (size_t)o * g->in + k;
    return job->weight[plane * job->taps.n + tap];
}

// The source channel of term `k` in the sum of output channel `o`.
static int channel_of(const pack_job *job, int o, int first, int k)
{
    return job->groups.group_lanes ? ((o / 4) ^ (k / 4)) * 4 + k % 4 : first + k;
}

// The weight of output channel `o` for source channel `c`; of pairs, those for `c` and c + 1.
static float packed_weight(const pack_job *job, int o, int c, int tap)
{
    const float w = weight_of(job, o, c, tap);
    if (!job->are_pairs)
        return w;
    const uint16_t halves[] = {tl_bfloat_from_float(w),
                               tl_bfloat_from_float(weight_of(job, o, c + 1, tap))};
    float pair;
    memcpy(&pair, halves, sizeof(pair));
    return pair;
}

// Packs the weights of output channel `o` for the taps begin .. end-1. Returns the next address.
static float *pack_taps(const pack_job *job, int o, int begin, int end, float *dst)
{
    const int first = tl_conv_span_of(&job->groups, o / TL_BLOCK, 1).block * TL_BLOCK;
    for (int c = 0; c < (int)job->rows; c += job->lanes)
        for (int i = begin; i < end; i++)
            for (int k = 0; k < job->lanes; k += 1 + job->are_pairs, dst += TL_BLOCK)
                *dst = packed_weight(job, o, channel_of(job, o, first, c + k), job->taps.order[i]);
    return dst;
}

static void pack_channel(const pack_job *job, int o)
{
    float *dst = job->dst + o / TL_BLOCK * job->row + o % TL_BLOCK;
    *dst = job->bias && o < job->groups.out * job->groups.n ? job->bias[o] : 0;
    dst += TL_BLOCK;
    for (int g = 0, begin = 0; g < job->taps.n_grids; begin = job->taps.end[g++])
        dst = pack_taps(job, o, begin, job->taps.end[g], dst);
}

static void pack(void *arg, size_t begin, size_t end)
{
    const pack_job *const job = arg;
    for (size_t o = begin * TL_BLOCK; o < end * TL_BLOCK; o++)
        pack_channel(job, (int)o);
}

// Packs the weights of a convolution with these `channels`, or of a transposed one.
static int pack_weights(const tl_exec *exec, const tl_tensor *weight, const tl_tensor *bias,
                        tl_tensor *dst, const int channels[2], const tl_conv2d_param *param,
                        int is_transposed, int lanes)
{
    const size_t blocks = (size_t)tl_blocks(channels[1]);
    const int are_pairs = dst->dtype == TL_BFLOAT16;
    assert(weight->dtype == TL_FLOAT && weight->ndim == 4);
    assert(!are_pairs || (param->group == 1 && lanes == TL_BLOCK && !is_transposed));
    pack_job job = {
        .weight = weight->data,
        .bias = bias ? bias->data : NULL,
        .dst = dst->data,
        .row = are_pairs ? tl_blocked_conv2d_packed_pairs(channels[0], param->size) / 2
                         : tl_blocked_conv2d_packed(channels, param->group, param->size, lanes),
        .groups = tl_conv_groups_of(channels, param->group),
        .is_transposed = is_transposed,
        .are_pairs = are_pairs};
    tl_conv_taps_of(&job.taps, param, is_transposed);
    job.lanes = job.groups.group_lanes ? job.groups.group_lanes : lanes;
    job.rows = (job.row / TL_BLOCK - 1) * (1 + are_pairs) / job.taps.n;
    assert((size_t)dst->len == blocks * job.row * (1 + are_pairs));
    tl_parallel(exec, blocks, tl_axis_grain(job.row), pack, &job);
    return 0;
}

int tl_exec_blocked_conv2d_pack(const tl_exec *exec, const tl_tensor *weight, const tl_tensor *bias,
                                tl_tensor *dst, int group, int lanes)
{
    const int *const dims = weight->dims;
    const tl_conv2d_param param = {
        .group = group, .size = {dims[2], dims[3]}, .dilation = {1, 1}, .stride = {1, 1}};
    return pack_weights(exec, weight, bias, dst, (int[]){dims[1] * group, dims[0]}, &param, 0,
                        lanes);
}

int tl_exec_blocked_deconv2d_pack(const tl_exec *exec, const tl_tensor *weight,
                                  const tl_tensor *bias, tl_tensor *dst,
                                  const tl_conv2d_param *param)
{
    const int *const dims = weight->dims;
    return pack_weights(exec, weight, bias, dst, (int[]){dims[0], dims[1] * param->group}, param, 1,
                        TL_BLOCK);
}

typedef struct scale_job {
    const float *weight, *factor;
    float *dst;
    size_t row;  // floats of a block of output channels
    size_t rows; // of TL_BLOCK weights in it
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
