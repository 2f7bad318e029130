// SPDX-License-Identifier: Apache-2.0
// The binary operations: choice of the kernel, and the public functions.

#include "kernel/binary/binary.h"

#include <assert.h>

#include "tensor/tl_name.h"
#include "tensor/tl_result.h"

#define OP_NAME(arg, op, name, types, grain, sets) [op] = #op,
static const char *const names[TL_BINARY_OP_SIZE] = {TL_BINARY_OPS(OP_NAME, )};
TL_NAME_AND_FROM_STR(tl_binary_op, names, TL_BINARY_OP_SIZE)

typedef struct operation {
    size_t grain;
    tl_broadcast_func *kernels[TL_ISA_SIZE][TL_DTYPE_SIZE];
} operation;

#define OPERATION(arg, op, name, types, grain, sets) \
    [op] = {grain, {TL_BINARY_KERNELS(TL_KERNEL_ELEMENT, , name, types, sets)}},
static const operation operations[TL_BINARY_OP_SIZE] = {TL_BINARY_OPS(OPERATION, )};
TL_KERNEL_PICK_FROM(pick, tl_broadcast_func)

int tl_binary_op_takes(tl_binary_op op, tl_dtype dtype)
{
    assert(op >= 0 && op < TL_BINARY_OP_SIZE && tl_dtype_is_valid(dtype));
    return operations[op].kernels[TL_ISA_C][dtype] != NULL;
}

tl_broadcast_func *tl_binary_kernel(const tl_exec *exec, tl_binary_op op, tl_dtype dtype)
{
    assert(tl_binary_op_takes(op, dtype));
    return pick(operations[op].kernels, exec, dtype);
}

size_t tl_binary_grain(tl_binary_op op)
{
    return operations[op].grain;
}

int tl_exec_binary(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                   tl_tensor *dst, tl_binary_op op)
{
    assert(src1->dtype == src2->dtype && src1->dtype == dst->dtype);
    const tl_tensor *const srcs[] = {src1, src2};
    tl_broadcast_func *const kernel = tl_binary_kernel(exec, op, dst->dtype);
    if (tl_broadcast(exec, operations[op].grain, kernel, srcs, 2, dst) < 0)
        return tl_fail("division by zero in %s", tl_dtype_name(dst->dtype));
    return 0;
}

static int check_op(tl_binary_op op, const tl_tensor *src)
{
    if (op < 0 || op >= TL_BINARY_OP_SIZE)
        return tl_fail("binary op %d, expected 0 to %d", op, TL_BINARY_OP_SIZE - 1);
    if (!tl_binary_op_takes(op, src->dtype))
        return tl_fail("'src1' has dtype %s, which %s does not take", tl_dtype_name(src->dtype),
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
