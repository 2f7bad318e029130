// SPDX-License-Identifier: Apache-2.0
// Kernels of batch normalization.

#ifndef BATCHNORM_H
#define BATCHNORM_H

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"

/** src and dst are [axis.outer, axis.len, axis.inner] and may be the same; the others [axis.len].
 */
typedef struct tl_batchnorm_job {
    const void *src, *scale, *offset, *mean, *var;
    void *dst;
    tl_axis axis;
    float epsilon;
} tl_batchnorm_job;

/** Computes the elements begin .. end-1 of the tl_batchnorm_job at `arg`. */
typedef void tl_batchnorm_func(void *arg, size_t begin, size_t end);

/** The weights mean, var, scale, offset [len] as dst_scale, dst_shift, dst_power [len]. */
typedef struct tl_bn2scale_job {
    const void *mean, *var, *scale, *offset;
    void *dst_scale, *dst_shift, *dst_power; /* dst_power may be NULL */
    float epsilon;
} tl_bn2scale_job;

/** Computes the channels begin .. end-1 of the tl_bn2scale_job at `arg`. */
typedef void tl_bn2scale_func(void *arg, size_t begin, size_t end);

#define TL_BATCHNORM_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_batchnorm, FLT, PLAIN)
TL_BATCHNORM_KERNELS(TL_KERNEL_DECLARE, tl_batchnorm_func)

#define TL_BN2SCALE_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_bn2scale, FLT, PLAIN)
TL_BN2SCALE_KERNELS(TL_KERNEL_DECLARE, tl_bn2scale_func)

#endif
