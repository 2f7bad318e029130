// SPDX-License-Identifier: Apache-2.0
// The conversion between types: choice of the kernel, and the public functions.

#include "kernel/cast/cast.h"

#include "tensor/tl_result.h"
#include "tensorlight/tl_elementwise.h"

#define PAIR(from, to)                    ((from)*TL_DTYPE_SIZE + (to))
#define ELEMENT(arg, name, from, to, isa) [isa][PAIR(from, to)] = name,
static tl_map_func *const table[TL_ISA_SIZE][PAIR(TL_DTYPE_SIZE, 0)] = {TL_CAST_KERNELS(ELEMENT, )};
TL_KERNEL_PICK(pick, tl_map_func, table)

tl_map_func *tl_cast_kernel(const tl_exec *exec, tl_dtype from, tl_dtype to)
{
    return from == to ? NULL : pick(exec, PAIR(from, to));
}

int tl_exec_cast(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    if (src->dtype == dst->dtype)
        return tl_exec_copy(exec, src, dst);
    tl_map(exec, TL_GRAIN_MEMORY_BOUND, tl_cast_kernel(exec, src->dtype, dst->dtype), src, dst,
           NULL);
    return 0;
}

tl_tensor *tl_tensor_cast(const tl_tensor *src, tl_tensor *dst, tl_dtype dtype)
{
    if (tl_check_data(src, "src") < 0 || tl_check_in_place(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, dtype);
    return tl_result_end(result, dst, result ? tl_exec_cast(NULL, src, result) : -1);
}
