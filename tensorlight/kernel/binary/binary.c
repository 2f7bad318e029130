// SPDX-License-Identifier: Apache-2.0
// The binary operations: choice of the kernel, and the public functions.

#include "kernel/binary/binary.h"

#include <assert.h>
#include <inttypes.h>

#include "tensor/tl_element.h"
#include "tensor/tl_name.h"
#include "tensor/tl_result.h"
#include "tensor/tl_storage.h"

#define OP_NAME(arg, NAME, ...) "TL_BINARY_" #NAME,
static const char *const names[TL_BINARY_OP_SIZE] = {TL_BINARY_OPS(OP_NAME, )};
TL_NAME_AND_FROM_STR(tl_binary_op, names, TL_BINARY_OP_SIZE)

typedef struct operation {
    size_t grain;
    const tl_kernel_key *keys;
    tl_broadcast_func *const *kernels;
} operation;

#define OPERATION(arg, NAME, name, types, cost, sets, ...)                                         \
    {TL_GRAIN_##cost##_BOUND,                                                                      \
     (const tl_kernel_key[]){TL_BINARY_KERNELS(TL_KERNEL_KEY, , name, types, sets) TL_KERNEL_END}, \
     (tl_broadcast_func *const[]){TL_BINARY_KERNELS(TL_KERNEL_POINTER, , name, types, sets)        \
                                      NULL}},
static const operation operations[TL_BINARY_OP_SIZE] = {TL_BINARY_OPS(OPERATION, )};

static tl_broadcast_func *kernel_of(const tl_exec *exec, tl_binary_op op, tl_dtype dtype)
{
    const operation *const o = &operations[op];
    return o->kernels[tl_kernel_find(o->keys, exec, (int)dtype)];
}

int tl_binary_op_takes(tl_binary_op op, tl_dtype dtype)
{
    assert(op >= 0 && op < TL_BINARY_OP_SIZE && tl_dtype_is_valid(dtype));
    return kernel_of(NULL, op, dtype) != NULL;
}

tl_broadcast_func *tl_binary_kernel(const tl_exec *exec, tl_binary_op op, tl_dtype dtype)
{
    assert(tl_binary_op_takes(op, dtype));
    return kernel_of(exec, op, dtype);
}

size_t tl_binary_grain(tl_binary_op op)
{
    return operations[op].grain;
}

static int fail_division(tl_dtype dtype)
{
    return tl_fail("division by zero in %s", tl_dtype_name(dtype));
}

int tl_exec_binary(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                   tl_tensor *dst, tl_binary_op op)
{
    assert(src1->dtype == src2->dtype && src1->dtype == dst->dtype);
    const tl_tensor *const srcs[] = {src1, src2};
    tl_broadcast_func *const kernel = tl_binary_kernel(exec, op, dst->dtype);
    return tl_broadcast(exec, operations[op].grain, kernel, srcs, 2, dst) < 0
               ? fail_division(dst->dtype)
               : 0;
}

static int check_op(tl_binary_op op, const tl_tensor *src)
{
    if (op < 0 || op >= TL_BINARY_OP_SIZE)
        return tl_fail("binary op %d, expected 0 to %d", op, TL_BINARY_OP_SIZE - 1);
    if (!tl_binary_op_takes(op, src->dtype))
        return tl_fail("'src1' has dtype %s, which %s does not support", tl_dtype_name(src->dtype),
                       names[op]);
    return 0;
}

tl_tensor *tl_tensor_binary(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst,
                            tl_binary_op op)
{
    if (tl_check_data(src1, "src1") < 0 || tl_check_data(src2, "src2") < 0 ||
        tl_check_same_dtype(src1, src2) < 0 || check_op(op, src1) < 0)
        return NULL;
    const tl_tensor *const srcs[] = {src1, src2};
    tl_tensor *const result = tl_broadcast_begin(dst, srcs, 2, src1->dtype);
    return tl_result_end(result, dst, result ? tl_exec_binary(NULL, src1, src2, result, op) : -1);
}

// The operations of the catalogue

