// SPDX-License-Identifier: Apache-2.0
// Normalization of lines in plain C: sums in double, divided among lanes that compilers keep in
// vectors. The variance is summed from differences to the mean, so that large means do no harm.

#ifndef T // once

#include "kernel/layernorm/layernorm.h"

#include <math.h>

enum { LANES = 8 };

#define TL_TEMPLATE "kernel/layernorm/layernorm_c.c"
#include "tensor/tl_each_float.inc.h"

#else // for each type

static double NAME(sum_of, c)(const T *src, size_t len)
{
    double lanes[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= len; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            lanes[j] += (double)LOAD(src[i + j]);
    for (; i < len; i++)
        sum += (double)LOAD(src[i]);
    for (size_t j = 0; j < LANES; j++)
        sum += lanes[j];
    return sum;
}

static double NAME(squares_of, c)(const T *src, size_t len, double mean)
{
    double lanes[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= len; i += LANES)
        for (size_t j = 0; j < LANES; j++) {
            const double x = (double)LOAD(src[i + j]) - mean;
            lanes[j] += x * x;
        }
    for (; i < len; i++) {
        const double x = (double)LOAD(src[i]) - mean;
        sum += x * x;
    }
    for (size_t j = 0; j < LANES; j++)
        sum += lanes[j];
    return sum;
}

// A line with a scale and a bias for each element.
static void NAME(normalize_elements, c)(const T *src, const T *scale, const T *bias, T *dst,
                                        size_t len, C mean, C inv_std)
{
    for (size_t i = 0; i < len; i++) {
        const C factor = scale ? LOAD(scale[i]) : 1;
        const C offset = bias ? LOAD(bias[i]) : 0;
        dst[i] = STORE((LOAD(src[i]) - mean) * inv_std * factor + offset);
    }
}

// Parts of `inner` elements with a scale and a bias for each.
static void NAME(normalize_parts, c)(const T *src, const T *scale, const T *bias, T *dst,
                                     size_t parts, size_t inner, C mean, C inv_std)
{
    for (size_t p = 0; p < parts; p++, src += inner, dst += inner) {
        const C factor = scale ? LOAD(scale[p]) : 1;
        const C offset = bias ? LOAD(bias[p]) : 0;
        for (size_t i = 0; i < inner; i++)
            dst[i] = STORE((LOAD(src[i]) - mean) * inv_std * factor + offset);
    }
}

void NAME(tl_layernorm, c)(void *arg, size_t begin, size_t end)
{
    const tl_layernorm_job *const job = arg;
    const size_t len = job->parts * job->inner;
    for (size_t k = begin; k < end; k++) {
        const T *const src = (const T *)job->src + k * len;
        T *const dst = (T *)job->dst + k * len;
        const size_t first = k % job->period * job->parts;
        const T *const scale = job->scale ? (const T *)job->scale + first : NULL;
        const T *const bias = job->bias ? (const T *)job->bias + first : NULL;
        const double mean = job->is_centered ? NAME(sum_of, c)(src, len) / (double)len : 0;
        const double variance = NAME(squares_of, c)(src, len, mean) / (double)len;
        const double inv_std = 1 / sqrt(variance + job->epsilon);
        if (job->mean)
            ((C *)job->mean)[k] = (C)mean;
        if (job->inv_std)
            ((C *)job->inv_std)[k] = (C)inv_std;
        if (job->inner == 1)
            NAME(normalize_elements, c)(src, scale, bias, dst, len, (C)mean, (C)inv_std);
        else
            NAME(normalize_parts, c)
        (src, scale, bias, dst, job->parts, job->inner, (C)mean, (C)inv_std);
    }
}

#endif
