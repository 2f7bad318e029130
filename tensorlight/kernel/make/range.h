// SPDX-License-Identifier: Apache-2.0
// Kernels of arithmetic progressions in the type of their elements.

#ifndef RANGE_H
#define RANGE_H

#include "kernel/tl_kernel.h"

/** dst[i] = start + (first + i) * delta for i < len; integers wrap. */
typedef void tl_range_kernel(const void *start, const void *delta, size_t first, void *dst,
                             size_t len);

#define TL_RANGE_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_range, NUM, PLAIN)
TL_RANGE_KERNELS(TL_KERNEL_DECLARE, tl_range_kernel)

#endif
