// SPDX-License-Identifier: Apache-2.0
// The extreme along an axis, and its index: argreduce, and maxreduce, where a NaN is the maximum
// at index 0 only. Checks, choice of the kernel, threads.

#include "kernel/argreduce/argreduce.h"

#include <assert.h>
#include <stdint.h>

#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick, tl_argreduce_func, TL_ARGREDUCE_KERNELS)

static int run(const tl_exec *exec, const tl_tensor *src, tl_argreduce_job job, int axis)
{
    assert(axis >= 0 && axis < src->ndim && src->dims[axis] >= 1);
    job.src = src->data;
    job.axis = tl_axis_of(src, axis);
    job.transpose = tl_transpose_pick(exec, tl_size_of(src->dtype));
    if (src->len > 0)
        tl_parallel(exec, (size_t)(src->len / src->dims[axis]),
                    TL_GRAIN_MEMORY_BOUND / job.axis.len + 1, pick(exec, src->dtype), &job);
    return 0;
}

int tl_exec_argreduce(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int axis,
                      int is_min, int is_last)
{
    assert(dst->dtype == TL_INT64 && dst->len == src->len / src->dims[axis]);
    const tl_argreduce_job job = {
        .index = dst->data, .search = is_last ? TL_SEARCH_LAST : TL_SEARCH_FIRST, .is_min = is_min};
    return run(exec, src, job, axis);
}

int tl_exec_maxreduce(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, tl_tensor *arg,
                      int axis)
{
    assert(dst->dtype == src->dtype && dst->len == src->len / src->dims[axis]);
    assert(!arg || (arg->dtype == TL_INT32 && arg->len == dst->len));
    const tl_argreduce_job job = {.best = dst->data,
                                  .short_index = arg ? arg->data : NULL,
                                  .search = tl_dtype_is_float(src->dtype) ? TL_SEARCH_PLAIN
                                                                          : TL_SEARCH_FIRST};
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
