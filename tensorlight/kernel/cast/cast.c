// SPDX-License-Identifier: Apache-2.0
// The conversions between types: choice of the kernel, and the public functions.

#include "kernel/cast/cast.h"

#include "tensor/tl_result.h"
#include "tensorlight/tl_elementwise.h"

#define PAIR(from, to)                    ((from)*TL_DTYPE_SIZE + (to))
#define ELEMENT(arg, name, from, to, isa) [isa][PAIR(from, to)] = name,
static tl_map_func *const casts[TL_ISA_SIZE][PAIR(TL_DTYPE_SIZE, 0)] = {TL_CAST_KERNELS(ELEMENT, )};
static tl_map_func *const conversions[TL_ISA_SIZE][PAIR(TL_DTYPE_SIZE, 0)] = {
    TL_CONVERT_KERNELS(ELEMENT, )};
TL_KERNEL_PICK(pick_cast, tl_map_func, casts)
TL_KERNEL_PICK(pick_conversion, tl_map_func, conversions)

tl_map_func *tl_cast_kernel(const tl_exec *exec, tl_dtype from, tl_dtype to)
{
    return from == to ? NULL : pick_cast(exec, PAIR(from, to));
}

static tl_map_func *conversion_kernel(const tl_exec *exec, tl_dtype from, tl_dtype to)
{
    return from == to ? NULL : pick_conversion(exec, PAIR(from, to));
}

/* ---- of arrays ---- */

void tl_convert_array(void *dst, tl_dtype dst_dtype, const void *src, tl_dtype src_dtype,
                      size_t len)
{
    if (src_dtype == dst_dtype)
        tl_memcpy(dst, src, len * tl_size_of(dst_dtype));
    else
        conversion_kernel(NULL, src_dtype, dst_dtype)(src, dst, len, NULL);
}

void tl_convert(void *dst, tl_dtype dst_dtype, const void *src, tl_dtype src_dtype)
{
    tl_convert_array(dst, dst_dtype, src, src_dtype, 1);
}

/* ---- of tensors ---- */

/** Selects tl_cast_kernel or conversion_kernel. */
typedef tl_map_func *kernel_of(const tl_exec *exec, tl_dtype from, tl_dtype to);

static int run(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, kernel_of *select)
{
    tl_map_func *const kernel = select(exec, src->dtype, dst->dtype);
    if (!kernel)
        return tl_exec_copy(exec, src, dst);
    tl_map(exec, TL_GRAIN_MEMORY_BOUND, kernel, src, dst, NULL);
    return 0;
}

static tl_tensor *run_checked(const tl_tensor *src, tl_tensor *dst, tl_dtype dtype,
                              kernel_of *select)
{
    if (tl_check_data(src, "src") < 0 || tl_check_in_place(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, dtype);
    return tl_result_end(result, dst, result ? run(NULL, src, result, select) : -1);
}

int tl_exec_cast(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    return run(exec, src, dst, tl_cast_kernel);
}

tl_tensor *tl_tensor_cast(const tl_tensor *src, tl_tensor *dst, tl_dtype dtype)
{
    return run_checked(src, dst, dtype, tl_cast_kernel);
}

int tl_exec_convert(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    return run(exec, src, dst, conversion_kernel);
}

tl_tensor *tl_tensor_convert(const tl_tensor *src, tl_tensor *dst, tl_dtype dtype)
{
    return run_checked(src, dst, dtype, conversion_kernel);
}
