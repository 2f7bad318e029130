// SPDX-License-Identifier: Apache-2.0
// Softmax, and its logarithm: checks, choice of the kernel, threads.

#include "kernel/softmax/softmax.h"

#include <assert.h>

#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

TL_KERNEL_TABLE(pick, tl_softmax_func, TL_SOFTMAX_KERNELS)
TL_KERNEL_TABLE(pick_log, tl_softmax_func, TL_LOGSOFTMAX_KERNELS)

static int run(const tl_exec *exec, tl_softmax_func *func, const tl_tensor *src, tl_tensor *dst,
               int axis)
{
    assert(axis >= 0 && axis < src->ndim);
    assert(src->len == dst->len && src->dtype == dst->dtype);
    if (src->len == 0)
        return 0;
    tl_softmax_job job = {src->data, dst->data, tl_axis_of(src, axis)};
    tl_parallel(exec, job.axis.outer * job.axis.inner, TL_GRAIN_COMPUTE_BOUND / job.axis.len + 1,
                func, &job);
    return 0;
}

int tl_exec_softmax(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int axis)
{
    return run(exec, pick(exec, src->dtype), src, dst, axis);
}

int tl_exec_logsoftmax(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int axis)
{
    return run(exec, pick_log(exec, src->dtype), src, dst, axis);
}

static tl_tensor *check_and_run(const tl_tensor *src, tl_tensor *dst, int axis,
                                int (*exec_func)(const tl_exec *, const tl_tensor *, tl_tensor *,
                                                 int))
{
    if (tl_check_data(src, "src") < 0 || tl_check_float(src, "src") < 0 ||
        tl_check_axis(src, axis) < 0 || tl_check_in_place(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
    return tl_result_end(result, dst, result ? exec_func(NULL, src, result, axis) : -1);
}

tl_tensor *tl_tensor_softmax(const tl_tensor *src, tl_tensor *dst, int axis)
{
    return check_and_run(src, dst, axis, tl_exec_softmax);
}

tl_tensor *tl_tensor_logsoftmax(const tl_tensor *src, tl_tensor *dst, int axis)
{
    return check_and_run(src, dst, axis, tl_exec_logsoftmax);
}
