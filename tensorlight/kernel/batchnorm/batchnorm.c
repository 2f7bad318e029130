// SPDX-License-Identifier: Apache-2.0
// Batch normalization, and its weights folded into a scale and a shift.

#ifndef T // once

#include <assert.h>
#include <math.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

// src and dst are [axis.outer, axis.len, axis.inner] and may be the same; the others [axis.len].
typedef struct batchnorm_job {
    const void *src, *scale, *offset, *mean, *var;
    void *dst;
    tl_axis axis;
    float epsilon;
} batchnorm_job;

// Computes the elements begin .. end-1 of the batchnorm_job at `arg`.
typedef void batchnorm_func(void *arg, size_t begin, size_t end);

// The weights mean, var, scale, offset [len] as dst_scale, dst_shift, dst_power [len].
typedef struct bn2scale_job {
    const void *mean, *var, *scale, *offset;
    void *dst_scale, *dst_shift, *dst_power; // dst_power may be NULL
    float epsilon;
} bn2scale_job;

// Computes the channels begin .. end-1 of the bn2scale_job at `arg`.
typedef void bn2scale_func(void *arg, size_t begin, size_t end);

#define sqrt_of(x) _Generic((x), float : sqrtf, double : sqrt)(x)

#define TL_TEMPLATE "kernel/batchnorm/batchnorm.c"
#include "tensor/tl_each_float.inc.h"

TL_PLAIN_TABLE(pick_batchnorm, batchnorm_func, batchnorm, FLT)
TL_PLAIN_TABLE(pick_bn2scale, bn2scale_func, bn2scale, FLT)

int tl_exec_batchnorm(const tl_exec *exec, const tl_tensor *src, const tl_tensor *scale,
                      const tl_tensor *offset, const tl_tensor *mean, const tl_tensor *var,
                      tl_tensor *dst, float epsilon)
{
    assert(src->ndim >= 2 && src->len == dst->len && src->dtype == dst->dtype);
    assert(scale->len == src->dims[1] && offset->len == src->dims[1]);
    assert(mean->len == src->dims[1] && var->len == src->dims[1]);
    assert(scale->dtype == src->dtype && offset->dtype == src->dtype);
    assert(mean->dtype == src->dtype && var->dtype == src->dtype);
    batchnorm_job job = {.src = src->data,
                         .scale = scale->data,
                         .offset = offset->data,
                         .mean = mean->data,
                         .var = var->data,
                         .dst = dst->data,
                         .axis = tl_axis_of(src, 1),
                         .epsilon = epsilon};
    tl_parallel(exec, (size_t)src->len, TL_GRAIN_MEMORY_BOUND, pick_batchnorm(exec, src->dtype),
                &job);
    return 0;
}

tl_tensor *tl_tensor_batchnorm(const tl_tensor *src, const tl_tensor *scale,
                               const tl_tensor *offset, const tl_tensor *mean, const tl_tensor *var,
                               tl_tensor *dst, float epsilon)
{
    if (tl_check_data(src, "src") < 0 || tl_check_float(src, "src") < 0 ||
        tl_check_axis(src, 1) < 0 || tl_check_vector(scale, "scale", src, src->dims[1]) < 0 ||
        tl_check_vector(offset, "offset", src, src->dims[1]) < 0 ||
        tl_check_vector(mean, "mean", src, src->dims[1]) < 0 ||
        tl_check_vector(var, "var", src, src->dims[1]) < 0 || tl_check_in_place(dst, src) < 0 ||
        tl_check_apart(dst, scale) < 0 || tl_check_apart(dst, offset) < 0 ||
        tl_check_apart(dst, mean) < 0 || tl_check_apart(dst, var) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
    return tl_result_end(
        result, dst,
        result ? tl_exec_batchnorm(NULL, src, scale, offset, mean, var, result, epsilon) : -1);
}

int tl_exec_bn2scale(const tl_exec *exec, const tl_tensor *mean, const tl_tensor *var,
                     const tl_tensor *scale, const tl_tensor *offset, tl_tensor *dst_scale,
                     tl_tensor *dst_shift, tl_tensor *dst_power, float epsilon)
{
    assert(var->len == mean->len && scale->len == mean->len && offset->len == mean->len);
    assert(dst_scale->len == mean->len && dst_shift->len == mean->len);
    assert(var->dtype == mean->dtype && scale->dtype == mean->dtype);
    assert(offset->dtype == mean->dtype && dst_scale->dtype == mean->dtype);
    assert(dst_shift->dtype == mean->dtype);
    assert(!dst_power || (dst_power->len == mean->len && dst_power->dtype == mean->dtype));
    bn2scale_job job = {.mean = mean->data,
                        .var = var->data,
                        .scale = scale->data,
                        .offset = offset->data,
                        .dst_scale = dst_scale->data,
                        .dst_shift = dst_shift->data,
                        .dst_power = dst_power ? dst_power->data : NULL,
                        .epsilon = epsilon};
    tl_parallel(exec, (size_t)mean->len, TL_GRAIN_MEMORY_BOUND, pick_bn2scale(exec, mean->dtype),
                &job);
    return 0;
}

#else // for each type

static void NAME(batchnorm, c)(void *arg, size_t begin, size_t end)
{
    const batchnorm_job *const job = arg;
    const T *const src = job->src;
    T *const dst = job->dst;
    for (size_t k = begin, n; k < end; k += n) {
        const size_t c = k / job->axis.inner % job->axis.len;
        const C scale = LOAD(((const T *)job->scale)[c]);
        const C offset = LOAD(((const T *)job->offset)[c]);
        const C mean = LOAD(((const T *)job->mean)[c]);
        const C deviation = sqrt_of(LOAD(((const T *)job->var)[c]) + (C)job->epsilon);
        n = tl_axis_span(k, end, job->axis.inner, SIZE_MAX);
        for (size_t i = k; i < k + n; i++)
            dst[i] = STORE(scale * (LOAD(src[i]) - mean) / deviation + offset);
    }
}

static void NAME(bn2scale, c)(void *arg, size_t begin, size_t end)
{
    const bn2scale_job *const job = arg;
    const T *const mean = job->mean, *const var = job->var;
    const T *const scale = job->scale, *const offset = job->offset;
    T *const dst_scale = job->dst_scale, *const dst_shift = job->dst_shift;
    T *const dst_power = job->dst_power;
    for (size_t c = begin; c < end; c++) {
        const double s = (double)LOAD(scale[c]) / sqrt((double)LOAD(var[c]) + (double)job->epsilon);
        dst_shift[c] = STORE((C)((double)LOAD(offset[c]) - (double)LOAD(mean[c]) * s));
        dst_scale[c] = STORE((C)s);
        if (dst_power)
            dst_power[c] = STORE(1);
    }
}

#endif
