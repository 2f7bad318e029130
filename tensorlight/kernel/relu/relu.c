// SPDX-License-Identifier: Apache-2.0
// The rectifier: choice of the kernel, and the public functions.

#include "kernel/relu/relu.h"

#include <assert.h>

#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick, tl_map_func, TL_RELU_KERNELS)

int tl_exec_relu(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    assert(src->dtype == dst->dtype);
    tl_map(exec, TL_GRAIN_MEMORY_BOUND, pick(exec, src->dtype), src, dst, NULL);
    return 0;
}

tl_tensor *tl_tensor_relu(const tl_tensor *src, tl_tensor *dst)
{
    if (tl_check_data(src, "src") < 0 || tl_check_in_place(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_relu(NULL, src, result) : -1);
}
