// SPDX-License-Identifier: Apache-2.0
// The index of the extreme along an axis in plain C.
//
// Neighbouring lines are searched together, so that memory is read in order whatever the axis; up
// to LINES at a time, so that what they have found stays in the cache.

#ifndef T // once

#include "kernel/argreduce/argreduce.h"

#include <string.h>

enum { LINES = 256 };

// Where x is as good as the best, the one that is asked for decides. A NaN is best.
#define IS_NAN(x)             ((x) != (x))
#define IS_FIRST_MAX(x, best) ((x) > (best) || (IS_NAN(x) && !IS_NAN(best)))
#define IS_LAST_MAX(x, best)  ((x) >= (best) || IS_NAN(x))
#define IS_FIRST_MIN(x, best) ((x) < (best) || (IS_NAN(x) && !IS_NAN(best)))
#define IS_LAST_MIN(x, best)  ((x) <= (best) || IS_NAN(x))

/** `n` neighbouring lines of `len` elements, `inner` apart. */
#define SEARCH(which, IS_BETTER)                                                                   \
    static void NAME(which, lines)(const T *src, int64_t *dst, size_t n, size_t len, size_t inner) \
    {                                                                                              \
        C best[LINES];                                                                             \
        for (size_t j = 0; j < n; j++)                                                             \
            best[j] = LOAD(src[j]);                                                                \
        memset(dst, 0, n * sizeof(*dst));                                                          \
        for (size_t i = 1; i < len; i++)                                                           \
            for (size_t j = 0; j < n; j++) {                                                       \
                const C x = LOAD(src[i * inner + j]);                                              \
                const int is_better = IS_BETTER(x, best[j]);                                       \
                best[j] = is_better ? x : best[j];                                                 \
                dst[j] = is_better ? (int64_t)i : dst[j];                                          \
            }                                                                                      \
    }

#define TL_TEMPLATE "kernel/argreduce/argreduce_c.c"
#include "tensor/tl_each_type.inc.h"

#else // for each type

SEARCH(first_max, IS_FIRST_MAX)
SEARCH(last_max, IS_LAST_MAX)
SEARCH(first_min, IS_FIRST_MIN)
SEARCH(last_min, IS_LAST_MIN)

void NAME(tl_argreduce, c)(void *arg, size_t begin, size_t end)
{
    static void (*const searches[2][2])(const T *, int64_t *, size_t, size_t, size_t) = {
        {NAME(first_max, lines), NAME(last_max, lines)},
        {NAME(first_min, lines), NAME(last_min, lines)},
    };
    const tl_argreduce_job *const job = arg;
    const size_t len = job->axis.len, inner = job->axis.inner;
    for (size_t k = begin, n; k < end; k += n) {
        n = tl_axis_span(k, end, inner, LINES);
        const size_t first = k / inner * len * inner + k % inner;
        searches[job->is_min][job->is_last]((const T *)job->src + first, job->dst + k, n, len,
                                            inner);
    }
}

#endif
