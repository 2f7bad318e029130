// SPDX-License-Identifier: Apache-2.0
// Kernels of pooling.

#ifndef POOL2D_H
#define POOL2D_H

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_nn.h"

/** src [planes, ih, iw] -> dst [planes, oh, ow]; every window meets src. */
typedef struct tl_pool2d_job {
    const void *src;
    void *dst;
    int ih, iw, oh, ow;
    tl_pool2d_param param;
    const tl_stop *stop; /* looked at in each line: windows may be large */
} tl_pool2d_job;

/** Computes the planes begin .. end-1 for the tl_pool2d_job at `arg`. */
typedef void tl_pool2d_func(void *arg, size_t begin, size_t end);

#define TL_AVGPOOL2D_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_avgpool2d, FLT, PLAIN)
TL_AVGPOOL2D_KERNELS(TL_KERNEL_DECLARE, tl_pool2d_func)

#define TL_MAXPOOL2D_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_maxpool2d, ALL, PLAIN)
TL_MAXPOOL2D_KERNELS(TL_KERNEL_DECLARE, tl_pool2d_func)

#endif
