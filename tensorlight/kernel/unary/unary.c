// SPDX-License-Identifier: Apache-2.0
// The functions of one number: choice of the kernel, and the public functions of each.

#include "kernel/unary/unary.h"

#include <assert.h>

#include "tensor/tl_result.h"

static int run(const tl_exec *exec, size_t grain, tl_map_func *func, const tl_tensor *src,
               tl_tensor *dst)
{
    assert(src->dtype == dst->dtype && func);
    tl_map(exec, grain, func, src, dst, NULL);
    return 0;
}

static tl_tensor *begin(const tl_tensor *src, tl_tensor *dst)
{
    if (tl_check_data(src, "src") < 0 || tl_check_float(src, "src") < 0 ||
        tl_check_in_place(dst, src) < 0)
        return NULL;
    return tl_result_begin(dst, src->ndim, src->dims, src->dtype);
}

#define TL_KERNEL(function, dtype, isa) [isa][dtype] = function,
#define TL_UNARY(name, grain)                                                               \
    static tl_map_func *const table_##name[TL_ISA_SIZE][TL_DTYPE_SIZE] = {                  \
        TL_KERNELS_FLT(tl_##name, c, TL_ISA_C)};                                            \
    TL_KERNEL_PICK(pick_##name, tl_map_func, table_##name)                                  \
    int tl_exec_##name(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)           \
    {                                                                                       \
        return run(exec, grain, pick_##name(exec, src->dtype), src, dst);                   \
    }                                                                                       \
    tl_tensor *tl_tensor_##name(const tl_tensor *src, tl_tensor *dst)                       \
    {                                                                                       \
        tl_tensor *const result = begin(src, dst);                                          \
        return tl_result_end(result, dst, result ? tl_exec_##name(NULL, src, result) : -1); \
    }
#include "kernel/unary/unary.def"