// Of floats, of integers, of bool.
static const tl_binary_op elews[TL_ELEW_OP_SIZE][3] = {
    [TL_MUL] = {TL_BINARY_MUL, TL_BINARY_MUL, TL_BINARY_AND},
    [TL_DIV] = {TL_BINARY_DIV, TL_BINARY_DIV, TL_BINARY_DIV},
    [TL_SUM] = {TL_BINARY_ADD, TL_BINARY_ADD, TL_BINARY_OR},
    [TL_SUB] = {TL_BINARY_SUB, TL_BINARY_SUB, TL_BINARY_XOR},
    [TL_MAX] = {TL_BINARY_PICK_MAX, TL_BINARY_MAX, TL_BINARY_OR},
    [TL_MIN] = {TL_BINARY_PICK_MIN, TL_BINARY_MIN, TL_BINARY_AND},
    [TL_POW] = {TL_BINARY_POW, TL_BINARY_POW_DOUBLE, TL_BINARY_POW_DOUBLE},
};

tl_binary_op tl_elew_op_as_binary(tl_elew_op op, tl_dtype dtype)
{
    assert(op >= 0 && op < TL_ELEW_OP_SIZE);
    return elews[op][tl_dtype_is_float(dtype) ? 0 : dtype == TL_BOOL ? 2 : 1];
}

static int check_elew_op(tl_elew_op op)
{
    if (op < 0 || op >= TL_ELEW_OP_SIZE)
        return tl_fail("elew op %d, expected 0 to %d", op, TL_ELEW_OP_SIZE - 1);
    return 0;
}

int tl_elew(const void *p1, const void *p2, void *ret, tl_elew_op op, tl_dtype dtype)
{
    if (check_elew_op(op) < 0)
        return -1;
    if (dtype == TL_STRING)
        return tl_fail("elements are TL_STRING, expected numbers");
    if (!tl_dtype_is_computed(dtype))
        return tl_fail("dtype %s, expected a type to compute with", tl_dtype_name(dtype));
    const void *const srcs[] = {p1, p2};
    tl_broadcast_func *const kernel =
        tl_binary_kernel(NULL, tl_elew_op_as_binary(op, dtype), dtype);
    return kernel(srcs, (int[]){1, 1}, ret, 1) < 0 ? fail_division(dtype) : 0;
}

#define ELEW(dtype, tag, ...)                                                       \
    static int elew_##tag(const void *p1, const void *p2, void *ret, tl_elew_op op) \
    {                                                                               \
        return tl_elew(p1, p2, ret, op, dtype);                                     \
    }
TL_TYPES(ELEW)
TL_STORAGE_TYPES(ELEW)
ELEW(TL_STRING, string)

tl_elew_func tl_elew_getfunc(tl_dtype dtype)
{
#define ELEMENT(dtype, tag, ...) [dtype] = elew_##tag,
    static const tl_elew_func funcs[TL_DTYPE_SIZE] = {TL_TYPES(ELEMENT) TL_STORAGE_TYPES(ELEMENT)
                                                          ELEMENT(TL_STRING, string)};
    return funcs[dtype];
}

int tl_exec_elew(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst,
                 tl_elew_op op)
{
    return tl_exec_binary(exec, src1, src2, dst, tl_elew_op_as_binary(op, dst->dtype));
}

int tl_exec_elew_param(const tl_exec *exec, const tl_tensor *src, double param, tl_tensor *dst,
                       tl_elew_op op)
{
    uint64_t element;
    const tl_tensor scalar = {.dtype = src->dtype, .len = 1, .data = &element};
    tl_convert(&element, src->dtype, &param, TL_DOUBLE);
    return tl_exec_elew(exec, src, &scalar, dst, op);
}

tl_tensor *tl_tensor_elew(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst,
                          tl_elew_op op)
{
    if (tl_check_data(src1, "src1") < 0 || tl_check_data(src2, "src2") < 0 ||
        check_elew_op(op) < 0 || tl_check_same_dtype(src1, src2) < 0 ||
        tl_check_same_shape(src1, src2) < 0 || tl_check_in_place(dst, src1) < 0 ||
        tl_check_in_place(dst, src2) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src1->ndim, src1->dims, src1->dtype);
    return tl_result_end(result, dst, result ? tl_exec_elew(NULL, src1, src2, result, op) : -1);
}

tl_tensor *tl_tensor_elew_param(const tl_tensor *src, double param, tl_tensor *dst, tl_elew_op op)
{
    if (tl_check_data(src, "src") < 0 || check_elew_op(op) < 0 || tl_check_in_place(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_elew_param(NULL, src, param, result, op) : -1);
}
