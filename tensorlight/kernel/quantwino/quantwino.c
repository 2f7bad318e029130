// SPDX-License-Identifier: Apache-2.0
// 8-bit convolutions by Winograd's algorithm: weights transformed, products in groups of channels.

#include "kernel/quantwino/quantwino.h"

#include <assert.h>
#include <string.h>

#include "kernel/act/act.h"
#include "kernel/tl_axis.h"
#include "kernel/winograd/winograd_run.h"

#define TL_KERNEL(name, dtype, isa) [isa][dtype] = &(name),
static const tl_quantwino_kernel *const table[TL_ISA_SIZE][TL_DTYPE_SIZE] = {
#include "kernel/quantwino/quantwino.def"
};
#undef TL_KERNEL
TL_KERNEL_PICK(pick, const tl_quantwino_kernel, table)

/* ---- groups of channels ---- */

static int n_groups(int channels)
{
    return (int)tl_divide_up((size_t)tl_blocks(channels), TL_QUANTWINO_BLOCKS);
}

/** The first block of a group; the groups differ by one block at most. */
static int first_block(int channels, int group)
{
    return (int)((int64_t)tl_blocks(channels) * group / n_groups(channels));
}

/** The channels in front of a group. */
static int first_channel(int channels, int group)
{
    return tl_smaller(channels, first_block(channels, group) * TL_BLOCK);
}

/** The weights of so many channels for a point and a block of output channels. */
static size_t point_weights(int channels)
{
    return tl_divide_up((size_t)channels, TL_QUANTWINO_PAIR) * TL_QUANTWINO_PAIR * TL_BLOCK;
}

/** Of a group that begins with this channel: the weights of all groups before. */
static size_t weights_before(int channel)
{
    return TL_QUANTWINO_POINTS * point_weights(channel);
}

/* ---- packing ---- */

size_t tl_quantized_winograd_packed(int channels)
{
    return sizeof(tl_quantized_head) + weights_before(channels) * sizeof(int16_t);
}

/** G times three weights, `step` apart, to six points, dst_step apart. */
static void weight_line(const int *w, int step, int *dst, int dst_step)
{
    const int even = w[0] + w[2 * step], odd = w[step];
    const int far_even = w[0] + 4 * w[2 * step], far_odd = 2 * odd;
    dst[0] = w[0];
    dst[dst_step] = -even - odd;
    dst[2 * dst_step] = odd - even;
    dst[3 * dst_step] = far_even + far_odd;
    dst[4 * dst_step] = far_even - far_odd;
    dst[5 * dst_step] = w[2 * step];
}

/** Transforms a window to points `step` apart. Returns the sum of its weights. */
static int pack_window(const int8_t *window, int16_t *dst, size_t step)
{
    int weights[9], columns[TL_QUANTWINO_PATCH * 3], line[TL_QUANTWINO_PATCH], sum = 0;
    for (int tap = 0; tap < 9; tap++)
        sum += weights[tap] = window[tap];
    for (int x = 0; x < 3; x++)
        weight_line(weights + x, 3, columns + x, 3);
    for (int y = 0; y < TL_QUANTWINO_PATCH; y++) {
        weight_line(columns + y * 3, 1, line, 1);
        for (int x = 0; x < TL_QUANTWINO_PATCH; x++)
            dst[(size_t)(y * TL_QUANTWINO_PATCH + x) * step] = (int16_t)line[x];
    }
    return sum;
}

typedef struct pack_job {
    const tl_tensor *weight, *bias, *factor, *addend;
    int8_t *dst;
    size_t row; /* bytes */
} pack_job;

/** The windows of a group of channels, from `first` to `end`, for the output channels from `o` on.
 */
static void pack_group(const pack_job *job, int o, int first, int end, tl_quantized_head *head,
                       int16_t *dst)
{
    const int oc = job->weight->dims[0], ic = job->weight->dims[1];
    const int8_t *const windows = job->weight->data;
    for (int c = first; c < end; c++)
        for (int i = 0; i < TL_BLOCK && o + i < oc; i++) {
            const size_t pair = (size_t)(c - first) / TL_QUANTWINO_PAIR;
            const size_t at = (pair * TL_BLOCK + i) * TL_QUANTWINO_PAIR;
            head->weight_sum[i] +=
                pack_window(windows + ((size_t)(o + i) * ic + c) * 9,
                            dst + at + (c - first) % TL_QUANTWINO_PAIR, point_weights(end - first));
        }
}

