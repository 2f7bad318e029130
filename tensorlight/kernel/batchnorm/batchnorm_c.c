// SPDX-License-Identifier: Apache-2.0
// Batch normalization in plain C, and its weights folded into a scale and a shift.

#ifndef T // once

#include "kernel/batchnorm/batchnorm.h"

#include <math.h>

#define sqrt_of(x) _Generic((x), float : sqrtf, double : sqrt)(x)

#define TL_TEMPLATE "kernel/batchnorm/batchnorm_c.c"
#include "tensor/tl_each_float.inc.h"

#else // for each type

void NAME(tl_batchnorm, c)(void *arg, size_t begin, size_t end)
{
    const tl_batchnorm_job *const job = arg;
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

void NAME(tl_bn2scale, c)(void *arg, size_t begin, size_t end)
{
    const tl_bn2scale_job *const job = arg;
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
