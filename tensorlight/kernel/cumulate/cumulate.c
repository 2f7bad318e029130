// SPDX-License-Identifier: Apache-2.0
// Cumulative sums and products: checks, choice of the kernel, threads.

#include "kernel/cumulate/cumulate.h"

#include <assert.h>

#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick, tl_cumulate_func, TL_CUMULATE_KERNELS)

int tl_exec_cumulate(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                     const tl_cumulate_param *param)
{
    assert(param->axis >= 0 && param->axis < src->ndim && src->dtype != TL_BOOL);
    assert(dst->dtype == src->dtype && dst->len == src->len);
    if (src->len == 0)
        return 0;
    tl_cumulate_job job = {src->data, dst->data, tl_axis_of(src, param->axis), param};
    tl_parallel(exec, job.axis.outer * job.axis.inner, TL_GRAIN_MEMORY_BOUND / job.axis.len + 1,
                pick(exec, src->dtype), &job);
    return 0;
}

tl_tensor *tl_tensor_cumulate(const tl_tensor *src, tl_tensor *dst, const tl_cumulate_param *param)
{
    if (tl_check_data(src, "src") < 0)
        return NULL;
    if (!param || src->dtype == TL_BOOL) {
        tl_fail(param ? "'src' has dtype TL_BOOL, expected a number type" : "'param' is NULL");
        return NULL;
    }
    if (tl_check_axis(src, param->axis) < 0 || tl_check_in_place(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_cumulate(NULL, src, result, param) : -1);
}
