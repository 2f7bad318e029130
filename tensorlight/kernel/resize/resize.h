// SPDX-License-Identifier: Apache-2.0
// Kernels of resampling.

#ifndef RESIZE_H
#define RESIZE_H

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_nn.h"

/** src [in] -> dst [out], both of `ndim` dimensions, none of them 0. */
typedef struct tl_resize_job {
    const void *src;
    void *dst;
    tl_dtype dtype;
    int ndim; /* 1 .. TL_MAXDIM */
    int in[TL_MAXDIM], out[TL_MAXDIM];
} tl_resize_job;

/** Computes the rows (all axes but the last) begin .. end-1 of dst for the tl_resize_job at `arg`.
 */
typedef void tl_resize_func(void *arg, size_t begin, size_t end);

#define TL_RESIZE_LINEAR_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_resize_linear, NUM, PLAIN)
TL_RESIZE_LINEAR_KERNELS(TL_KERNEL_DECLARE, tl_resize_func)

#define TL_RESIZE_NEAREST_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_resize_nearest, UINT, PLAIN)
TL_RESIZE_NEAREST_KERNELS(TL_KERNEL_DECLARE, tl_resize_func)

#endif
