// SPDX-License-Identifier: Apache-2.0
// Local response normalization, up to PLACES neighbouring places at a time.

#ifndef T // once

#include <assert.h>
#include <math.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

// src and dst are [axis.outer, axis.len, axis.inner]: images, channels, places; not the same.
typedef struct lrn_job {
    const void *src;
    void *dst;
    tl_axis axis;
    const tl_lrn_param *param;
} lrn_job;

// Computes the rows begin .. end-1 of axis.inner places each, counted over images and channels, of
// the lrn_job at `arg`.
typedef void lrn_func(void *arg, size_t begin, size_t end);

enum { PLACES = 256 };

#define pow_of(x, y) _Generic((x), float : powf, double : pow)(x, y)

#define TL_TEMPLATE "kernel/lrn/lrn.c"
#include "tensor/tl_each_float.inc.h"

TL_PLAIN_TABLE(pick, lrn_func, lrn, FLT)

int tl_exec_lrn(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                const tl_lrn_param *param)
{
    assert(src->ndim >= 2 && param->size >= 1);
    assert(dst->len == src->len && dst->dtype == src->dtype && dst->data != src->data);
    if (src->len == 0)
        return 0;
    lrn_job job = {src->data, dst->data, tl_axis_of(src, 1), param};
    tl_parallel(exec, job.axis.outer * job.axis.len, TL_GRAIN_COMPUTE_BOUND / job.axis.inner + 1,
                pick(exec, src->dtype), &job);
    return 0;
}

tl_tensor *tl_tensor_lrn(const tl_tensor *src, tl_tensor *dst, const tl_lrn_param *param)
{
    if (tl_check_operand(src, "src", dst) < 0 || tl_check_float(src, "src") < 0 ||
        tl_check_shape(src, "src", "[N, C, ..]") < 0 ||
        tl_check_at_least("size", &param->size, 1, 1) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_lrn(NULL, src, result, param) : -1);
}

#else // for each type

// The places from `place` on, `n` of them, of channel `channel` in the image at `src`.
static void NAME(normalize, c)(const lrn_job *job, const T *src, T *dst, size_t channel,
                               size_t place, size_t n)
{
    const tl_lrn_param *const p = job->param;
    const size_t before = (size_t)(p->size - 1) / 2, after = (size_t)p->size / 2;
    const size_t begin = channel > before ? channel - before : 0;
    const size_t end = tl_min_size(job->axis.len, channel + after + 1);
    C sum[PLACES] = {0};
    for (size_t k = begin; k < end; k++)
        for (size_t j = 0; j < n; j++) {
            const C x = LOAD(src[k * job->axis.inner + place + j]);
            sum[j] += x * x;
        }
    const C factor = (C)(p->alpha / p->size);
    for (size_t j = 0; j < n; j++) {
        const size_t at = channel * job->axis.inner + place + j;
        const C base = (C)p->bias + factor * sum[j];
        dst[at] = STORE(LOAD(src[at]) / pow_of(base, (C)p->beta));
    }
}

static void NAME(lrn, c)(void *arg, size_t begin, size_t end)
{
    const lrn_job *const job = arg;
    const size_t image = job->axis.len * job->axis.inner;
    for (size_t row = begin; row < end; row++) {
        const size_t first = row / job->axis.len * image;
        for (size_t place = 0; place < job->axis.inner; place += PLACES)
            NAME(normalize, c)
        (job, (const T *)job->src + first, (T *)job->dst + first, row % job->axis.len, place,
         tl_min_size(PLACES, job->axis.inner - place));
    }
}

#endif
