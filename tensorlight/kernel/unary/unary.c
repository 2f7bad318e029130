// SPDX-License-Identifier: Apache-2.0
// Unary element-wise functions: selection of the kernel, and the public functions.

#include "kernel/unary/unary.h"

#include <assert.h>

#include "tensor/tl_name.h"
#include "tensor/tl_result.h"

#define FUNC_NAME(arg, NAME, ...) "TL_UNARY_" #NAME,
static const char *const names[TL_UNARY_FUNC_SIZE] = {TL_UNARY_FUNCS(FUNC_NAME, )};
TL_NAME_AND_FROM_STR(tl_unary_func, names, TL_UNARY_FUNC_SIZE)

typedef struct function {
    size_t grain;
    const tl_kernel_key *keys;
    tl_map_func *const *kernels;
} function;

#define FUNCTION(arg, NAME, name, types, cost, sets, ...)                                         \
    {TL_GRAIN_##cost##_BOUND,                                                                     \
     (const tl_kernel_key[]){TL_UNARY_KERNELS(TL_KERNEL_KEY, , name, types, sets) TL_KERNEL_END}, \
     (tl_map_func *const[]){TL_UNARY_KERNELS(TL_KERNEL_POINTER, , name, types, sets) NULL}},
static const function functions[TL_UNARY_FUNC_SIZE] = {TL_UNARY_FUNCS(FUNCTION, )};

static tl_map_func *kernel_of(const tl_exec *exec, tl_unary_func func, tl_dtype dtype)
{
    const function *const f = &functions[func];
    return f->kernels[tl_kernel_find(f->keys, exec, (int)dtype)];
}

int tl_unary_func_takes(tl_unary_func func, tl_dtype dtype)
{
    assert(func >= 0 && func < TL_UNARY_FUNC_SIZE && tl_dtype_is_valid(dtype));
    return kernel_of(NULL, func, dtype) != NULL;
}

tl_map_func *tl_unary_kernel(const tl_exec *exec, tl_unary_func func, tl_dtype dtype)
{
    assert(tl_unary_func_takes(func, dtype));
    return kernel_of(exec, func, dtype);
}

size_t tl_unary_grain(tl_unary_func func)
{
    return functions[func].grain;
}

int tl_exec_unary(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, tl_unary_func func,
                  double alpha, double beta)
{
    assert(src->dtype == dst->dtype && tl_unary_func_takes(func, src->dtype));
    const tl_unary_param param = {alpha, beta};
    tl_map(exec, functions[func].grain, tl_unary_kernel(exec, func, src->dtype), src, dst, &param);
    return 0;
}

static int check_func(tl_unary_func func, const tl_tensor *src)
{
    if (func < 0 || func >= TL_UNARY_FUNC_SIZE)
        return tl_fail("function %d, expected 0 to %d", func, TL_UNARY_FUNC_SIZE - 1);
    if (!tl_unary_func_takes(func, src->dtype))
        return tl_fail("'src' has dtype %s, which %s does not support", tl_dtype_name(src->dtype),
                       names[func]);
    return 0;
}

tl_tensor *tl_tensor_unary(const tl_tensor *src, tl_tensor *dst, tl_unary_func func, double alpha,
                           double beta)
{
    if (tl_check_data(src, "src") < 0 || check_func(func, src) < 0 ||
        tl_check_in_place(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_unary(NULL, src, result, func, alpha, beta) : -1);
}

// Functions of the catalogue

int tl_exec_relu(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    return tl_exec_unary(exec, src, dst, TL_UNARY_RELU, 0, 0);
}

tl_tensor *tl_tensor_relu(const tl_tensor *src, tl_tensor *dst)
{
    return tl_tensor_unary(src, dst, TL_UNARY_RELU, 0, 0);
}

void tl_lrelu(void *dst, const void *src, float negslope, tl_dtype dtype)
{
    const tl_unary_param param = {(double)negslope, 0};
    tl_unary_kernel(NULL, TL_UNARY_LRELU, dtype)(src, dst, 1, &param);
}

int tl_exec_lrelu(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, float negslope)
{
    return tl_exec_unary(exec, src, dst, TL_UNARY_LRELU, (double)negslope, 0);
}

tl_tensor *tl_tensor_lrelu(const tl_tensor *src, tl_tensor *dst, float negslope)
{
    return tl_tensor_unary(src, dst, TL_UNARY_LRELU, (double)negslope, 0);
}

int tl_exec_sigmoid(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    return tl_exec_unary(exec, src, dst, TL_UNARY_SIGMOID, 0, 0);
}

tl_tensor *tl_tensor_sigmoid(const tl_tensor *src, tl_tensor *dst)
{
    return tl_tensor_unary(src, dst, TL_UNARY_SIGMOID, 0, 0);
}
