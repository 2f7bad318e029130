// SPDX-License-Identifier: Apache-2.0
// Softmax, and its logarithm, in plain C.
//
// Adjacent lines are computed together, up to LINES at a time, so that memory is read in order for
// any axis. dst has the exponentials until their sum, in double, is complete; where dst would round
// them, to 16 bits, they are computed again.

#ifndef T // once

#include "kernel/softmax/exp_weight.h"
#include "kernel/softmax/softmax.h"

#include <math.h>

enum { LINES = 64 };

#define TL_TEMPLATE "kernel/softmax/softmax_c.c"
#include "tensor/tl_each_float.inc.h"

#else // for each type

enum { NAME(dst_is_exact, c) = sizeof(T) == sizeof(C) };

// The max of each of `n` adjacent lines, whose `len` elements are `inner` apart.
static void NAME(find_max, c)(const T *src, C *max, size_t n, size_t len, size_t inner)
{
    for (size_t j = 0; j < n; j++)
        max[j] = LOAD(src[j]);
    for (size_t i = 1; i < len; i++)
        for (size_t j = 0; j < n; j++) {
            const C x = LOAD(src[i * inner + j]);
            max[j] = x > max[j] ? x : max[j];
        }
}

// Computes `n` adjacent lines, whose `len` elements are `inner` apart.
static void NAME(softmax_lines, c)(const T *src, T *dst, size_t n, size_t len, size_t inner)
{
    C max[LINES];
    double sum[LINES] = {0};
    NAME(find_max, c)(src, max, n, len, inner);
    for (size_t i = 0; i < len; i++)
        for (size_t j = 0; j < n; j++) {
            const C e = TL_EXP_WEIGHT(LOAD(src[i * inner + j]) - max[j]);
            sum[j] += (double)e;
            if (NAME(dst_is_exact, c))
                dst[i * inner + j] = STORE(e);
        }
    for (size_t i = 0; i < len; i++)
        for (size_t j = 0; j < n; j++) {
            const size_t at = i * inner + j;
            const C e =
                NAME(dst_is_exact, c) ? LOAD(dst[at]) : TL_EXP_WEIGHT(LOAD(src[at]) - max[j]);
            dst[at] = STORE((C)((double)e / sum[j]));
        }
}

void NAME(tl_softmax, c)(void *arg, size_t begin, size_t end)
{
    const tl_softmax_job *const job = arg;
    const size_t len = job->axis.len, inner = job->axis.inner;
    for (size_t k = begin, n; k < end; k += n) {
        n = tl_axis_span(k, end, inner, LINES);
        const size_t first = k / inner * len * inner + k % inner;
        NAME(softmax_lines, c)((const T *)job->src + first, (T *)job->dst + first, n, len, inner);
    }
}

// Computes `n` adjacent lines, whose `len` elements are `inner` apart.
static void NAME(logsoftmax_lines, c)(const T *src, T *dst, size_t n, size_t len, size_t inner)
{
    C max[LINES];
    double sum[LINES] = {0};
    NAME(find_max, c)(src, max, n, len, inner);
    for (size_t i = 0; i < len; i++)
        for (size_t j = 0; j < n; j++)
            sum[j] += (double)TL_EXP_WEIGHT(LOAD(src[i * inner + j]) - max[j]);
    for (size_t j = 0; j < n; j++)
        sum[j] = log(sum[j]);
    for (size_t i = 0; i < len; i++)
        for (size_t j = 0; j < n; j++) {
            const C x = LOAD(src[i * inner + j]) - max[j];
            dst[i * inner + j] = STORE((C)((double)x - sum[j]));
        }
}

void NAME(tl_logsoftmax, c)(void *arg, size_t begin, size_t end)
{
    const tl_softmax_job *const job = arg;
    const size_t len = job->axis.len, inner = job->axis.inner;
    for (size_t k = begin, n; k < end; k += n) {
        n = tl_axis_span(k, end, inner, LINES);
        const size_t first = k / inner * len * inner + k % inner;
        NAME(logsoftmax_lines, c)
        ((const T *)job->src + first, (T *)job->dst + first, n, len, inner);
    }
}

#endif
