// SPDX-License-Identifier: Apache-2.0
// Kernels of convolution and deconvolution.

#ifndef CONV2D_H
#define CONV2D_H

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_nn.h"

/** Shapes: src [n, group * ic, ih, iw], dst [n, group * oc, oh, ow], oh and ow >= 1; weight
 *  [group * oc, ic, KH, KW], of a deconvolution [group * ic, oc, KH, KW]; bias [group * oc] or
 *  NULL. */
typedef struct tl_conv2d_job {
    const void *src, *weight, *bias;
    void *dst;
    int ic, ih, iw; /* channels of a group */
    int oc, oh, ow; /* channels of a group */
    tl_conv2d_param param;
    const tl_stop *stop; /* looked at before each tile */
} tl_conv2d_job;

/** Computes the planes (image and channel) begin .. end-1 of dst for the tl_conv2d_job at `arg`,
 *  without the activation. */
typedef void tl_conv2d_func(void *arg, size_t begin, size_t end);

#define TL_CONV2D_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_conv2d, FLT, PLAIN)
TL_CONV2D_KERNELS(TL_KERNEL_DECLARE, tl_conv2d_func)

#define TL_DECONV2D_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_deconv2d, FLT, PLAIN)
TL_DECONV2D_KERNELS(TL_KERNEL_DECLARE, tl_conv2d_func)

#endif
