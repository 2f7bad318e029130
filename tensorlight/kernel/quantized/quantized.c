// SPDX-License-Identifier: Apache-2.0
// Convolutions and products of 8-bit integers in plain C.

#include "kernel/quantized/quantized.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernel/act/act.h"
#include "kernel/tl_axis.h"

/** Places of a result, each with the blocks of its output channels: pixels of an image, or rows of
 *  a matrix. */
typedef struct job {
    const uint8_t *src;
    const int8_t *weight;
    void *dst;
    int is_float;
    int channels, outputs; /* outputs: those that are written */
    size_t row;            /* of weights */
    int blocks;
    /* images: places are the pixels of a result */
    int is_image;
    tl_conv2d_param param;
    int h, w, oh, ow, src_blocks;
    tl_quantized_param q;
    tl_exec alone; /* what activations use */
} job;

/** Where channel `c` of a source place lies; NULL: in the padding. */
static const uint8_t *source_at(const job *j, size_t place, int tap, int c)
{
    if (!j->is_image)
        return j->src + place * j->channels + c;
    const size_t pixels = (size_t)j->oh * j->ow, n = place / pixels, at = place % pixels;
    const int64_t y = (int64_t)(at / j->ow) * j->param.stride[0] - j->param.padding[0] +
                      (int64_t)(tap / j->param.size[1]) * j->param.dilation[0];
    const int64_t x = (int64_t)(at % j->ow) * j->param.stride[1] - j->param.padding[1] +
                      (int64_t)(tap % j->param.size[1]) * j->param.dilation[1];
    if (y < 0 || y >= j->h || x < 0 || x >= j->w)
        return NULL;
    const size_t line = (n * j->src_blocks + c / TL_BLOCK) * j->h + (size_t)y;
    return j->src + (line * j->w + (size_t)x) * TL_BLOCK + c % TL_BLOCK;
}

/** sum += the products of a place with the weights of a block. */
static void add_products(const job *j, size_t place, const int8_t *weight, uint32_t *sum)
{
    const int taps = j->is_image ? j->param.size[0] * j->param.size[1] : 1;
    for (int first = 0; first < j->channels; first += TL_BLOCK)
        for (int tap = 0; tap < taps; tap++)
            for (int c = first; c < first + TL_BLOCK && c < j->channels; c++) {
                const uint8_t *const at = source_at(j, place, tap, c);
                const int x = at ? *at : j->q.zero;
                const int8_t *const w = weight + c % TL_QUAD;
                for (int i = 0; i < TL_BLOCK; i++)
                    sum[i] += (uint32_t)(x * w[i * TL_QUAD]);
                if (c % TL_QUAD == TL_QUAD - 1 || c == j->channels - 1)
                    weight += TL_BLOCK * TL_QUAD;
            }
}

static void activate(const job *j, float *v)
{
    int dim = TL_BLOCK;
    tl_tensor t = {.dtype = TL_FLOAT, .len = dim, .ndim = 1, .dims = &dim, .data = v};
    if (j->q.act.act != TL_ACT_NONE)
        tl_exec_act(&j->alone, &t, &t, j->q.act);
}

static uint8_t quantized(float v, int zero)
{
    const float shifted = rintf(v) + (float)zero;
    return shifted > 0 ? (uint8_t)(shifted < 255 ? shifted : 255) : 0; // NaN, too
}

/** One block of a place. */
static void run_block(const job *j, size_t place, int block)
{
    const int8_t *const row = j->weight + (size_t)block * j->row;
    tl_quantized_head head;
    uint32_t sum[TL_BLOCK] = {0};
    float v[TL_BLOCK];
    memcpy(&head, row, sizeof(head));
    add_products(j, place, row + sizeof(head), sum);
    for (int i = 0; i < TL_BLOCK; i++) {
        sum[i] += (uint32_t)head.bias[i] - (uint32_t)j->q.zero * (uint32_t)head.weight_sum[i];
        const float factor = head.factor[i] * j->q.scale;
        const float product = (float)(int32_t)sum[i] * factor;
        v[i] = product + head.addend[i];
    }
    activate(j, v);
    const size_t pixels = (size_t)j->oh * j->ow;
    const size_t at =
        j->is_image ? ((place / pixels * j->blocks + block) * pixels + place % pixels) * TL_BLOCK
                    : place * j->outputs + (size_t)block * TL_BLOCK;
    const int n = j->is_image ? TL_BLOCK : tl_smaller(TL_BLOCK, j->outputs - block * TL_BLOCK);
    for (int i = 0; i < n; i++) {
        if (j->is_float)
            ((float *)j->dst)[at + i] = v[i];
        else
            ((uint8_t *)j->dst)[at + i] = quantized(v[i] * j->q.dst_factor, j->q.dst_zero);
    }
}

static void run_places(void *arg, size_t begin, size_t end)
{
    const job *const j = arg;
    for (size_t place = begin; place < end; place++)
        for (int b = 0; b < j->blocks; b++)
            run_block(j, place, b);
}

static job job_of(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                  tl_tensor *dst, const tl_quantized_param *q)
{
    assert(src->dtype == TL_UINT8 && weight->dtype == TL_INT8 && weight->ndim == 2);
    assert(dst->dtype == TL_FLOAT || dst->dtype == TL_UINT8);
    return (job){.src = src->data,
                 .weight = weight->data,
                 .dst = dst->data,
                 .is_float = dst->dtype == TL_FLOAT,
                 .row = (size_t)weight->dims[1],
                 .blocks = weight->dims[0],
                 .q = *q,
                 .alone = {.isa = exec ? exec->isa : tl_isa_best()}};
}

size_t tl_quantized_conv2d_scratch(const tl_tensor *src, const tl_tensor *dst,
                                   const tl_conv2d_param *param, const int channels[2], int threads)
{
    (void)src, (void)dst, (void)param, (void)channels, (void)threads;
    return 0;
}

int tl_exec_quantized_conv2d(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                             tl_tensor *dst, const tl_conv2d_param *param, const int channels[2],
                             const tl_quantized_param *q)
{
    job j = job_of(exec, src, weight, dst, q);
    assert(src->ndim == 5 && dst->ndim == 5 && param->group == 1);
    j.channels = channels[0];
    j.is_image = 1;
    j.param = *param;
    j.h = src->dims[2];
    j.w = src->dims[3];
    j.src_blocks = src->dims[1];
    j.oh = dst->dims[2];
    j.ow = dst->dims[3];
    const size_t places = (size_t)dst->dims[0] * j.oh * j.ow;
    tl_parallel(exec, places, tl_axis_grain(j.row * j.blocks), run_places, &j);
    return 0;
}

size_t tl_quantized_matmul_scratch(const tl_tensor *src, const tl_tensor *dst, int threads)
{
    (void)src, (void)dst, (void)threads;
    return 0;
}

int tl_exec_quantized_matmul(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                             tl_tensor *dst, const tl_quantized_param *q)
{
    job j = job_of(exec, src, weight, dst, q);
    j.channels = src->dims[src->ndim - 1];
    j.outputs = dst->dims[dst->ndim - 1];
    const size_t places = j.outputs ? (size_t)dst->len / (size_t)j.outputs : 0;
    tl_parallel(exec, places, tl_axis_grain(j.row * j.blocks), run_places, &j);
    return 0;
}
