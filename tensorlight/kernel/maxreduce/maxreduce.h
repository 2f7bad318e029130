// SPDX-License-Identifier: Apache-2.0
// Kernels of the maximum along an axis.

#ifndef MAXREDUCE_H
#define MAXREDUCE_H

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"

/** src [axis.outer, axis.len, axis.inner], axis.len >= 1 -> dst, arg [axis.outer, axis.inner]. */
typedef struct tl_maxreduce_job {
    const void *src;
    void *dst;
    int32_t *arg; /* or NULL */
    tl_axis axis;
} tl_maxreduce_job;

/** Computes the lines begin .. end-1 (tl_axis.h) of the tl_maxreduce_job at `arg`. */
typedef void tl_maxreduce_func(void *arg, size_t begin, size_t end);

#define TL_MAXREDUCE_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_maxreduce, ALL, PLAIN)
TL_MAXREDUCE_KERNELS(TL_KERNEL_DECLARE, tl_maxreduce_func)

#endif
