// SPDX-License-Identifier: Apache-2.0
// Reductions: names, checks, the plan, choice of the kernel, threads.

#include "kernel/reduce/reduce.h"

#include <assert.h>

#include "kernel/tl_kernel.h"
#include "tensor/tl_name.h"
#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick, tl_reduce_func, TL_REDUCE_KERNELS)
TL_KERNEL_TABLE(pick_lines, tl_reduce_func, TL_REDUCE_LINES_KERNELS)

// The operations

static const char *const names[TL_REDUCE_OP_SIZE] = {
    [TL_REDUCE_SUM] = "TL_REDUCE_SUM",         [TL_REDUCE_MEAN] = "TL_REDUCE_MEAN",
    [TL_REDUCE_PROD] = "TL_REDUCE_PROD",       [TL_REDUCE_MAX] = "TL_REDUCE_MAX",
    [TL_REDUCE_MIN] = "TL_REDUCE_MIN",         [TL_REDUCE_L1] = "TL_REDUCE_L1",
    [TL_REDUCE_L2] = "TL_REDUCE_L2",           [TL_REDUCE_SUM_SQUARE] = "TL_REDUCE_SUM_SQUARE",
    [TL_REDUCE_LOG_SUM] = "TL_REDUCE_LOG_SUM", [TL_REDUCE_LOG_SUM_EXP] = "TL_REDUCE_LOG_SUM_EXP",
};
TL_NAME_AND_FROM_STR(tl_reduce_op, names, TL_REDUCE_OP_SIZE)

int tl_reduce_check(tl_reduce_op op, tl_dtype dtype)
{
    if (op < 0 || op >= TL_REDUCE_OP_SIZE)
        return tl_fail("reduce op %d, expected 0 to %d", op, TL_REDUCE_OP_SIZE - 1);
    if (dtype == TL_BOOL && op != TL_REDUCE_MAX && op != TL_REDUCE_MIN)
        return tl_fail("'src' has type TL_BOOL, expected a number type for %s", names[op]);
    return 0;
}

// The axes

// Sets is_reduced[i] to 1 for each of the axes, otherwise to 0.
static void mark_axes(int *is_reduced, int ndim, const int *axes, int n_axes)
{
    memset(is_reduced, 0, TL_MAXDIM * sizeof(*is_reduced));
    for (int i = 0; i < n_axes; i++) {
        assert(axes[i] >= 0 && axes[i] < ndim);
        is_reduced[axes[i]] = 1;
    }
    (void)ndim;
}

int tl_reduce_dims(const tl_tensor *src, const int *axes, int n_axes, int keepdims, int *dims)
{
    int is_reduced[TL_MAXDIM];
    int n = 0;
    mark_axes(is_reduced, src->ndim, axes, n_axes);
    for (int i = 0; i < src->ndim; i++) {
        if (!is_reduced[i])
            dims[n++] = src->dims[i];
        else if (keepdims)
            dims[n++] = 1;
    }
    return n;
}

// Appends an axis, in order from the last to the first, or merges it with the adjacent one before.
static void merge_axis(tl_reduce_axis *axes, int *n, tl_reduce_axis a, int is_neighbour)
{
    if (is_neighbour)
        axes[*n - 1].len *= a.len;
    else
        axes[(*n)++] = a;
}

static void reverse(tl_reduce_axis *axes, int n)
{
    for (int i = 0; i < n / 2; i++) {
        const tl_reduce_axis a = axes[i];
        axes[i] = axes[n - 1 - i];
        axes[n - 1 - i] = a;
    }
}

static void plan(tl_reduce_job *job, const tl_tensor *src, const int *axes, int n_axes)
{
    int is_reduced[TL_MAXDIM];
    size_t stride = 1;
    int last = -1; // is_reduced of the axis that follows, -1: none yet
    mark_axes(is_reduced, src->ndim, axes, n_axes);
    job->count = job->line = 1;
    for (int i = src->ndim - 1; i >= 0; i--) {
        const tl_reduce_axis a = {(size_t)src->dims[i], stride};
        if (is_reduced[i])
            job->count *= a.len;
        if (a.len == 1)
            continue;
        if (is_reduced[i])
            merge_axis(job->reduced, &job->n_reduced, a, last == 1);
        else
            merge_axis(job->kept, &job->n_kept, a, last == 0);
        stride *= a.len;
        last = is_reduced[i];
    }
    if (job->n_reduced > 0 && job->reduced[0].stride == 1) {
        job->line = job->reduced[0].len;
        memmove(job->reduced, job->reduced + 1, (size_t)--job->n_reduced * sizeof(*job->reduced));
    }
    reverse(job->reduced, job->n_reduced);
    reverse(job->kept, job->n_kept);
}

// The functions

int tl_exec_reduce(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, tl_reduce_op op,
                   const int *axes, int n_axes)
{
    assert(tl_reduce_check(op, src->dtype) == 0);
    assert(dst->dtype == src->dtype);
    if (dst->len == 0)
        return 0;
    tl_reduce_job job = {.src = src->data, .dst = dst->data, .op = op};
    plan(&job, src, axes, n_axes);
    assert(job.count == 0 || (size_t)dst->len == (size_t)src->len / job.count);
    const size_t grain =
        op == TL_REDUCE_LOG_SUM_EXP ? TL_GRAIN_COMPUTE_BOUND : TL_GRAIN_MEMORY_BOUND;
    tl_reduce_func *const lines = tl_reduce_is_lines(&job) ? pick_lines(exec, src->dtype) : NULL;
    tl_parallel(exec, (size_t)dst->len, grain / (job.count + 1) + 1,
                lines ? lines : pick(exec, src->dtype), &job);
    return 0;
}

tl_tensor *tl_tensor_reduce(const tl_tensor *src, tl_tensor *dst, tl_reduce_op op, const int *axes,
                            int n_axes, int keepdims)
{
    if (tl_check_operand(src, "src", dst) < 0 || tl_reduce_check(op, src->dtype) < 0 ||
        tl_check_axes(src, axes, n_axes) < 0)
        return NULL;
    int dims[TL_MAXDIM] = {0};
    const int ndim = tl_reduce_dims(src, axes, n_axes, keepdims, dims);
    tl_tensor *const result = tl_result_begin(dst, ndim, dims, src->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_reduce(NULL, src, result, op, axes, n_axes) : -1);
}
