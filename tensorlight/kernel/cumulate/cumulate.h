// SPDX-License-Identifier: Apache-2.0
// Kernels of cumulative sums and products along an axis.

#pragma once

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "tensorlight/tl_nn.h"

/** src and dst are [axis.outer, axis.len, axis.inner] and may be the same. */
typedef struct tl_cumulate_job {
    const void *src;
    void *dst;
    tl_axis axis;
    const tl_cumulate_param *param;
} tl_cumulate_job;

/** Computes the lines begin .. end-1 (tl_axis.h) of the tl_cumulate_job at `arg`. */
typedef void tl_cumulate_func(void *arg, size_t begin, size_t end);

#define TL_CUMULATE_KERNELS(ROW, arg)             \
    TL_KERNELS(ROW, arg, tl_cumulate, NUM, PLAIN) \
    TL_KERNELS(ROW, arg, tl_cumulate, F32, WIDE)
TL_CUMULATE_KERNELS(TL_KERNEL_DECLARE, tl_cumulate_func)
