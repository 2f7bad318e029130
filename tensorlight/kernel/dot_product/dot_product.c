// SPDX-License-Identifier: Apache-2.0
// The sum of products: checks and choice of the kernel. One thread: the order of a sum is part of
// its result.

#include "kernel/dot_product/dot_product.h"

#include <assert.h>

#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

TL_KERNEL_TABLE(pick, tl_dot_product_func, TL_DOT_PRODUCT_KERNELS)

int tl_exec_dot_product(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                        tl_tensor *dst)
{
    assert(src1->dtype == src2->dtype && src1->len == src2->len);
    assert(dst->dtype == src1->dtype && dst->len == 1);
    pick(exec, src1->dtype)(src1->data, src2->data, dst->data, (size_t)src1->len);
    return 0;
}

tl_tensor *tl_tensor_dot_product(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst)
{
    if (tl_check_data(src1, "src1") < 0 || tl_check_data(src2, "src2") < 0 ||
        tl_check_same_dtype(src1, src2) < 0 || tl_check_same_shape(src1, src2) < 0 ||
        tl_check_apart(dst, src1) < 0 || tl_check_apart(dst, src2) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, 1, (int[]){1}, src1->dtype);
    return tl_result_end(result, dst, result ? tl_exec_dot_product(NULL, src1, src2, result) : -1);
}
