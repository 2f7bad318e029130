// SPDX-License-Identifier: Apache-2.0
// The logistic function: choice of the kernel, and the public functions.

#include "kernel/sigmoid/sigmoid.h"

#include <assert.h>

#include "tensor/tl_result.h"

#define TL_KERNEL(name, dtype, isa) [isa][dtype] = name,
static tl_map_func *const table[TL_ISA_SIZE][TL_DTYPE_SIZE] = {
#include "kernel/sigmoid/sigmoid.def"
};
#undef TL_KERNEL
TL_KERNEL_PICK(pick, tl_map_func, table)

int tl_exec_sigmoid(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    assert(src->dtype == dst->dtype);
    tl_map(exec, TL_MAP_DEAR, pick(exec, src->dtype), src, dst, NULL);
    return 0;
}

tl_tensor *tl_tensor_sigmoid(const tl_tensor *src, tl_tensor *dst)
{
    if (tl_check_data(src, "src") < 0 || tl_check_float(src, "src") < 0 ||
        tl_check_in_place(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_sigmoid(NULL, src, result) : -1);
}
