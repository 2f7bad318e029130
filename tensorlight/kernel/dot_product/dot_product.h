// SPDX-License-Identifier: Apache-2.0
// Kernels of the sum of products.

#ifndef DOT_PRODUCT_H
#define DOT_PRODUCT_H

#include "kernel/tl_kernel.h"

/** *dst = the sum of src1[i] * src2[i], i < len. */
typedef void tl_dot_product_func(const void *src1, const void *src2, void *dst, size_t len);

#define TL_DOT_PRODUCT_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_dot_product, ALL, PLAIN)
TL_DOT_PRODUCT_KERNELS(TL_KERNEL_DECLARE, tl_dot_product_func)

#endif
