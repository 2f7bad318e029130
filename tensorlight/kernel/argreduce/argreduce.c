// SPDX-License-Identifier: Apache-2.0
// The extreme along an axis, and its index: argreduce, and maxreduce, where a NaN is the maximum
// at index 0 only.
//
// Adjacent lines are searched together, so that memory is read in order for any axis; up
// to LINES at a time, so that their results stay in the cache.

#ifndef T // once

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

typedef enum search { FIRST_MAX, LAST_MAX, FIRST_MIN, LAST_MIN, PLAIN_MAX } search;

// src [axis.outer, axis.len, axis.inner], axis.len >= 1 -> the others [axis.outer, axis.inner],
// each of which may be NULL.
typedef struct argreduce_job {
    const void *src;
    void *best;
    int64_t *index;
    int32_t *short_index;
    tl_axis axis;
    search search;
} argreduce_job;

// Computes the lines begin .. end-1 (tl_axis.h) of the argreduce_job at `arg`.
typedef void argreduce_func(void *arg, size_t begin, size_t end);

enum { LINES = 256 };

// Ties depend on the search. In all but PLAIN_MAX, NaN is the best.
#define IS_NAN(x)             ((x) != (x))
#define IS_FIRST_MAX(x, best) ((x) > (best) || (IS_NAN(x) && !IS_NAN(best)))
#define IS_LAST_MAX(x, best)  ((x) >= (best) || IS_NAN(x))
#define IS_FIRST_MIN(x, best) ((x) < (best) || (IS_NAN(x) && !IS_NAN(best)))
#define IS_LAST_MIN(x, best)  ((x) <= (best) || IS_NAN(x))
#define IS_PLAIN_MAX(x, best) ((x) > (best))

// `n` neighbouring lines of `len` elements, `inner` apart; `index` may be NULL.
#define SEARCH(which, IS_BETTER)                                                                \
    static void NAME(which, lines)(const T *restrict src, C *restrict best,                     \
                                   int32_t *restrict index, size_t n, size_t len, size_t inner) \
    {                                                                                           \
        for (size_t j = 0; j < n; j++)                                                          \
            best[j] = LOAD(src[j]);                                                             \
        if (index)                                                                              \
            memset(index, 0, n * sizeof(*index));                                               \
        for (size_t i = 1; i < len; i++)                                                        \
            for (size_t j = 0; j < n; j++) {                                                    \
                const C x = LOAD(src[i * inner + j]);                                           \
                const int is_better = IS_BETTER(x, best[j]);                                    \
                best[j] = is_better ? x : best[j];                                              \
                if (index)                                                                      \
                    index[j] = is_better ? (int32_t)i : index[j];                               \
            }                                                                                   \
    }

#define TL_TEMPLATE "kernel/argreduce/argreduce.c"
#include "tensor/tl_each_type.inc.h"

TL_PLAIN_TABLE(pick, argreduce_func, argreduce, ALL)

static int run(const tl_exec *exec, const tl_tensor *src, argreduce_job job, int axis)
{
    assert(axis >= 0 && axis < src->ndim && src->dims[axis] >= 1);
    job.src = src->data;
    job.axis = tl_axis_of(src, axis);
    if (src->len > 0)
        tl_parallel(exec, (size_t)(src->len / src->dims[axis]),
                    TL_GRAIN_MEMORY_BOUND / job.axis.len + 1, pick(exec, src->dtype), &job);
    return 0;
}

int tl_exec_argreduce(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int axis,
                      int is_min, int is_last)
{
    static const search searches[2][2] = {{FIRST_MAX, LAST_MAX}, {FIRST_MIN, LAST_MIN}};
    assert(dst->dtype == TL_INT64 && dst->len == src->len / src->dims[axis]);
    const argreduce_job job = {.index = dst->data, .search = searches[!!is_min][!!is_last]};
    return run(exec, src, job, axis);
}

int tl_exec_maxreduce(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, tl_tensor *arg,
                      int axis)
{
    assert(dst->dtype == src->dtype && dst->len == src->len / src->dims[axis]);
    assert(!arg || (arg->dtype == TL_INT32 && arg->len == dst->len));
    const argreduce_job job = {
        .best = dst->data, .short_index = arg ? arg->data : NULL, .search = PLAIN_MAX};
    return run(exec, src, job, axis);
}

