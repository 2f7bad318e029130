// SPDX-License-Identifier: Apache-2.0
// The sum of products in plain C: floats in double, integers modulo 2^64, which keeps their own
// lower bits, TL_BOOL as OR of ANDs.

#ifndef T // once

#include "kernel/dot_product/dot_product.h"

#include "tensor/tl_element.h"

#define SUM         double
#define TL_TEMPLATE "kernel/dot_product/dot_product_c.c"
#include "tensor/tl_each_float.inc.h"
#undef SUM

#define SUM uint64_t
#include "tensor/tl_each_int.inc.h"
#undef SUM

void tl_dot_product_b8_c(const void *src1, const void *src2, void *dst, size_t len)
{
    const uint8_t *const a = src1, *const b = src2;
    uint8_t any = 0;
    for (size_t i = 0; i < len; i++)
        any |= a[i] && b[i];
    *(uint8_t *)dst = any;
}

#else // for each type

void NAME(tl_dot_product, c)(const void *src1, const void *src2, void *dst, size_t len)
{
    const T *const a = src1, *const b = src2;
    SUM sum = 0;
    for (size_t i = 0; i < len; i++)
        sum += (SUM)LOAD(a[i]) * (SUM)LOAD(b[i]);
    *(T *)dst = STORE((C)sum);
}

#endif
