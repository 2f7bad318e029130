// SPDX-License-Identifier: Apache-2.0
// 8-bit convolutions by Winograd's algorithm: transforms weights, multiplies groups of channels.

#include "kernel/winograd_quantized/winograd_quantized.h"

#include <assert.h>
#include <string.h>

#include "kernel/act/act.h"
#include "kernel/tl_axis.h"
#include "kernel/winograd_blocked/winograd_blocked_run.h"

TL_KERNEL_TABLE(pick, const tl_wino_u8_kernel, TL_WINO_U8_KERNELS)

// Groups of channels

static int n_groups(int channels)
{
    return (int)tl_ceil_div((size_t)tl_blocks(channels), TL_WINO_U8_BLOCKS);
}

// The first block of a group; the groups differ by one block at most.
static int first_block(int channels, int group)
{
    return (int)((int64_t)tl_blocks(channels) * group / n_groups(channels));
}

// The channels in front of a group.
static int first_channel(int channels, int group)
{
    return tl_min(channels, first_block(channels, group) * TL_BLOCK);
}

// The weights of `channels` for a point and a block of output channels.
static size_t point_weights(int channels)
{
    return tl_ceil_div((size_t)channels, TL_WINO_U8_PAIR) * TL_WINO_U8_PAIR * TL_BLOCK;
}

// The weights of all groups before the one that begins with this channel.
static size_t weights_before(int channel)
{
    return TL_WINO_U8_POINTS * point_weights(channel);
}

// Packing

// Whether packed weights, which are 16-bit words, may be stored at this address.
static inline int is_aligned(const void *weight)
{
    return (uintptr_t)weight % sizeof(int16_t) == 0;
}

size_t tl_quantized_winograd_packed(int channels)
{
    return sizeof(tl_quantized_head) + weights_before(channels) * sizeof(int16_t);
}

typedef struct pack_job {
    const tl_tensor *weight, *bias, *factor, *addend;
    int8_t *dst;
    size_t row; // bytes
} pack_job;

// Windows of a block of output channels, or their transforms: [position][channel].
typedef int16_t block_table[TL_WINO_U8_POINTS][TL_BLOCK];

// The weight of output channel `o` for source channel `c`; 0: absent.
static inline int weight_of(const pack_job *job, int o, int c, int tap)
{
    const int oc = job->weight->dims[0], ic = job->weight->dims[1];
    const int8_t *const weights = job->weight->data;
    return o < oc ? weights[((size_t)o * ic + c) * 9 + tap] : 0;
}

// Loads the windows of the output channels from `o` on for input channel `c`, and adds their
// weights to the sums of the output channels.
static void load_windows(const pack_job *job, int o, int c, block_table table, int32_t *sums)
{
    for (int i = 0; i < TL_BLOCK; i++)
        for (int tap = 0; tap < 9; tap++) {
            const int w = weight_of(job, o + i, c, tap);
            table[tap][i] = (int16_t)w;
            sums[i] += w;
        }
}

// G times three rows of a table, `step` apart, to six rows, dst_step apart.
static void weight_line(int16_t (*src)[TL_BLOCK], int step, int16_t (*dst)[TL_BLOCK], int dst_step)
{
    for (int i = 0; i < TL_BLOCK; i++) {
        const int first = src[0][i], odd = src[step][i], last = src[2 * step][i];
        const int even = first + last, far_even = first + 4 * last, far_odd = 2 * odd;
        dst[0][i] = (int16_t)first;
        dst[dst_step][i] = (int16_t)(-even - odd);
        dst[2 * dst_step][i] = (int16_t)(odd - even);
        dst[3 * dst_step][i] = (int16_t)(far_even + far_odd);
        dst[4 * dst_step][i] = (int16_t)(far_even - far_odd);
        dst[5 * dst_step][i] = (int16_t)last;
    }
}

