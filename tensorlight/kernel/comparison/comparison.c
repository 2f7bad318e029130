// SPDX-License-Identifier: Apache-2.0
// The comparisons: choice of the kernel, and the public functions.

#include "kernel/comparison/comparison.h"

#include <assert.h>

#include "kernel/tl_kernel.h"
#include "tensor/tl_name.h"
#include "tensor/tl_result.h"

#define OP_NAME(arg, op, name, swaps) [op] = #op,
static const char *const names[TL_COMPARE_OP_SIZE] = {TL_COMPARISONS(OP_NAME, )};
TL_NAME_AND_FROM_STR(tl_compare_op, names, TL_COMPARE_OP_SIZE)

typedef struct comparison {
    int swaps;
    const tl_kernel_key *keys;
    tl_broadcast_func *const *kernels;
} comparison;

#define COMPARISON(arg, op, name, swaps)                                                         \
    [op] = {swaps,                                                                               \
            (const tl_kernel_key[]){TL_COMPARISON_KERNELS(TL_KERNEL_KEY, , name) TL_KERNEL_END}, \
            (tl_broadcast_func *const[]){TL_COMPARISON_KERNELS(TL_KERNEL_POINTER, , name) NULL}},
static const comparison comparisons[TL_COMPARE_OP_SIZE] = {TL_COMPARISONS(COMPARISON, )};

int tl_exec_compare(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                    tl_tensor *dst, tl_compare_op op)
{
    assert(src1->dtype == src2->dtype && dst->dtype == TL_BOOL);
    assert(op >= 0 && op < TL_COMPARE_OP_SIZE);
    const comparison *const c = &comparisons[op];
    const tl_tensor *const srcs[] = {c->swaps ? src2 : src1, c->swaps ? src1 : src2};
    tl_broadcast_func *const kernel = c->kernels[tl_kernel_find(c->keys, exec, (int)src1->dtype)];
    return tl_broadcast(exec, TL_GRAIN_MEMORY_BOUND, kernel, srcs, 2, dst);
}

tl_tensor *tl_tensor_compare(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst,
                             tl_compare_op op)
{
    if (tl_check_data(src1, "src1") < 0 || tl_check_data(src2, "src2") < 0 ||
        tl_check_same_dtype(src1, src2) < 0)
        return NULL;
    if (op < 0 || op >= TL_COMPARE_OP_SIZE)
        return tl_fail("compare op %d, expected 0 to %d", op, TL_COMPARE_OP_SIZE - 1), NULL;
    const tl_tensor *const srcs[] = {src1, src2};
    tl_tensor *const result = tl_broadcast_begin(dst, srcs, 2, TL_BOOL);
    return tl_result_end(result, dst, result ? tl_exec_compare(NULL, src1, src2, result, op) : -1);
}
