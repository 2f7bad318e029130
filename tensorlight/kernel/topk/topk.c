// SPDX-License-Identifier: Apache-2.0
// The largest or smallest elements along an axis.
//
// The k best indices so far form a heap whose root is the worst of them; a better element replaces
// it. At the end, heapsort leaves the best in order. The heap is stored in the result.
// Source: Knuth, The Art of Computer Programming, 5.2.3.

#ifndef T // once

#include <assert.h>
#include <stdint.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

// src [axis.outer, axis.len, axis.inner] -> values, indices [axis.outer, k <= len, axis.inner].
typedef struct topk_job {
    const void *src;
    void *values;
    int64_t *indices;
    tl_axis axis;
    size_t k;
    int is_smallest;
    const tl_stop *stop; // polled within a line, whose length has no bound
} topk_job;

// Computes the lines begin .. end-1 (tl_axis.h) of the topk_job at `arg`.
typedef void topk_func(void *arg, size_t begin, size_t end);

#define IS_NAN(x)       ((x) != (x))
#define IS_LARGER(x, y) ((x) > (y) || (IS_NAN(x) && !IS_NAN(y)))

// Elements of a line between two checks for a stop.
enum { ELEMENTS_PER_CHECK = 4096 };

static inline int has_to_stop(const tl_stop *stop, size_t i)
{
    return i % ELEMENTS_PER_CHECK == 0 && tl_stop_is_requested(stop);
}

#define TL_TEMPLATE "kernel/topk/topk.c"
#include "tensor/tl_each_type.inc.h"

TL_PLAIN_TABLE(pick, topk_func, topk, ALL)

int tl_exec_topk(const tl_exec *exec, const tl_tensor *src, tl_tensor *values, tl_tensor *indices,
                 int axis, int is_smallest)
{
    assert(axis >= 0 && axis < src->ndim && values->dtype == src->dtype);
    assert(indices->dtype == TL_INT64 && indices->len == values->len);
    assert(values->dims[axis] <= src->dims[axis]);
    if (values->len == 0)
        return 0;
    topk_job job = {src->data,
                    values->data,
                    indices->data,
                    tl_axis_of(src, axis),
                    (size_t)values->dims[axis],
                    is_smallest,
                    exec ? exec->stop : NULL};
    tl_parallel(exec, job.axis.outer * job.axis.inner, TL_GRAIN_COMPUTE_BOUND / job.axis.len + 1,
                pick(exec, src->dtype), &job);
    return 0;
}

int tl_tensor_topk(const tl_tensor *src, tl_tensor *values, tl_tensor *indices, int axis,
                   int is_smallest)
{
    if (tl_check_data(src, "src") < 0 || tl_check_axis(src, axis) < 0 ||
        tl_check_data(values, "values") < 0 || tl_check_data(indices, "indices") < 0 ||
        tl_check_apart(values, src) < 0 || tl_check_apart(indices, src) < 0 ||
        tl_check_apart(values, indices) < 0)
        return -1;
    const int k = axis < values->ndim ? values->dims[axis] : 0;
    int dims[TL_MAXDIM];
    tl_dims_with(dims, src, axis, k);
    if (tl_check_given(values, "values", src->ndim, dims, src->dtype) < 0 ||
        tl_check_given(indices, "indices", src->ndim, dims, TL_INT64) < 0)
        return -1;
    if (k > src->dims[axis])
        return tl_fail("'values' has length %d along axis %d, expected at most %d", k, axis,
                       src->dims[axis]);
    return tl_exec_topk(NULL, src, values, indices, axis, is_smallest);
}

#else // for each type

// A line, and the heap of indices into it; elements of both are `inner` apart.
typedef struct NAME(heap, c) {
    const T *src;
    int64_t *indices;
    size_t inner;
    int is_smallest;
} NAME(heap, c);

// Whether the element at `i` comes before the one at `j`: the order is total. A NaN is larger than
// any number; of equal ones the lower index is first.
static inline int NAME(is_better, c)(const NAME(heap, c) * h, int64_t i, int64_t j)
{
    const C a = LOAD(h->src[(size_t)i * h->inner]), b = LOAD(h->src[(size_t)j * h->inner]);
    const int is_larger = IS_LARGER(a, b), is_smaller = IS_LARGER(b, a);
    if (is_larger || is_smaller)
        return h->is_smallest ? is_smaller : is_larger;
    return i < j;
}

// Moves `index` down from `at` in the heap's first `n` elements, until both children are better.
static void NAME(sift_down, c)(const NAME(heap, c) * h, size_t at, size_t n, int64_t index)
{
    int64_t *const indices = h->indices;
    for (size_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n &&
            NAME(is_better, c)(h, indices[child * h->inner], indices[(child + 1) * h->inner]))
            child++; // the worse one of both
        if (!NAME(is_better, c)(h, index, indices[child * h->inner]))
            break;
        indices[at * h->inner] = indices[child * h->inner];
        at = child;
    }
    indices[at * h->inner] = index;
}

// Fills h->indices with the k best of `len` elements, best first. -1: stopped.
static int NAME(find, c)(const NAME(heap, c) * h, size_t len, size_t k, const tl_stop *stop)
{
    int64_t *const indices = h->indices;
    for (size_t i = 0; i < k; i++)
        indices[i * h->inner] = (int64_t)i;
    for (size_t i = k / 2; i-- > 0;) {
        if (has_to_stop(stop, i))
            return -1;
        NAME(sift_down, c)(h, i, k, indices[i * h->inner]);
    }
    for (size_t i = k; i < len; i++) {
        if (has_to_stop(stop, i))
            return -1;
        if (NAME(is_better, c)(h, (int64_t)i, indices[0]))
            NAME(sift_down, c)(h, 0, k, (int64_t)i);
    }
    for (size_t n = k; n-- > 1;) {
        if (has_to_stop(stop, n))
            return -1;
        const int64_t last = indices[n * h->inner];
        indices[n * h->inner] = indices[0];
        NAME(sift_down, c)(h, 0, n, last);
    }
    return 0;
}

static void NAME(topk, c)(void *arg, size_t begin, size_t end)
{
    const topk_job *const job = arg;
    const size_t len = job->axis.len, inner = job->axis.inner, k = job->k;
    for (size_t line = begin; line < end; line++) {
        const size_t to = line / inner * k * inner + line % inner;
        const NAME(heap, c) heap = {(const T *)job->src + line / inner * len * inner + line % inner,
                                    job->indices + to, inner, job->is_smallest};
        T *const values = (T *)job->values + to;
        if (NAME(find, c)(&heap, len, k, job->stop) < 0)
            return;
        for (size_t i = 0; i < k; i++)
            values[i * inner] = heap.src[(size_t)heap.indices[i * inner] * inner];
    }
}

#endif
