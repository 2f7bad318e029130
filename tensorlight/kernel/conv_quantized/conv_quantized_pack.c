// SPDX-License-Identifier: Apache-2.0
// Packs the weights of 8-bit convolutions and matrix multiplications.

#include <assert.h>
#include <string.h>

#include "kernel/conv_quantized/conv_quantized.h"
#include "kernel/tl_axis.h"

// Sizes

// Bytes of the weights of one tap.
static size_t tap_size(int channels)
{
    return (size_t)tl_quad_groups_of(channels).n * tl_quad_tap_size(channels);
}

tl_quad_row tl_quad_row_of(const int channels[2], const tl_conv2d_param *param, int is_transposed)
{
    const tl_conv_groups g = tl_conv_groups_of(channels, param->group);
    const size_t n_grids = is_transposed ? (size_t)(param->stride[0] * param->stride[1]) : 1;
    const size_t tap = tap_size(tl_conv_max_channels(&g, 1));
    const size_t taps = (size_t)param->size[0] * (size_t)param->size[1];
    return (tl_quad_row){tap, n_grids * sizeof(tl_quantized_head) + taps * tap};
}

size_t tl_quantized_conv2d_packed(const int channels[2], const tl_conv2d_param *param,
                                  int is_transposed)
{
    return tl_quad_row_of(channels, param, is_transposed).size;
}

size_t tl_quantized_matmul_packed(int k)
{
    return sizeof(tl_quantized_head) + tap_size(k);
}

// Packing

void tl_quantized_head_fill(tl_quantized_head *head, int first, int outputs, const tl_tensor *bias,
                            const tl_tensor *factor, const tl_tensor *addend)
{
    const int n = tl_min(TL_BLOCK, outputs - first);
    *head = (tl_quantized_head){.bias = {0}};
    if (bias)
        memcpy(head->bias, (const int32_t *)bias->data + first, (size_t)n * sizeof(int32_t));
    if (addend)
        memcpy(head->addend, (const float *)addend->data + first, (size_t)n * sizeof(float));
    for (int i = 0; i < n; i++)
        head->factor[i] =
            factor ? ((const float *)factor->data)[factor->len > 1 ? first + i : 0] : 1;
}

typedef struct pack_job {
    const int8_t *weight;
    int is_source_first; // the order of the weights' axes
    tl_conv_groups groups;
    tl_conv_taps taps;
    const tl_tensor *bias, *factor, *addend;
    int8_t *dst;
    size_t row, tap;
    size_t matrix; // weights of one matrix of several, which share bias, factor and addend
} pack_job;

static int outputs_of(const pack_job *job)
{
    return job->groups.out * job->groups.n;
}

// The weight of output channel `o` for source channel `c`; 0: absent.
static inline int weight_of(const pack_job *job, const int8_t *weight, int o, int c, int tap)
{
    const tl_conv_groups *const g = &job->groups;
    const int k = c - o / g->out * g->in; // of its group
    if (o >= outputs_of(job) || k < 0 || k >= g->in)
        return 0;
    const size_t plane =
        job->is_source_first ? (size_t)c * g->out + o % g->out : (size_t)o * g->in + k;
    return weight[plane * job->taps.n + tap];
}

// Whether the weights from [c, o] on are a full TL_QUAD x TL_BLOCK part of a matrix [k, n].
static int is_whole_quad(const pack_job *job, int o, int c)
{
    return job->is_source_first && job->taps.n == 1 && job->groups.n == 1 &&
           o + TL_BLOCK <= job->groups.out && c + TL_QUAD <= job->groups.in;
}

// pack_quad of such a part: transposes it.
static void pack_whole_quad(const pack_job *job, const int8_t *weight, int o, int c, int8_t *dst,
                            int32_t *sums)
{
    const size_t n = (size_t)job->groups.out;
    const int8_t *const from = weight + (size_t)c * n + o;
    for (int i = 0; i < TL_BLOCK; i++)
        for (int k = 0; k < TL_QUAD; k++)
            dst[i * TL_QUAD + k] = from[(size_t)k * n + i];
    for (int i = 0; i < TL_BLOCK; i++)
        sums[i] += from[i] + from[n + i] + from[2 * n + i] + from[3 * n + i];
}

// Packs the weights of four channels from `c` on for one tap, and adds them to the sums of the
// output channels.
static void pack_quad(const pack_job *job, const int8_t *weight, int o, int c, int tap, int8_t *dst,
                      int32_t *sums)
{
    if (is_whole_quad(job, o, c)) {
        pack_whole_quad(job, weight, o, c, dst, sums);
        return;
    }
    for (int i = 0; i < TL_BLOCK; i++)
        for (int k = 0; k < TL_QUAD; k++) {
            const int w = weight_of(job, weight, o + i, c + k, tap);
            dst[i * TL_QUAD + k] = (int8_t)w;
            sums[i] += w;
        }
}