int tl_argreduce_check(const tl_tensor *src, int axis)
{
    if (tl_check_axis(src, axis) < 0)
        return -1;
    return src->dims[axis] > 0
               ? 0
               : tl_fail("'src' has length 0 along axis %d, expected at least 1", axis);
}

static int check(const tl_tensor *src, const tl_tensor *dst, int axis)
{
    return -(tl_check_data(src, "src") < 0 || tl_argreduce_check(src, axis) < 0 ||
             tl_check_apart(dst, src) < 0);
}

tl_tensor *tl_tensor_argreduce(const tl_tensor *src, tl_tensor *dst, int axis, int is_min,
                               int is_last, int keepdims)
{
    if (check(src, dst, axis) < 0)
        return NULL;
    int dims[TL_MAXDIM] = {0};
    const int ndim = tl_reduce_dims(src, &axis, 1, keepdims, dims);
    tl_tensor *const result = tl_result_begin(dst, ndim, dims, TL_INT64);
    return tl_result_end(result, dst,
                         result ? tl_exec_argreduce(NULL, src, result, axis, is_min, is_last) : -1);
}

static int check_arg(const tl_tensor *arg, const tl_tensor *src, const tl_tensor *result)
{
    if (tl_check_given(arg, "arg", result->ndim, result->dims, TL_INT32) < 0)
        return -1;
    if (tl_check_apart(arg, src) < 0 || tl_check_apart(arg, result) < 0)
        return tl_fail("'arg' overlaps 'src' or 'dst', expected separate data");
    return 0;
}

tl_tensor *tl_tensor_maxreduce(const tl_tensor *src, tl_tensor *dst, tl_tensor *arg, int axis)
{
    if (check(src, dst, axis) < 0)
        return NULL;
    int dims[TL_MAXDIM];
    tl_tensor *const result =
        tl_result_begin(dst, src->ndim, tl_dims_with(dims, src, axis, 1), src->dtype);
    int status = result ? 0 : -1;
    if (result && arg)
        status = check_arg(arg, src, result);
    if (status == 0)
        status = tl_exec_maxreduce(NULL, src, result, arg, axis);
    return tl_result_end(result, dst, status);
}

#else // for each type

SEARCH(first_max, IS_FIRST_MAX)
SEARCH(last_max, IS_LAST_MAX)
SEARCH(first_min, IS_FIRST_MIN)
SEARCH(last_min, IS_LAST_MIN)
SEARCH(plain_max, IS_PLAIN_MAX)

// Writes the results of the lines from `k` on.
static void NAME(write, found)(const argreduce_job *job, size_t k, size_t n, const C *best,
                               const int32_t *index)
{
    for (size_t j = 0; job->best && j < n; j++)
        ((T *)job->best)[k + j] = STORE(best[j]);
    for (size_t j = 0; job->index && j < n; j++)
        job->index[k + j] = index[j];
}

static void NAME(argreduce, c)(void *arg, size_t begin, size_t end)
{
    static void (*const searches[])(const T *, C *, int32_t *, size_t, size_t, size_t) = {
        [FIRST_MAX] = NAME(first_max, lines), [LAST_MAX] = NAME(last_max, lines),
        [FIRST_MIN] = NAME(first_min, lines), [LAST_MIN] = NAME(last_min, lines),
        [PLAIN_MAX] = NAME(plain_max, lines),
    };
    const argreduce_job *const job = arg;
    const size_t len = job->axis.len, inner = job->axis.inner;
    C best[LINES];
    int32_t found[LINES];
    for (size_t k = begin, n; k < end; k += n) {
        n = tl_axis_span(k, end, inner, LINES);
        const size_t first = k / inner * len * inner + k % inner;
        int32_t *const index = job->short_index ? job->short_index + k : job->index ? found : NULL;
        searches[job->search]((const T *)job->src + first, best, index, n, len, inner);
        NAME(write, found)(job, k, n, best, index);
    }
}

#endif
