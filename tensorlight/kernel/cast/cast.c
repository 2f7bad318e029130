// SPDX-License-Identifier: Apache-2.0
// The conversions between types: choice of the kernel, and the public functions.

#include "kernel/cast/cast.h"

#include <string.h>

#include "tensor/tl_name.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_elementwise.h"

// Between all types to compute with in plain C, between some in vectors.
typedef struct conversion {
    tl_map_func *plain[TL_DTYPE_COMPUTED_SIZE][TL_DTYPE_COMPUTED_SIZE];
    const tl_kernel_key *keys; // by PAIR
    tl_map_func *const *vectors;
} conversion;

#define PAIR(from, to)                    ((from)*TL_DTYPE_COMPUTED_SIZE + (to))
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

// NULL where the types are the same.
static tl_map_func *kernel_of(const conversion *c, const tl_exec *exec, tl_dtype from, tl_dtype to)
{
    tl_map_func *const vectors = c->vectors[tl_kernel_find(c->keys, exec, PAIR(from, to))];
    return from == to ? NULL : vectors ? vectors : c->plain[from][to];
}

tl_map_func *tl_cast_kernel(const tl_exec *exec, tl_dtype from, tl_dtype to)
{
    return kernel_of(&casts, exec, from, to);
}

static tl_map_func *convert_kernel(const tl_exec *exec, tl_dtype from, tl_dtype to)
{
    return kernel_of(&conversions, exec, from, to);
}

// Types that only store values

static int are_computed(tl_dtype from, tl_dtype to)
{
    return tl_dtype_is_computed(from) && tl_dtype_is_computed(to);
}

static tl_storage_cast storage_cast(const conversion *c, tl_dtype from, tl_dtype to)
{
    const int converts = c == &conversions;
    return (tl_storage_cast){.from = from,
                             .to = to,
                             .saturates = converts,
                             .rule = {1, converts ? TL_POWER_NEAREST : TL_POWER_UP},
                             .kernel = converts ? convert_kernel : tl_cast_kernel};
}

// Of arrays

// Conversions from and to strings return 0 and the empty string, which has the same bytes.
static int has_strings(tl_dtype from, tl_dtype to)
{
    return from == TL_STRING || to == TL_STRING;
}

void tl_convert_array(void *dst, tl_dtype dst_dtype, const void *src, tl_dtype src_dtype,
                      size_t len)
{
    const tl_storage_cast c = storage_cast(&conversions, src_dtype, dst_dtype);
    if (src_dtype == dst_dtype)
        tl_memcpy(dst, src, len * tl_size_of(dst_dtype));
    else if (has_strings(src_dtype, dst_dtype))
        memset(dst, 0, len * tl_size_of(dst_dtype));
    else if (!are_computed(src_dtype, dst_dtype))
        tl_cast_storage(src, dst, len, &c);
    else
        convert_kernel(NULL, src_dtype, dst_dtype)(src, dst, len, NULL);
}

void tl_convert(void *dst, tl_dtype dst_dtype, const void *src, tl_dtype src_dtype)
{
    if (src_dtype == dst_dtype)
        tl_memcpy(dst, src, tl_size_of(dst_dtype));
    else if (!are_computed(src_dtype, dst_dtype))
        tl_convert_array(dst, dst_dtype, src, src_dtype, 1);
    else
        conversions.plain[src_dtype][dst_dtype](src, dst, 1, NULL);
}

// Of tensors

// Whether a cast keeps the bits: between integers of one size, of which bools are none.
static int keeps_bits(tl_dtype from, tl_dtype to)
{
    return are_computed(from, to) && tl_size_of(from) == tl_size_of(to) && from != TL_BOOL &&
           to != TL_BOOL && !tl_dtype_is_float(from) && !tl_dtype_is_float(to);
}

static int run(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, const conversion *c)
{
    const tl_storage_cast param = storage_cast(c, src->dtype, dst->dtype);
    if (src->dtype == dst->dtype || (c == &casts && keeps_bits(src->dtype, dst->dtype))) {
        tl_tensor bits = *src;
        bits.dtype = dst->dtype;
        return tl_exec_copy(exec, &bits, dst);
    }
    tl_map_func *const kernel = are_computed(src->dtype, dst->dtype)
                                    ? kernel_of(c, exec, src->dtype, dst->dtype)
                                    : tl_cast_storage;
    tl_map(exec, TL_GRAIN_MEMORY_BOUND, kernel, src, dst, &param);
    return 0;
}

static tl_tensor *run_checked(const tl_tensor *src, tl_tensor *dst, tl_dtype dtype,
                              const conversion *c)
{
    if (tl_check_stored(src, "src") < 0 || tl_check_in_place(dst, src) < 0)
        return NULL;
    if (dtype == TL_STRING)
        return tl_fail("dtype TL_STRING, expected a number type"), NULL;
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

// To floats of 8 bits and less

#define NAME(value) [value] = #value
static const char *const rounding_names[TL_POWER_ROUNDING_SIZE] = {
    NAME(TL_POWER_UP), NAME(TL_POWER_DOWN), NAME(TL_POWER_NEAREST)};
#undef NAME
TL_NAME_AND_FROM_STR(tl_power_rounding, rounding_names, TL_POWER_ROUNDING_SIZE)

static int check_float8(tl_dtype dtype, tl_power_rounding rounding)
{
    if (!tl_dtype_is_valid(dtype) || !tl_dtype_is_stored(dtype) || !tl_dtype_has_fractions(dtype))
        return tl_fail("'dst' has dtype %s, expected a float of 8 bits or less",
                       tl_dtype_is_valid(dtype) ? tl_dtype_name(dtype) : "TL_DTYPE_INVALID");
    if (rounding < 0 || rounding >= TL_POWER_ROUNDING_SIZE)
        return tl_fail("rounding %d, expected 0 to %d", rounding, TL_POWER_ROUNDING_SIZE - 1);
    return 0;
}

int tl_exec_cast_float8(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int saturates,
                        tl_power_rounding rounding)
{
    if (check_float8(dst->dtype, rounding) < 0)
        return -1;
    if (src->dtype == dst->dtype)
        return tl_exec_copy(exec, src, dst);
    tl_storage_cast param = storage_cast(&casts, src->dtype, dst->dtype);
    param.rule = (tl_storage_rule){saturates, rounding};
    tl_map(exec, TL_GRAIN_MEMORY_BOUND, tl_cast_storage, src, dst, &param);
    return 0;
}

tl_tensor *tl_tensor_cast_float8(const tl_tensor *src, tl_tensor *dst, tl_dtype dtype,
                                 int saturates, tl_power_rounding rounding)
{
    if (tl_check_stored(src, "src") < 0 || check_float8(dtype, rounding) < 0 ||
        tl_check_in_place(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_cast_float8(NULL, src, result, saturates, rounding) : -1);
}
