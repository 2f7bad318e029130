// SPDX-License-Identifier: Apache-2.0
// Kernels of selections: positions of nonzero elements, and comparison of slices.

#ifndef SELECT_H
#define SELECT_H

#include <stdint.h>

#include "kernel/tl_kernel.h"

/** Writes the positions of the elements that are not 0 to `to`, unless that is NULL. Returns their
 * number. */
typedef size_t tl_nonzero_kernel(const void *src, size_t len, int64_t *to);

/** Two slices of a tensor: `outer` runs of `inner` elements, `stride` elements apart. */
typedef struct tl_slices {
    size_t outer, inner, stride;
} tl_slices;

/** Compares lexicographically: -1, 0 or 1. NaN equals NaN and is larger than all numbers. */
typedef int tl_compare_kernel(const void *a, const void *b, const tl_slices *shape);

#define TL_NONZERO_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_nonzero, ALL, PLAIN)
TL_NONZERO_KERNELS(TL_KERNEL_DECLARE, tl_nonzero_kernel)

#define TL_COMPARE_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_compare, ALL, PLAIN)
TL_COMPARE_KERNELS(TL_KERNEL_DECLARE, tl_compare_kernel)

#endif