// Packs a head and the taps begin .. end-1 of a block of output channels.
static void pack_grid(const pack_job *job, const int8_t *weight, size_t block, int begin, int end,
                      int8_t *dst)
{
    const int o = (int)block * TL_BLOCK;
    const tl_conv_span span = tl_conv_span_of(&job->groups, (int)block, 1);
    int8_t *to = dst + sizeof(tl_quantized_head);
    tl_quantized_head head;
    tl_quantized_head_fill(&head, o, outputs_of(job), job->bias, job->factor, job->addend);
    const tl_quad_groups groups = tl_quad_groups_of(span.channels);
    const int width = groups.blocks * TL_BLOCK;
    const int all = groups.n > 1 ? groups.n * width : span.channels; // weights of padding are 0
    for (int first = 0; first < all; first += width)
        for (int i = begin; i < end; i++)
            for (int c = first; c < first + width && c < all; c += TL_QUAD) {
                pack_quad(job, weight, o, span.block * TL_BLOCK + c, job->taps.order[i], to,
                          head.weight_sum);
                to += TL_BLOCK * TL_QUAD;
            }
    memcpy(dst, &head, sizeof(head));
}

// Packs row `row` of dst: a block of output channels of one of the matrices.
static void pack_row(const pack_job *job, size_t row)
{
    const size_t blocks = (size_t)tl_blocks(outputs_of(job)), block = row % blocks;
    const int8_t *const weight = job->weight + row / blocks * job->matrix;
    int8_t *dst = job->dst + row * job->row;
    memset(dst, 0, job->row); // other rows may be longer
    for (int g = 0, begin = 0; g < job->taps.n_grids; begin = job->taps.end[g++]) {
        pack_grid(job, weight, block, begin, job->taps.end[g], dst);
        dst += sizeof(tl_quantized_head) + (size_t)(job->taps.end[g] - begin) * job->tap;
    }
}

static void pack_rows(void *arg, size_t begin, size_t end)
{
    for (size_t r = begin; r < end; r++)
        pack_row(arg, r);
}

static int pack(const tl_exec *exec, pack_job *job, const tl_tensor *bias, const tl_tensor *factor,
                const tl_tensor *addend, tl_tensor *dst)
{
    assert(dst->dtype == TL_INT8 && dst->ndim >= 2);
    assert(dst->dims[dst->ndim - 2] == tl_blocks(outputs_of(job)));
    assert(!bias || (bias->dtype == TL_INT32 && bias->len == outputs_of(job)));
    assert(!factor || factor->len == 1 || factor->len == outputs_of(job));
    assert(!addend || (addend->dtype == TL_FLOAT && addend->len == outputs_of(job)));
    job->bias = bias;
    job->factor = factor;
    job->addend = addend;
    job->dst = dst->data;
    assert(job->row == (size_t)dst->dims[dst->ndim - 1]);
    tl_parallel(exec, (size_t)dst->len / job->row, tl_axis_grain(job->row), pack_rows, job);
    return 0;
}

int tl_exec_quantized_conv2d_pack(const tl_exec *exec, const tl_tensor *weight,
                                  const tl_tensor *bias, const tl_tensor *factor,
                                  const tl_tensor *addend, tl_tensor *dst,
                                  const tl_conv2d_param *param, int is_transposed)
{
    const int *const dims = weight->dims;
    const int others = dims[1] * param->group;
    const int channels[] = {is_transposed ? dims[0] : others, is_transposed ? others : dims[0]};
    assert(weight->dtype == TL_INT8 && weight->ndim == 4);
    assert(dims[2] == param->size[0] && dims[3] == param->size[1]);
    const tl_quad_row row = tl_quad_row_of(channels, param, is_transposed);
    pack_job job = {.weight = weight->data,
                    .is_source_first = is_transposed,
                    .groups = tl_conv_groups_of(channels, param->group),
                    .row = row.size,
                    .tap = row.tap};
    tl_conv_taps_of(&job.taps, param, is_transposed);
    return pack(exec, &job, bias, factor, addend, dst);
}

int tl_exec_quantized_matmul_pack(const tl_exec *exec, const tl_tensor *weight,
                                  const tl_tensor *bias, const tl_tensor *factor,
                                  const tl_tensor *addend, tl_tensor *dst, int is_transposed)
{
    const int *const dims = weight->dims + weight->ndim - 2;
    assert(weight->dtype == TL_INT8 && weight->ndim >= 2 && weight->ndim == dst->ndim);
    const int k = dims[is_transposed ? 1 : 0], n = dims[is_transposed ? 0 : 1];
    pack_job job = {.weight = weight->data,
                    .is_source_first = !is_transposed,
                    .groups = tl_conv_groups_of((int[]){k, n}, 1),
                    .taps = {.n = 1, .n_grids = 1, .end = {1}},
                    .row = tl_quantized_matmul_packed(k),
                    .tap = tap_size(k),
                    .matrix = (size_t)k * (size_t)n};
    return pack(exec, &job, bias, factor, addend, dst);
}
