// SPDX-License-Identifier: Apache-2.0
// Sorting kernels: they compute the order of the elements without moving them.

#pragma once

#include "kernel/tl_kernel.h"

/** Writes the indices 0 .. len-1 to `order` [len], so that key[order[0]], key[order[1]], .. is
 *  sorted, equal keys by their index and NaN last. `other` [len] is scratch memory. If `stop` is
 *  requested, the order is unspecified. */
typedef void tl_sort1d_func(const void *key, size_t len, tl_sort_dir dir, int32_t *order,
                            int32_t *other, const tl_stop *stop);

#define TL_SORT1D_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_sort1d, ALL, PLAIN)
TL_SORT1D_KERNELS(TL_KERNEL_DECLARE, tl_sort1d_func)
