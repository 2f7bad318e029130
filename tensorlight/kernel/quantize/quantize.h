// SPDX-License-Identifier: Apache-2.0
// Kernels of quantization.

#ifndef QUANTIZE_H
#define QUANTIZE_H

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_blocked.h"
#include "tensorlight/tl_quantize.h"

/** src [n] -> dst [n], one of them float; scale and zero are one element for all (step 0) or n
 *  (step 1), zero of the integer type or NULL. */
typedef void tl_quantize_func(const void *src, void *dst, const float *scale, const void *zero,
                              size_t n, int step);

#define TL_KERNEL(name, dtype, isa) TL_KERNEL_DECLARE(tl_quantize_func, name, dtype, isa)
#include "kernel/quantize/dequantize.def"
#include "kernel/quantize/quantize.def"
#undef TL_KERNEL

/** Extends range, {min, max}, which holds 0, to src [n], of which only the first `lanes` of each
 *  TL_BLOCK elements count; where that is fewer than all, n is a multiple of TL_BLOCK. NaN does not
 *  count. */
typedef void tl_quantize_range_func(const float *src, size_t n, int lanes, float range[2]);

#define TL_KERNEL(name, dtype, isa) TL_KERNEL_DECLARE(tl_quantize_range_func, name, dtype, isa)
#include "kernel/quantize/quantize_range.def"
#undef TL_KERNEL

#endif
