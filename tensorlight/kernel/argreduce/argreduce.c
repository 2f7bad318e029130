// SPDX-License-Identifier: Apache-2.0
// The index of the extreme along an axis.
//
// Neighbouring lines are searched together, so that memory is read in order whatever the axis; up
// to LINES at a time, so that what they have found stays in the cache.

#ifndef T // once

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "kernel/tl_map.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

/** src [axis.outer, axis.len, axis.inner], axis.len >= 1 -> dst [axis.outer, axis.inner]. */
typedef struct argreduce_job {
    const void *src;
    int64_t *dst;
    tl_axis axis;
    int is_min, is_last;
} argreduce_job;

/** Computes the lines begin .. end-1 (tl_axis.h) of the argreduce_job at `arg`. */
typedef void argreduce_func(void *arg, size_t begin, size_t end);

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

#define TL_TEMPLATE "kernel/argreduce/argreduce.c"
#include "tensor/tl_each_type.inc.h"

TL_PLAIN_TABLE(pick, argreduce_func, argreduce, ALL)

int tl_exec_argreduce(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int axis,
                      int is_min, int is_last)
{
    assert(axis >= 0 && axis < src->ndim && src->dims[axis] >= 1);
    assert(dst->dtype == TL_INT64 && dst->len == src->len / src->dims[axis]);
    if (dst->len == 0)
        return 0;
    argreduce_job job = {src->data, dst->data, tl_axis_of(src, axis), !!is_min, !!is_last};
    tl_parallel(exec, (size_t)dst->len, TL_GRAIN_MEMORY_BOUND / job.axis.len + 1,
                pick(exec, src->dtype), &job);
    return 0;
}

tl_tensor *tl_tensor_argreduce(const tl_tensor *src, tl_tensor *dst, int axis, int is_min,
                               int is_last, int keepdims)
{
    if (tl_check_data(src, "src") < 0 || tl_check_axis(src, axis) < 0 ||
        tl_check_apart(dst, src) < 0)
        return NULL;
    if (src->dims[axis] == 0) {
        tl_fail("'src' has length 0 along axis %d, expected at least 1", axis);
        return NULL;
    }
    int dims[TL_MAXDIM] = {0};
    const int ndim = tl_reduce_dims(src, &axis, 1, keepdims, dims);
    tl_tensor *const result = tl_result_begin(dst, ndim, dims, TL_INT64);
    return tl_result_end(result, dst,
                         result ? tl_exec_argreduce(NULL, src, result, axis, is_min, is_last) : -1);
}

#else // for each type

SEARCH(first_max, IS_FIRST_MAX)
SEARCH(last_max, IS_LAST_MAX)
SEARCH(first_min, IS_FIRST_MIN)
SEARCH(last_min, IS_LAST_MIN)

static void NAME(argreduce, c)(void *arg, size_t begin, size_t end)
{
    static void (*const searches[2][2])(const T *, int64_t *, size_t, size_t, size_t) = {
        {NAME(first_max, lines), NAME(last_max, lines)},
        {NAME(first_min, lines), NAME(last_min, lines)},
    };
    const argreduce_job *const job = arg;
    const size_t len = job->axis.len, inner = job->axis.inner;
    for (size_t k = begin, n; k < end; k += n) {
        n = tl_axis_span(k, end, inner, LINES);
        const size_t first = k / inner * len * inner + k % inner;
        searches[job->is_min][job->is_last]((const T *)job->src + first, job->dst + k, n, len,
                                            inner);
    }
}

#endif
