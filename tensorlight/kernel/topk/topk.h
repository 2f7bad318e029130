// SPDX-License-Identifier: Apache-2.0
// Kernels of the largest or smallest elements along an axis.

#ifndef TOPK_H
#define TOPK_H

#include <stdint.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"

/** src [axis.outer, axis.len, axis.inner] -> values, indices [axis.outer, k, axis.inner], k <=
 *  axis.len. */
typedef struct tl_topk_job {
    const void *src;
    void *values;
    int64_t *indices;
    tl_axis axis;
    size_t k;
    int is_smallest;
} tl_topk_job;

/** Computes the lines begin .. end-1 (tl_axis.h) of the tl_topk_job at `arg`. */
typedef void tl_topk_func(void *arg, size_t begin, size_t end);

#define TL_TOPK_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_topk, ALL, PLAIN)
TL_TOPK_KERNELS(TL_KERNEL_DECLARE, tl_topk_func)

#endif
