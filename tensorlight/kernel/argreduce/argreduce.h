// SPDX-License-Identifier: Apache-2.0
// Kernels of the index of the extreme along an axis.

#ifndef ARGREDUCE_H
#define ARGREDUCE_H

#include <stdint.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"

/** src [axis.outer, axis.len, axis.inner], axis.len >= 1 -> dst [axis.outer, axis.inner]. */
typedef struct tl_argreduce_job {
    const void *src;
    int64_t *dst;
    tl_axis axis;
    int is_min, is_last;
} tl_argreduce_job;

/** Computes the lines begin .. end-1 (tl_axis.h) of the tl_argreduce_job at `arg`. */
typedef void tl_argreduce_func(void *arg, size_t begin, size_t end);

#define TL_ARGREDUCE_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_argreduce, ALL, PLAIN)
TL_ARGREDUCE_KERNELS(TL_KERNEL_DECLARE, tl_argreduce_func)

#endif
