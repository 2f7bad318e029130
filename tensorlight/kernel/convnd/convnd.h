// SPDX-License-Identifier: Apache-2.0
// Kernels of convolutions over any number of axes.

#ifndef CONVND_H
#define CONVND_H

#include <stdint.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_vision.h"

/** Shapes: src [n, group * ic, in..], dst [n, group * oc, out..]; weight [group * oc, ic, size..],
 *  of a deconvolution [group * ic, oc, size..]; bias [group * oc] or NULL. */
typedef struct tl_convnd_job {
    const void *src, *weight, *bias;
    void *dst;
    int group, ic, oc; /* channels of a group */
    int in[TL_MAX_SPATIAL], out[TL_MAX_SPATIAL];
    tl_windows windows;
    /* of conv_int: */
    int32_t src_zero;
    const void *weight_zero; /* [1] or [group * oc], or NULL */
    int weight_zero_step;    /* 0 or 1 */
    int is_weight_signed;
} tl_convnd_job;

/** Computes the lines (all axes but the last) begin .. end-1 of dst for the tl_convnd_job at `arg`.
 */
typedef void tl_convnd_func(void *arg, size_t begin, size_t end);

#define TL_CONV_INT_KERNELS(ROW, arg)             \
    ROW(arg, tl_conv_int_i8_c, TL_INT8, TL_ISA_C) \
    ROW(arg, tl_conv_int_u8_c, TL_UINT8, TL_ISA_C)
TL_CONV_INT_KERNELS(TL_KERNEL_DECLARE, tl_convnd_func)

#define TL_CONVND_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_convnd, FLT, PLAIN)
TL_CONVND_KERNELS(TL_KERNEL_DECLARE, tl_convnd_func)

#define TL_DECONVND_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_deconvnd, FLT, PLAIN)
TL_DECONVND_KERNELS(TL_KERNEL_DECLARE, tl_convnd_func)

#endif
