// SPDX-License-Identifier: Apache-2.0
// Cumulative sums and products in plain C: floats in double, integers modulo 2^64, whose low bits
// are the result. Adjacent lines are computed together, up to LINES at a time, so that memory is
// read in order for any axis.

#ifndef T // once

#include "kernel/cumulate/cumulate.h"

#include <stdint.h>

enum { LINES = 256 };

#define TL_TEMPLATE "kernel/cumulate/cumulate_c.c"

#define SUM double
#ifdef TL_SIMD_SET
#define TL_TAG f32
#include "tensor/tl_one_type.inc.h"
#else
#include "tensor/tl_each_float.inc.h"
#undef SUM
#define SUM uint64_t
#include "tensor/tl_each_int.inc.h"
#endif

#else // for each type

// `n` neighbouring lines of `len` elements, `step` apart (negative: from the end).
TL_INLINE void NAME(cumulate_lines, TL_SET)(const T *src, T *dst, size_t n, size_t len,
                                            ptrdiff_t step, int is_product, int is_exclusive)
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

// The same for one line, whose sum stays in a register.
static void NAME(cumulate_line, TL_SET)(const T *src, T *dst, size_t len, ptrdiff_t step,
                                        const tl_cumulate_param *param)
{
    const int is_product = param->is_product, is_exclusive = param->is_exclusive;
    SUM acc = is_product ? 1 : 0;
    for (size_t i = 0; i < len; i++, src += step, dst += step) {
        const SUM before = acc;
        const SUM x = (SUM)LOAD(*src);
        acc = is_product ? before * x : before + x;
        *dst = STORE((C)(is_exclusive ? before : acc));
    }
}

void NAME(tl_cumulate, TL_SET)(void *arg, size_t begin, size_t end)
{
    const tl_cumulate_job *const job = arg;
    const tl_cumulate_param *const param = job->param;
    const size_t len = job->axis.len, inner = job->axis.inner;
    const ptrdiff_t step = param->is_reverse ? -(ptrdiff_t)inner : (ptrdiff_t)inner;
    for (size_t k = begin, n; k < end; k += n) {
        n = tl_axis_span(k, end, inner, LINES);
        size_t first = k / inner * len * inner + k % inner;
        if (param->is_reverse)
            first += (len - 1) * inner;
        const T *const src = (const T *)job->src + first;
        T *const dst = (T *)job->dst + first;
        if (n == 1)
            NAME(cumulate_line, TL_SET)(src, dst, len, step, param);
        else if (param->is_product)
            NAME(cumulate_lines, TL_SET)(src, dst, n, len, step, 1, param->is_exclusive);
        else if (param->is_exclusive)
            NAME(cumulate_lines, TL_SET)(src, dst, n, len, step, 0, 1);
        else
            NAME(cumulate_lines, TL_SET)(src, dst, n, len, step, 0, 0);
    }
}

#endif
