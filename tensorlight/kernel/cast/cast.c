// SPDX-License-Identifier: Apache-2.0
// The conversions between types: choice of the kernel, and the public functions.

#include "kernel/cast/cast.h"

#include "tensor/tl_result.h"
#include "tensorlight/tl_elementwise.h"

/** Between all types in plain C, between some in vectors. */
typedef struct conversion {
    tl_map_func *plain[TL_DTYPE_SIZE][TL_DTYPE_SIZE];
    const tl_kernel_key *keys; // by PAIR
    tl_map_func *const *vectors;
} conversion;

#define PAIR(from, to)                    ((from)*TL_DTYPE_SIZE + (to))
#define PLAIN(arg, name, from, to, isa)   [from][to] = name,
#define KEY(arg, name, from, to, isa)     {isa, PAIR(from, to)},
#define POINTER(arg, name, from, to, isa) name,
static const conversion casts = {{TL_CAST_PLAIN(PLAIN, )},
                                 (const tl_kernel_key[]){TL_CAST_SIMD(KEY, ) TL_KERNEL_END},
                                 (tl_map_func *const[]){TL_CAST_SIMD(POINTER, ) NULL}};
static const conversion conversions = {
    {TL_CONVERT_PLAIN(PLAIN, )},
    (const tl_kernel_key[]){TL_CONVERT_SIMD(KEY, ) TL_KERNEL_END},
    (tl_map_func *const[]){TL_CONVERT_SIMD(POINTER, ) NULL}};

/** NULL where the types are the same. */
static tl_map_func *kernel_of(const conversion *c, const tl_exec *exec, tl_dtype from, tl_dtype to)
{
    tl_map_func *const vectors = c->vectors[tl_kernel_find(c->keys, exec, PAIR(from, to))];
    return from == to ? NULL : vectors ? vectors : c->plain[from][to];
}

tl_map_func *tl_cast_kernel(const tl_exec *exec, tl_dtype from, tl_dtype to)
{
    return kernel_of(&casts, exec, from, to);
}

/* ---- of arrays ---- */

void tl_convert_array(void *dst, tl_dtype dst_dtype, const void *src, tl_dtype src_dtype,
                      size_t len)
{
    if (src_dtype == dst_dtype)
        tl_memcpy(dst, src, len * tl_size_of(dst_dtype));
    else
        kernel_of(&conversions, NULL, src_dtype, dst_dtype)(src, dst, len, NULL);
}

void tl_convert(void *dst, tl_dtype dst_dtype, const void *src, tl_dtype src_dtype)
{
    if (src_dtype == dst_dtype)
        tl_memcpy(dst, src, tl_size_of(dst_dtype));
    else
        conversions.plain[src_dtype][dst_dtype](src, dst, 1, NULL);
}

/* ---- of tensors ---- */

static int run(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, const conversion *c)
{
    tl_map_func *const kernel = kernel_of(c, exec, src->dtype, dst->dtype);
    if (!kernel)
        return tl_exec_copy(exec, src, dst);
    tl_map(exec, TL_GRAIN_MEMORY_BOUND, kernel, src, dst, NULL);
    return 0;
}

static tl_tensor *run_checked(const tl_tensor *src, tl_tensor *dst, tl_dtype dtype,
                              const conversion *c)
{
    if (tl_check_data(src, "src") < 0 || tl_check_in_place(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, dtype);
    return tl_result_end(result, dst, result ? run(NULL, src, result, c) : -1);
}

int tl_exec_cast(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    return run(exec, src, dst, &casts);
}

tl_tensor *tl_tensor_cast(const tl_tensor *src, tl_tensor *dst, tl_dtype dtype)
{
    return run_checked(src, dst, dtype, &casts);
}

int tl_exec_convert(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    return run(exec, src, dst, &conversions);
}

tl_tensor *tl_tensor_convert(const tl_tensor *src, tl_tensor *dst, tl_dtype dtype)
{
    return run_checked(src, dst, dtype, &conversions);
}
