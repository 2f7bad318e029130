// SPDX-License-Identifier: Apache-2.0
// Kernels of scale and shift per channel.

#pragma once

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"

/** src and dst are [axis.outer, axis.len, axis.inner] and may be the same; scale, shift [axis.len],
 *  shift may be NULL. */
typedef struct tl_affine_job {
    const void *src, *scale, *shift;
    void *dst;
    tl_axis axis;
} tl_affine_job;

/** dst = src * scale + shift for the elements begin .. end-1 of the tl_affine_job at `arg`. */
typedef void tl_affine_func(void *arg, size_t begin, size_t end);

/** The neutral element of addition: 0 would turn -0 into 0. */
#define TL_AFFINE_NOTHING (-0.0f)

#define TL_AFFINE_KERNELS(ROW, arg)             \
    TL_KERNELS(ROW, arg, tl_affine, FLT, PLAIN) \
    TL_KERNELS(ROW, arg, tl_affine, F32, WIDE)
TL_AFFINE_KERNELS(TL_KERNEL_DECLARE, tl_affine_func)
