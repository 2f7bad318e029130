// SPDX-License-Identifier: Apache-2.0
// Classes of numbers: choice of the kernel, and the public functions.

#include "kernel/classify/classify.h"

#include <assert.h>

#include "tensor/tl_result.h"
#include "tensorlight/tl_elementwise.h"

TL_KERNEL_TABLE(pick, tl_map_func, TL_CLASSIFY_KERNELS)

int tl_exec_classify(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int classes)
{
    assert(tl_dtype_is_float(src->dtype) && dst->dtype == TL_BOOL);
    tl_map(exec, TL_GRAIN_MEMORY_BOUND, pick(exec, src->dtype), src, dst, &classes);
    return 0;
}

tl_tensor *tl_tensor_classify(const tl_tensor *src, tl_tensor *dst, int classes)
{
    if (tl_check_data(src, "src") < 0 || tl_check_float(src, "src") < 0 ||
        tl_check_apart(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, TL_BOOL);
    return tl_result_end(result, dst, result ? tl_exec_classify(NULL, src, result, classes) : -1);
}
