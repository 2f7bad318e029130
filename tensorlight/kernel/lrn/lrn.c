// SPDX-License-Identifier: Apache-2.0
// Local response normalization: checks, choice of the kernel, threads.

#include "kernel/lrn/lrn.h"

#include <assert.h>

#include "kernel/tl_map.h"
#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick, tl_lrn_func, TL_LRN_KERNELS)

int tl_exec_lrn(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                const tl_lrn_param *param)
{
    assert(src->ndim >= 2 && param->size >= 1);
    assert(dst->len == src->len && dst->dtype == src->dtype && dst->data != src->data);
    if (src->len == 0)
        return 0;
    tl_lrn_job job = {src->data, dst->data, tl_axis_of(src, 1), param};
    tl_parallel(exec, job.axis.outer * job.axis.len, TL_MAP_DEAR / job.axis.inner + 1,
                pick(exec, src->dtype), &job);
    return 0;
}

tl_tensor *tl_tensor_lrn(const tl_tensor *src, tl_tensor *dst, const tl_lrn_param *param)
{
    if (tl_check_data(src, "src") < 0 || tl_check_float(src, "src") < 0 ||
        tl_check_apart(dst, src) < 0)
        return NULL;
    if (src->ndim < 2 || param->size < 1) {
        tl_fail("'src' has %d dimensions and 'size' is %d, expected at least 2 and 1", src->ndim,
                param->size);
        return NULL;
    }
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_lrn(NULL, src, result, param) : -1);
}
