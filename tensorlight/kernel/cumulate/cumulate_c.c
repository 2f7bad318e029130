// SPDX-License-Identifier: Apache-2.0
// The sums and products up to each element in plain C: floats in double, integers modulo 2^64,
// which keeps their own lower bits. Neighbouring lines are computed together, up to LINES at a
// time, so that memory is read in order whatever the axis.

#ifndef T // once

#include "kernel/cumulate/cumulate.h"

#include <stdint.h>

enum { LINES = 64 };

#define TL_TEMPLATE "kernel/cumulate/cumulate_c.c"

#define SUM double
#include "tensor/tl_each_float.inc.h"
#undef SUM

#define SUM uint64_t
#include "tensor/tl_each_int.inc.h"

#else // for each type

/** `n` neighbouring lines of `len` elements, `step` apart (negative: from the end). */
static void NAME(cumulate_lines, c)(const T *src, T *dst, size_t n, size_t len, ptrdiff_t step,
                                    const tl_cumulate_param *param)
{
    SUM acc[LINES];
    for (size_t j = 0; j < n; j++)
        acc[j] = param->is_product ? 1 : 0;
    for (size_t i = 0; i < len; i++, src += step, dst += step)
        for (size_t j = 0; j < n; j++) {
            const SUM before = acc[j];
            const SUM x = (SUM)LOAD(src[j]);
            acc[j] = param->is_product ? before * x : before + x;
            dst[j] = STORE((C)(param->is_exclusive ? before : acc[j]));
        }
}

void NAME(tl_cumulate, c)(void *arg, size_t begin, size_t end)
{
    const tl_cumulate_job *const job = arg;
    const size_t len = job->axis.len, inner = job->axis.inner;
    const ptrdiff_t step = (ptrdiff_t)inner;
    for (size_t k = begin, n; k < end; k += n) {
        n = tl_axis_span(k, end, inner, LINES);
        size_t first = k / inner * len * inner + k % inner;
        if (job->param->is_reverse)
            first += (len - 1) * inner;
        NAME(cumulate_lines, c)
        ((const T *)job->src + first, (T *)job->dst + first, n, len,
         job->param->is_reverse ? -step : step, job->param);
    }
}

#endif
