// SPDX-License-Identifier: Apache-2.0
// Euclidean distances between points, from their differences: |x|^2 - 2 xy + |y|^2 would cancel
// digits of near points.

#ifndef T // once

#include <assert.h>
#include <math.h>

#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_linalg.h"

// src1 [.., d], rows; src2 [d, n], columns; dst [.., n].
typedef struct distance_job {
    const void *src1, *src2;
    void *dst;
    size_t d, n;
    int is_squared;
} distance_job;

// Computes the blocks begin .. end-1, of COLUMNS columns each, counted over all rows.
typedef void distance_func(void *arg, size_t begin, size_t end);

enum { COLUMNS = 256 };

#define sqrt_of(x) _Generic((x), float : sqrtf, double : sqrt)(x)

#define TL_TEMPLATE "kernel/distance/distance.c"
#include "tensor/tl_each_float.inc.h"

TL_PLAIN_TABLE(pick, distance_func, distance, FLT)

int tl_exec_distance(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                     tl_tensor *dst, int is_squared)
{
    assert(src1->ndim == 2 && src2->ndim == 2 && dst->ndim == 2 && src1->dims[1] == src2->dims[0]);
    assert(dst->dims[0] == src1->dims[0] && dst->dims[1] == src2->dims[1]);
    assert(src1->dtype == src2->dtype && dst->dtype == src1->dtype);
    if (dst->len == 0)
        return 0;
    distance_job job = {
        src1->data, src2->data, dst->data, (size_t)src2->dims[0], (size_t)src2->dims[1],
        is_squared};
    const size_t units = (size_t)dst->dims[0] * tl_ceil_div(job.n, COLUMNS);
    const size_t work = (job.d + 1) * tl_min_size(job.n, COLUMNS);
    tl_parallel(exec, units, TL_GRAIN_MEMORY_BOUND / work + 1, pick(exec, dst->dtype), &job);
    return 0;
}

tl_tensor *tl_tensor_distance(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst,
                              int is_squared)
{
    if (tl_check_operand(src1, "src1", dst) < 0 || tl_check_float(src1, "src1") < 0 ||
        tl_check_shape(src1, "src1", "[m, d]") < 0 || tl_check_operand(src2, "src2", dst) < 0 ||
        tl_check_same_dtype(src1, src2) < 0 || tl_check_shape(src2, "src2", "[d, n]") < 0)
        return NULL;
    if (src1->dims[1] != src2->dims[0]) {
        tl_fail("'src1' has rows of %d elements and 'src2' columns of %d, expected equal "
                "lengths",
                src1->dims[1], src2->dims[0]);
        return NULL;
    }
    const int dims[] = {src1->dims[0], src2->dims[1]};
    tl_tensor *const result = tl_result_begin(dst, 2, dims, src1->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_distance(NULL, src1, src2, result, is_squared) : -1);
}

#else // for each type

// Computes the distances of `point` [d] to `n` columns of `columns` [d, job->n].
static void NAME(measure, c)(const distance_job *job, const T *point, const T *columns, T *dst,
                             size_t n)
{
    C sum[COLUMNS] = {0};
    for (size_t k = 0; k < job->d; k++) {
        const C x = LOAD(point[k]);
        for (size_t i = 0; i < n; i++) {
            const C difference = x - LOAD(columns[k * job->n + i]);
            sum[i] += difference * difference;
        }
    }
    for (size_t i = 0; i < n; i++)
        dst[i] = STORE(job->is_squared ? sum[i] : sqrt_of(sum[i]));
}

static void NAME(distance, c)(void *arg, size_t begin, size_t end)
{
    const distance_job *const job = arg;
    const size_t blocks = tl_ceil_div(job->n, COLUMNS);
    for (size_t unit = begin; unit < end; unit++) {
        const size_t row = unit / blocks, first = unit % blocks * COLUMNS;
        NAME(measure, c)
        (job, (const T *)job->src1 + row * job->d, (const T *)job->src2 + first,
         (T *)job->dst + row * job->n + first, tl_min_size(COLUMNS, job->n - first));
    }
}

#endif
