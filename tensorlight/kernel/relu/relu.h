// SPDX-License-Identifier: Apache-2.0
// Kernels of the rectifier, x < 0 ? 0 : x (NaN stays).

#ifndef RELU_H
#define RELU_H

#include "kernel/tl_kernel.h"
#include "kernel/tl_map.h"

/** dst[i] = src[i] < 0 ? 0 : src[i]; dst may be src; `param` is not used. */
#define TL_RELU_KERNELS(ROW, arg)             \
    TL_KERNELS(ROW, arg, tl_relu, ALL, PLAIN) \
    TL_KERNELS(ROW, arg, tl_relu, F32, SIMD)
TL_RELU_KERNELS(TL_KERNEL_DECLARE, tl_map_func)

#endif
