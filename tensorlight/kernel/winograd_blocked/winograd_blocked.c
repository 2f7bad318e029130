// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution of floats in the blocked layout: transforms weights, computes tiles.

#include "kernel/winograd_blocked/winograd_blocked.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernel/conv_blocked/conv_blocked.h"
#include "kernel/act/act.h"
#include "kernel/tl_axis.h"
#include "kernel/winograd_blocked/winograd_blocked_run.h"

TL_KERNEL_TABLE(pick_source, tl_wino_source_func, TL_WINO_SOURCE_KERNELS)
TL_KERNEL_TABLE(pick_result, tl_wino_result_func, TL_WINO_RESULT_KERNELS)

// Packing

size_t tl_blocked_winograd_packed(int channels, int m)
{
    return TL_BLOCK + tl_wino_n_points(m) * tl_blocks(channels) * TL_BLOCK * TL_BLOCK;
}

typedef struct pack_job {
    const float *weight, *bias;
    float *dst;
    size_t row; // floats of a block of output channels
    int oc, ic, pairs;
} pack_job;

// Windows of a block of output channels, or their transforms: [position][channel].
typedef double block_table[TL_WINO_SIZE * TL_WINO_SIZE][TL_BLOCK];

// G times three rows of a table, `step` apart: the values of polynomials with these coefficients,
// divided by the scales that B' and A' omit.
static inline void weight_line(int pairs, double (*src)[TL_BLOCK], int step,
                               double (*dst)[TL_BLOCK], int dst_step)
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

// Loads the windows of the output channels from `o` on for input channel `c`.
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

// Computing

typedef struct tiles {
    tl_tile_line_func *line;
    tl_wino_source_func *source;
    tl_wino_result_func *result;
    tl_tile_job product;
    tl_wino_job job;
    const float *weight, *add;
    float *dst;
} tiles;

static void transform_patch(const tl_wino *w, const void *patch, size_t row, void *dst)
{
    const tiles *const t = w->kind->arg;
    t->source(t->job.pairs, patch, row, dst, w->source_step);
}

// A 1x1 convolution for each point, whose pixels are the n tiles.
static void multiply(const tl_wino *w, const void *source, int n, int block, int n_blocks,
                     void *products)
{
    const tiles *const t = w->kind->arg;
    const float *const weight = t->weight + block * w->kind->row + TL_BLOCK;
    const size_t weight_step = (size_t)w->blocks_in * TL_BLOCK * TL_BLOCK;
    tl_tile_job job = t->product;
    job.src_block_step = job.dst_block_step = (size_t)n * TL_BLOCK;
    for (size_t i = 0; i < tl_wino_n_points(w->kind->m); i++)
        t->line(&job, (const float *)source + i * w->source_step, weight + i * weight_step, NULL,
                NULL, (float *)products + i * w->product_step, n, n_blocks);
}

static void transform_products(const tl_wino *w, const void *products, int block,
                               const tl_wino_span *span)
{
    const tiles *const t = w->kind->arg;
    tl_wino_job job = t->job;
    job.step = w->product_step;
    for (int i = 0; i < span->n; i++) {
        const size_t k = span->offset + (size_t)i * w->kind->m * TL_BLOCK;
        t->result(&job, (const float *)products + (size_t)i * TL_BLOCK,
                  t->weight + block * w->kind->row, t->add ? t->add + k : NULL, t->dst + k,
                  span->rows, tl_min(w->kind->m, span->cols - i * w->kind->m));
    }
}

static tl_wino_kind kind_of(int channels, int m)
{
    return (tl_wino_kind){.m = m,
                          .size = sizeof(float),
                          .point_size = sizeof(float),
                          .groups = 1,
                          .row = tl_blocked_winograd_packed(channels, m),
                          .source = transform_patch,
                          .multiply = multiply,
                          .result = transform_products};
}

size_t tl_blocked_winograd_scratch(const tl_tensor *src, const tl_tensor *dst, int channels, int m,
                                   int threads)
{
    const tl_wino_kind kind = kind_of(channels, m);
    return tl_wino_scratch(&kind, src, dst, threads);
}

size_t tl_blocked_winograd_batch_scratch(const tl_tensor *src, const tl_tensor *dst, int channels,
                                         int m, int threads)
{
    const tl_wino_kind kind = kind_of(channels, m);
    return tl_wino_batch_scratch(&kind, src, dst, threads);
}

int tl_exec_blocked_winograd(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                             const tl_tensor *add, tl_tensor *dst, const tl_conv2d_param *param,
                             int channels, int m)
{
    assert(src->dtype == TL_FLOAT);
    static const ptrdiff_t tap = 0;
    tl_wino_kind kind = kind_of(channels, m);
    tiles t = {.line = tl_tile_line(exec),
               .source = pick_source(exec, TL_FLOAT),
               .result = pick_result(exec, TL_FLOAT),
               .product = {.lanes = TL_BLOCK,
                           .channels = channels,
                           .n_taps = 1,
                           .taps = &tap,
                           .weight_step = kind.row,
                           .dst_step = TL_BLOCK,
                           .low = -INFINITY,
                           .high = INFINITY},
               .job = {.pairs = m / 2, .row = (size_t)dst->dims[3] * TL_BLOCK, .act = param->act},
               .weight = weight->data,
               .add = add ? add->data : NULL,
               .dst = dst->data};
    tl_act_bounds(param->act, &t.job.low, &t.job.high);
    kind.arg = &t;
    return tl_wino_run(exec, &kind, src, dst, param);
}