static void transform_windows(block_table table)
{
    block_table columns;
    for (int x = 0; x < 3; x++)
        weight_line(table + x, 3, columns + x, 3);
    for (int y = 0; y < TL_WINO_U8_PATCH; y++)
        weight_line(columns + y * 3, 1, table + y * TL_WINO_U8_PATCH, 1);
}

// Packs input channel `c` and, if before `end`, the next one; the points are `step` apart.
static void pack_pair(const pack_job *job, int o, int c, int end, int32_t *sums, int16_t *dst,
                      size_t step)
{
    block_table tables[TL_WINO_U8_PAIR] = {{{0}}};
    for (int k = 0; k < TL_WINO_U8_PAIR && c + k < end; k++) {
        load_windows(job, o, c + k, tables[k], sums);
        transform_windows(tables[k]);
    }
    for (int p = 0; p < TL_WINO_U8_POINTS; p++)
        for (int i = 0; i < TL_BLOCK; i++)
            for (int k = 0; k < TL_WINO_U8_PAIR; k++)
                dst[p * step + (size_t)(i * TL_WINO_U8_PAIR + k)] = tables[k][p][i];
}

static void pack(void *arg, size_t begin, size_t end)
{
    const pack_job *const job = arg;
    const int oc = job->weight->dims[0], ic = job->weight->dims[1];
    for (size_t b = begin; b < end; b++) {
        int8_t *const row = job->dst + b * job->row;
        int16_t *to = (int16_t *)(void *)(row + sizeof(tl_quantized_head));
        const int o = (int)b * TL_BLOCK;
        tl_quantized_head head;
        tl_quantized_head_fill(&head, o, oc, job->bias, job->factor, job->addend);
        for (int g = 0; g < n_groups(ic); g++) {
            const int first = first_channel(ic, g), last = first_channel(ic, g + 1);
            const size_t step = point_weights(last - first);
            for (int c = first; c < last; c += TL_WINO_U8_PAIR, to += TL_WINO_U8_PAIR * TL_BLOCK)
                pack_pair(job, o, c, last, head.weight_sum, to, step);
            to += (TL_WINO_U8_POINTS - 1) * step;
        }
        memcpy(row, &head, sizeof(head));
    }
}

int tl_exec_quantized_winograd_pack(const tl_exec *exec, const tl_tensor *weight,
                                    const tl_tensor *bias, const tl_tensor *factor,
                                    const tl_tensor *addend, tl_tensor *dst)
{
    assert(weight->dtype == TL_INT8 && weight->ndim == 4 && is_aligned(dst->data));
    assert(weight->dims[2] == 3 && weight->dims[3] == 3);
    pack_job job = {.weight = weight,
                    .bias = bias,
                    .factor = factor,
                    .addend = addend,
                    .dst = dst->data,
                    .row = tl_quantized_winograd_packed(weight->dims[1])};
    assert(dst->dtype == TL_INT8 && dst->ndim == 2 && job.row == (size_t)dst->dims[1]);
    assert(dst->dims[0] == tl_blocks(weight->dims[0]));
    tl_parallel(exec, (size_t)dst->dims[0], tl_axis_grain(job.row), pack, &job);
    return 0;
}

// Computing

typedef struct tiles {
    const tl_wino_u8_kernel *kernel;
    tl_wino_u8_job job;
    const int8_t *weight;
    size_t row; // bytes of the packed weights of a block
    int channels;
} tiles;

static void transform_patch(const tl_wino *w, const void *patch, size_t row, void *dst)
{
    const tiles *const t = w->kind->arg;
    t->kernel->source(patch, row, dst, w->source_step);
}