static void pack(void *arg, size_t begin, size_t end)
{
    const pack_job *const job = arg;
    const int oc = job->weight->dims[0], ic = job->weight->dims[1];
    for (size_t b = begin; b < end; b++) {
        int8_t *const row = job->dst + b * job->row;
        int16_t *const weights = (int16_t *)(void *)(row + sizeof(tl_quantized_head));
        const int o = (int)b * TL_BLOCK;
        tl_quantized_head head;
        memset(row, 0, job->row); // absent channels
        tl_quantized_head_fill(&head, o, oc, job->bias, job->factor, job->addend);
        for (int g = 0; g < n_groups(ic); g++) {
            const int first = first_channel(ic, g);
            pack_group(job, o, first, first_channel(ic, g + 1), &head,
                       weights + weights_before(first));
        }
        memcpy(row, &head, sizeof(head));
    }
}

int tl_exec_quantized_winograd_pack(const tl_exec *exec, const tl_tensor *weight,
                                    const tl_tensor *bias, const tl_tensor *factor,
                                    const tl_tensor *addend, tl_tensor *dst)
{
    assert(weight->dtype == TL_INT8 && weight->ndim == 4);
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

/* ---- computing ---- */

typedef struct tiles {
    const tl_quantwino_kernel *kernel;
    tl_quantwino_job job;
    const int8_t *weight;
    size_t row; /* bytes of the packed weights of a block */
    int channels;
} tiles;

static void transform_patch(const tl_wino *w, const void *patch, size_t row, void *dst)
{
    const tiles *const t = w->kind->arg;
    t->kernel->source(patch, row, dst, w->source_step);
}

/** The products of a group of channels. */
static void multiply_group(const tl_wino *w, int group, const int16_t *source, int n,
                           const int8_t *weights, int n_blocks, uint32_t *products)
{
    const tiles *const t = w->kind->arg;
    const int first = first_channel(t->channels, group);
    const size_t pixels = (size_t)n * TL_BLOCK;
    const tl_quantwino_sum sum = {.channels = first_channel(t->channels, group + 1) - first,
                                  .src_step = pixels,
                                  .weight_step = t->row / sizeof(int16_t),
                                  .dst_step = pixels};
    const int16_t *const weight = (const int16_t *)(const void *)weights + weights_before(first);
    source += first_block(t->channels, group) * pixels;
    for (size_t i = 0; i < TL_QUANTWINO_POINTS; i++)
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
                       (uint32_t *)products + (size_t)g * TL_QUANTWINO_POINTS * w->product_step);
}

static void transform_products(const tl_wino *w, const void *products, int block,
                               const tl_wino_span *span)
{
    const tiles *const t = w->kind->arg;
    tl_quantwino_job job = t->job;
    job.step = w->product_step;
    t->kernel->result(&job, products, t->weight + block * t->row, span->at, span->n, span->rows,
                      span->cols);
}

static tl_wino_kind kind_of(int channels)
{
    return (tl_wino_kind){.m = TL_QUANTWINO_TILE,
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

static tl_quantwino_job job_of(const tl_tensor *dst, int channels, const tl_quantized_param *q)
{
    const float largest = 9.0f * 128 * TL_QUANTWINO_OFFSET;
    tl_quantwino_job job = {.groups = n_groups(channels),
                            .row = (size_t)dst->dims[3] * TL_BLOCK,
                            .dst = dst->data,
                            .is_float = dst->dtype == TL_FLOAT,
                            .q = *q,
                            .most = largest * (float)channels};
    tl_act_bounds(q->act, &job.low, &job.high);
    job.bounds[0] = tl_quantized_byte(q, job.low);
    job.bounds[1] = tl_quantized_byte(q, job.high);
    job.q.zero -= TL_QUANTWINO_OFFSET;
    return job;
}

int tl_exec_quantized_winograd(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                               tl_tensor *dst, const tl_conv2d_param *param, int channels,
                               const tl_quantized_param *q)
{
    assert(src->dtype == TL_UINT8 && weight->dtype == TL_INT8);
    assert(dst->dtype == TL_FLOAT || dst->dtype == TL_UINT8);
    const tl_exec alone = {.isa = exec ? exec->isa : tl_isa_best()};
    tiles t = {.kernel = pick(exec, TL_UINT8),
               .job = job_of(dst, channels, q),
               .weight = weight->data,
               .row = tl_quantized_winograd_packed(channels),
               .channels = channels};
    t.job.alone = &alone;
    tl_wino_kind kind = kind_of(channels);
    kind.fill = q->zero;
    kind.arg = &t;
    return tl_wino_run(exec, &kind, src, dst, param);
}
