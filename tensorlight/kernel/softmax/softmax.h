// SPDX-License-Identifier: Apache-2.0
// Kernels of softmax, and of its logarithm.

#pragma once

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"

/** src and dst are [axis.outer, axis.len, axis.inner] and may be the same; axis.len >= 1. */
typedef struct tl_softmax_job {
    const void *src;
    void *dst;
    tl_axis axis;
} tl_softmax_job;

/** Computes the lines begin .. end-1 (tl_axis.h) of the tl_softmax_job at `arg`. */
typedef void tl_softmax_func(void *arg, size_t begin, size_t end);

#define TL_LOGSOFTMAX_KERNELS(ROW, arg)             \
    TL_KERNELS(ROW, arg, tl_logsoftmax, FLT, PLAIN) \
    TL_KERNELS(ROW, arg, tl_logsoftmax, F32, SIMD)
TL_LOGSOFTMAX_KERNELS(TL_KERNEL_DECLARE, tl_softmax_func)

#define TL_SOFTMAX_KERNELS(ROW, arg)             \
    TL_KERNELS(ROW, arg, tl_softmax, FLT, PLAIN) \
    TL_KERNELS(ROW, arg, tl_softmax, F32, SIMD)
TL_SOFTMAX_KERNELS(TL_KERNEL_DECLARE, tl_softmax_func)
