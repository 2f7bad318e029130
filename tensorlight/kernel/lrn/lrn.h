// SPDX-License-Identifier: Apache-2.0
// Kernels of local response normalization.

#ifndef LRN_H
#define LRN_H

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "tensorlight/tl_nn.h"

/** src and dst are [axis.outer, axis.len, axis.inner]: images, channels, places; not the same. */
typedef struct tl_lrn_job {
    const void *src;
    void *dst;
    tl_axis axis;
    const tl_lrn_param *param;
} tl_lrn_job;

/** Computes the rows begin .. end-1 of axis.inner places each, counted over images and channels, of
 *  the tl_lrn_job at `arg`. */
typedef void tl_lrn_func(void *arg, size_t begin, size_t end);

#define TL_LRN_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_lrn, FLT, PLAIN)
TL_LRN_KERNELS(TL_KERNEL_DECLARE, tl_lrn_func)

#endif
