// SPDX-License-Identifier: Apache-2.0
// Element-wise selection between two tensors: choice of the kernel, and the public functions.

#include "kernel/where/where.h"

#include <assert.h>

#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick, tl_broadcast_func, TL_WHERE_KERNELS)

int tl_exec_where(const tl_exec *exec, const tl_tensor *cond, const tl_tensor *src1,
                  const tl_tensor *src2, tl_tensor *dst)
{
    assert(cond->dtype == TL_BOOL && src1->dtype == src2->dtype && src1->dtype == dst->dtype);
    const tl_tensor *const srcs[] = {cond, src1, src2};
    const tl_dtype dtype = tl_dtype_of_size(tl_size_of(dst->dtype));
    return tl_broadcast(exec, TL_GRAIN_MEMORY_BOUND, pick(exec, dtype), srcs, 3, dst);
}

tl_tensor *tl_tensor_where(const tl_tensor *cond, const tl_tensor *src1, const tl_tensor *src2,
                           tl_tensor *dst)
{
    if (tl_check_data(cond, "cond") < 0 || tl_check_elements(src1, "src1") < 0 ||
        tl_check_elements(src2, "src2") < 0 || tl_check_same_dtype(src1, src2) < 0)
        return NULL;
    if (cond->dtype != TL_BOOL)
        return tl_fail("'cond' has dtype %s, expected TL_BOOL", tl_dtype_name(cond->dtype)), NULL;
    const tl_tensor *const srcs[] = {cond, src1, src2};
    tl_tensor *const result = tl_broadcast_begin(dst, srcs, 3, src1->dtype);
    return tl_result_end(result, dst, result ? tl_exec_where(NULL, cond, src1, src2, result) : -1);
}
