// SPDX-License-Identifier: Apache-2.0
// Conversion: choice of the kernel, and the public functions.

#include "kernel/convert/convert.h"

#include "tensor/tl_result.h"

#define PAIR(from, to)                    ((from)*TL_DTYPE_SIZE + (to))
#define ELEMENT(arg, name, from, to, isa) [isa][PAIR(from, to)] = name,
static tl_map_func *const table[TL_ISA_SIZE][PAIR(TL_DTYPE_SIZE, 0)] = {
    TL_CONVERT_KERNELS(ELEMENT, )};
TL_KERNEL_PICK(pick, tl_map_func, table)

void tl_convert_array(void *dst, tl_dtype dst_dtype, const void *src, tl_dtype src_dtype,
                      size_t len)
{
    if (src_dtype == dst_dtype)
        tl_memcpy(dst, src, len * tl_size_of(dst_dtype));
    else
        pick(NULL, PAIR(src_dtype, dst_dtype))(src, dst, len, NULL);
}

void tl_convert(void *dst, tl_dtype dst_dtype, const void *src, tl_dtype src_dtype)
{
    tl_convert_array(dst, dst_dtype, src, src_dtype, 1);
}

int tl_exec_convert(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    if (src->dtype == dst->dtype)
        return tl_exec_copy(exec, src, dst);
    tl_map(exec, TL_GRAIN_MEMORY_BOUND, pick(exec, PAIR(src->dtype, dst->dtype)), src, dst, NULL);
    return 0;
}

tl_tensor *tl_tensor_convert(const tl_tensor *src, tl_tensor *dst, tl_dtype dtype)
{
    if (tl_check_data(src, "src") < 0 || tl_check_in_place(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, dtype);
    return tl_result_end(result, dst, result ? tl_exec_convert(NULL, src, result) : -1);
}
