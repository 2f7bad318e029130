// SPDX-License-Identifier: Apache-2.0
// The dot product: floats in double, integers modulo 2^64, whose low bits are the result,
// TL_BOOL as OR of ANDs. One thread: the order of a sum is part of its result.

#ifndef T // once

#include <assert.h>

#include "kernel/tl_kernel.h"
#include "tensor/tl_element.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

// *dst = the sum of src1[i] * src2[i], i < len.
typedef void dot_product_func(const void *src1, const void *src2, void *dst, size_t len);

#define SUM         double
#define TL_TEMPLATE "kernel/dot_product/dot_product.c"
#include "tensor/tl_each_float.inc.h"
#undef SUM

#define SUM uint64_t
#include "tensor/tl_each_int.inc.h"
#undef SUM

static void dot_product_b8_c(const void *src1, const void *src2, void *dst, size_t len)
{
    const uint8_t *const a = src1, *const b = src2;
    uint8_t any = 0;
    for (size_t i = 0; i < len; i++)
        any |= a[i] && b[i];
    *(uint8_t *)dst = any;
}

TL_PLAIN_TABLE(pick, dot_product_func, dot_product, ALL)

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
    if (tl_check_operand(src1, "src1", dst) < 0 || tl_check_operand(src2, "src2", dst) < 0 ||
        tl_check_same_dtype(src1, src2) < 0 || tl_check_same_shape(src1, src2) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, 1, (int[]){1}, src1->dtype);
    return tl_result_end(result, dst, result ? tl_exec_dot_product(NULL, src1, src2, result) : -1);
}

#else // for each type

static void NAME(dot_product, c)(const void *src1, const void *src2, void *dst, size_t len)
{
    const T *const a = src1, *const b = src2;
    SUM sum = 0;
    for (size_t i = 0; i < len; i++)
        sum += (SUM)LOAD(a[i]) * (SUM)LOAD(b[i]);
    *(T *)dst = STORE((C)sum);
}

#endif
