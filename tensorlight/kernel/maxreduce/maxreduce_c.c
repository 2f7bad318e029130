// SPDX-License-Identifier: Apache-2.0
// The maximum along an axis in plain C.
//
// Neighbouring lines are reduced together, so that memory is read in order whatever the axis; up to
// LINES at a time, so that their maxima stay in the cache.

#ifndef T // once

#include "kernel/maxreduce/maxreduce.h"

enum { LINES = 256 };

#define TL_TEMPLATE "kernel/maxreduce/maxreduce_c.c"
#include "tensor/tl_each_type.inc.h"

#else // for each type

/** `n` neighbouring lines of `len` elements, `inner` apart; arg may be NULL. */
static void NAME(reduce_lines, c)(const T *src, T *dst, int32_t *arg, size_t n, size_t len,
                                  size_t inner)
{
    C max[LINES];
    for (size_t j = 0; j < n; j++)
        max[j] = LOAD(src[j]);
    if (arg)
        memset(arg, 0, n * sizeof(*arg));
    for (size_t i = 1; i < len; i++)
        for (size_t j = 0; j < n; j++) {
            const C x = LOAD(src[i * inner + j]);
            const int is_greater = x > max[j];
            max[j] = is_greater ? x : max[j];
            if (arg)
                arg[j] = is_greater ? (int32_t)i : arg[j];
        }
    for (size_t j = 0; j < n; j++)
        dst[j] = STORE(max[j]);
}

void NAME(tl_maxreduce, c)(void *arg, size_t begin, size_t end)
{
    const tl_maxreduce_job *const job = arg;
    const size_t len = job->axis.len, inner = job->axis.inner;
    for (size_t k = begin, n; k < end; k += n) {
        n = tl_axis_span(k, end, inner, LINES);
        const size_t first = k / inner * len * inner + k % inner;
        int32_t *const index = job->arg ? job->arg + k : NULL;
        NAME(reduce_lines, c)((const T *)job->src + first, (T *)job->dst + k, index, n, len, inner);
    }
}

#endif
