// SPDX-License-Identifier: Apache-2.0
// The leaky rectifier: choice of the kernel, and the public functions.

#include "kernel/lrelu/lrelu.h"

#include <assert.h>

#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick, tl_map_func, TL_LRELU_KERNELS)

void tl_lrelu(void *dst, const void *src, float negslope, tl_dtype dtype)
{
    pick(NULL, dtype)(src, dst, 1, &negslope);
}

int tl_exec_lrelu(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, float negslope)
{
    assert(src->dtype == dst->dtype);
    tl_map(exec, TL_GRAIN_MEMORY_BOUND, pick(exec, src->dtype), src, dst, &negslope);
    return 0;
}

tl_tensor *tl_tensor_lrelu(const tl_tensor *src, tl_tensor *dst, float negslope)
{
    if (tl_check_data(src, "src") < 0 || tl_check_in_place(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_lrelu(NULL, src, result, negslope) : -1);
}
