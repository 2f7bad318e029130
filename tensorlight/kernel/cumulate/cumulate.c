// SPDX-License-Identifier: Apache-2.0
// Cumulative sums and products: floats in double, integers modulo 2^64, whose low bits
// are the result. Adjacent lines are computed together, up to LINES at a
// time, so that memory is read in order for any axis.

#ifndef T // once

#include <assert.h>
#include <stdint.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

// src and dst are [axis.outer, axis.len, axis.inner] and may be the same.
typedef struct cumulate_job {
    const void *src;
    void *dst;
    tl_axis axis;
    const tl_cumulate_param *param;
} cumulate_job;

// Computes the lines begin .. end-1 (tl_axis.h) of the cumulate_job at `arg`.
typedef void cumulate_func(void *arg, size_t begin, size_t end);

enum { LINES = 64 };

#define TL_TEMPLATE "kernel/cumulate/cumulate.c"

#define SUM double
#include "tensor/tl_each_float.inc.h"
#undef SUM

#define SUM uint64_t
#include "tensor/tl_each_int.inc.h"

TL_PLAIN_TABLE(pick, cumulate_func, cumulate, NUM)

int tl_exec_cumulate(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                     const tl_cumulate_param *param)
{
    assert(param->axis >= 0 && param->axis < src->ndim && src->dtype != TL_BOOL);
    assert(dst->dtype == src->dtype && dst->len == src->len);
    if (src->len == 0)
        return 0;
    cumulate_job job = {src->data, dst->data, tl_axis_of(src, param->axis), param};
    tl_parallel(exec, job.axis.outer * job.axis.inner, TL_GRAIN_MEMORY_BOUND / job.axis.len + 1,
                pick(exec, src->dtype), &job);
    return 0;
}

tl_tensor *tl_tensor_cumulate(const tl_tensor *src, tl_tensor *dst, const tl_cumulate_param *param)
{
    if (tl_check_data(src, "src") < 0)
        return NULL;
    if (!param || src->dtype == TL_BOOL) {
        tl_fail(param ? "'src' has dtype TL_BOOL, expected a number type" : "'param' is NULL");
        return NULL;
    }
    if (tl_check_axis(src, param->axis) < 0 || tl_check_in_place(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_cumulate(NULL, src, result, param) : -1);
}

#else // for each type

// `n` neighbouring lines of `len` elements, `step` apart (negative: from the end).
TL_INLINE void NAME(cumulate_lines, c)(const T *src, T *dst, size_t n, size_t len, ptrdiff_t step,
                                       int is_product, int is_exclusive)
{
    SUM acc[LINES];
    for (size_t j = 0; j < n; j++)
        acc[j] = is_product ? 1 : 0;
    for (size_t i = 0; i < len; i++, src += step, dst += step)
        for (size_t j = 0; j < n; j++) {
            const SUM before = acc[j];
            const SUM x = (SUM)LOAD(src[j]);
            acc[j] = is_product ? before * x : before + x;
            dst[j] = STORE((C)(is_exclusive ? before : acc[j]));
        }
}

static void NAME(cumulate, c)(void *arg, size_t begin, size_t end)
{
    const cumulate_job *const job = arg;
    const size_t len = job->axis.len, inner = job->axis.inner;
    const ptrdiff_t step = (ptrdiff_t)inner;
    for (size_t k = begin, n; k < end; k += n) {
        n = tl_axis_span(k, end, inner, LINES);
        size_t first = k / inner * len * inner + k % inner;
        if (job->param->is_reverse)
            first += (len - 1) * inner;
        const T *const src = (const T *)job->src + first;
        T *const dst = (T *)job->dst + first;
        const ptrdiff_t to_next = job->param->is_reverse ? -step : step;
        if (job->param->is_product)
            NAME(cumulate_lines, c)(src, dst, n, len, to_next, 1, job->param->is_exclusive);
        else if (job->param->is_exclusive)
            NAME(cumulate_lines, c)(src, dst, n, len, to_next, 0, 1);
        else
            NAME(cumulate_lines, c)(src, dst, n, len, to_next, 0, 0);
    }
}

#endif
