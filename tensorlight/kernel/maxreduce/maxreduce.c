// SPDX-License-Identifier: Apache-2.0
// The maximum along an axis: checks, choice of the kernel, threads.

#include "kernel/maxreduce/maxreduce.h"

#include <assert.h>

#include "kernel/tl_map.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

TL_KERNEL_TABLE(pick, tl_maxreduce_func, TL_MAXREDUCE_KERNELS)

int tl_exec_maxreduce(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, tl_tensor *arg,
                      int axis)
{
    assert(axis >= 0 && axis < src->ndim && src->dims[axis] >= 1);
    assert(dst->dtype == src->dtype && dst->len == src->len / src->dims[axis]);
    assert(!arg || (arg->dtype == TL_INT32 && arg->len == dst->len));
    if (dst->len == 0)
        return 0;
    tl_maxreduce_job job = {src->data, dst->data, arg ? arg->data : NULL, tl_axis_of(src, axis)};
    tl_parallel(exec, (size_t)dst->len, TL_GRAIN_MEMORY_BOUND / job.axis.len + 1,
                pick(exec, src->dtype), &job);
    return 0;
}

static int check_arg(const tl_tensor *arg, const tl_tensor *src, const tl_tensor *result)
{
    if (tl_check_given(arg, "arg", result->ndim, result->dims, TL_INT32) < 0)
        return -1;
    if (tl_check_apart(arg, src) < 0 || tl_check_apart(arg, result) < 0)
        return tl_fail("'arg' overlaps 'src' or 'dst', expected data of its own");
    return 0;
}

tl_tensor *tl_tensor_maxreduce(const tl_tensor *src, tl_tensor *dst, tl_tensor *arg, int axis)
{
    if (tl_check_data(src, "src") < 0 || tl_check_axis(src, axis) < 0 ||
        tl_check_apart(dst, src) < 0)
        return NULL;
    if (src->dims[axis] == 0) {
        tl_fail("'src' has length 0 along axis %d, expected at least 1", axis);
        return NULL;
    }
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