// Computes the products of a group of channels.
static void multiply_group(const tl_wino *w, int group, const int16_t *source, int n,
                           const int8_t *weights, int n_blocks, uint32_t *products)
{
    const tiles *const t = w->kind->arg;
    const int first = first_channel(t->channels, group);
    const size_t pixels = (size_t)n * TL_BLOCK;
    const tl_wino_u8_sum sum = {.channels = first_channel(t->channels, group + 1) - first,
                                .src_step = pixels,
                                .weight_step = t->row / sizeof(int16_t),
                                .dst_step = pixels};
    const int16_t *const weight = (const int16_t *)(const void *)weights + weights_before(first);
    source += first_block(t->channels, group) * pixels;
    for (size_t i = 0; i < TL_WINO_U8_POINTS; i++)
        t->kernel->multiply(&sum, source + i * w->source_step,
                            weight + i * point_weights(sum.channels),
                            products + i * w->product_step, n, n_blocks);
}

static void multiply(const tl_wino *w, const void *source, int n, int block, int n_blocks,
                     void *products)
{
    const tiles *const t = w->kind->arg;
    const int8_t *const weights = t->weight + block * t->row + sizeof(tl_quantized_head);
    for (int g = 0; g < w->kind->groups; g++)
        multiply_group(w, g, source, n, weights, n_blocks,
                       (uint32_t *)products + (size_t)g * TL_WINO_U8_POINTS * w->product_step);
}

static void transform_products(const tl_wino *w, const void *products, int block,
                               const tl_wino_span *span)
{
    const tiles *const t = w->kind->arg;
    tl_wino_u8_job job = t->job;
    job.step = w->product_step;
    t->kernel->result(&job, products, t->weight + block * t->row, span->offset, span->n, span->rows,
                      span->cols);
}

static tl_wino_kind kind_of(int channels)
{
    return (tl_wino_kind){.m = TL_WINO_U8_TILE,
                          .size = 1,
                          .point_size = sizeof(int16_t),
                          .groups = n_groups(channels),
                          .row = tl_quantized_winograd_packed(channels) / sizeof(int16_t),
                          .source = transform_patch,
                          .multiply = multiply,
                          .result = transform_products};
}

size_t tl_quantized_winograd_scratch(const tl_tensor *src, const tl_tensor *dst, int channels,
                                     int threads)
{
    const tl_wino_kind kind = kind_of(channels);
    return tl_wino_scratch(&kind, src, dst, threads);
}

size_t tl_quantized_winograd_batch_scratch(const tl_tensor *src, const tl_tensor *dst, int channels,
                                           int threads)
{
    const tl_wino_kind kind = kind_of(channels);
    return tl_wino_batch_scratch(&kind, src, dst, threads);
}

static tl_wino_u8_job job_of(const tl_tensor *dst, int channels, const tl_quantized_param *q)
{
    const float largest = 9.0f * 128 * TL_WINO_U8_OFFSET;
    tl_wino_u8_job job = {.groups = n_groups(channels),
                          .row = (size_t)dst->dims[3] * TL_BLOCK,
                          .dst = dst->data,
                          .is_float = dst->dtype == TL_FLOAT,
                          .q = *q,
                          .max = largest * (float)channels};
    tl_act_bounds(q->act, &job.low, &job.high);
    job.bounds[0] = tl_quantized_byte(q, job.low);
    job.bounds[1] = tl_quantized_byte(q, job.high);
    job.q.zero -= TL_WINO_U8_OFFSET;
    return job;
}

int tl_exec_quantized_winograd(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                               tl_tensor *dst, const tl_conv2d_param *param, int channels,
                               const tl_quantized_param *q)
{
    assert(src->dtype == TL_UINT8 && weight->dtype == TL_INT8 && is_aligned(weight->data));
    assert(dst->dtype == TL_FLOAT || dst->dtype == TL_UINT8);
    const tl_exec act_exec = {.isa = exec ? exec->isa : tl_isa_best()};
    tiles t = {.kernel = pick(exec, TL_UINT8),
               .job = job_of(dst, channels, q),
               .weight = weight->data,
               .row = tl_quantized_winograd_packed(channels),
               .channels = channels};
    t.job.act_exec = &act_exec;
    tl_wino_kind kind = kind_of(channels);
    kind.fill = q->zero;
    kind.arg = &t;
    return tl_wino_run(exec, &kind, src, dst, param);
}
