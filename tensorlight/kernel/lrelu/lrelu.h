// SPDX-License-Identifier: Apache-2.0
// Kernels of the leaky rectifier, x >= 0 ? x : x * negslope (NaN stays).

#ifndef LRELU_H
#define LRELU_H

#include "kernel/tl_kernel.h"
#include "kernel/tl_map.h"

/** dst[i] = src[i] >= 0 ? src[i] : src[i] * *(const float *)param; dst may be src. Integers
 *  multiply in double, truncate and saturate. */
#define TL_LRELU_KERNELS(ROW, arg)             \
    TL_KERNELS(ROW, arg, tl_lrelu, ALL, PLAIN) \
    TL_KERNELS(ROW, arg, tl_lrelu, F32, SIMD)
TL_LRELU_KERNELS(TL_KERNEL_DECLARE, tl_map_func)

#endif
