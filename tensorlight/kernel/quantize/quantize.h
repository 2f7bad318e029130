// SPDX-License-Identifier: Apache-2.0
// Kernels of quantization.

#pragma once

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_blocked.h"
#include "tensorlight/tl_quantize.h"

/** src [n] -> dst [n], one of them float; scale and zero are one element for all (step 0) or n
 *  (step 1), zero of the integer type or NULL. */
typedef void tl_quantize_func(const void *src, void *dst, const float *scale, const void *zero,
                              size_t n, int step);

#define TL_ROWS_QUANTIZED(ROW, arg, kernel, set, isa) \
    ROW(arg, kernel##_i8_##set, TL_INT8, isa)         \
    ROW(arg, kernel##_u8_##set, TL_UINT8, isa)        \
    ROW(arg, kernel##_i16_##set, TL_INT16, isa)       \
    ROW(arg, kernel##_u16_##set, TL_UINT16, isa)
#define TL_ROWS_DEQUANTIZED(ROW, arg, kernel, set, isa) \
    TL_ROWS_QUANTIZED(ROW, arg, kernel, set, isa)       \
    ROW(arg, kernel##_i32_##set, TL_INT32, isa)

#define TL_DEQUANTIZE_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_dequantize, DEQUANTIZED, BOTH)
TL_DEQUANTIZE_KERNELS(TL_KERNEL_DECLARE, tl_quantize_func)

#define TL_QUANTIZE_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_quantize, QUANTIZED, BOTH)
TL_QUANTIZE_KERNELS(TL_KERNEL_DECLARE, tl_quantize_func)

/** Extends range, {min, max}, which includes 0, to src [n]. Ignores NaN, and all but the first
 *  `lanes` of each TL_BLOCK elements; if lanes < TL_BLOCK, n is a multiple of TL_BLOCK. */
typedef void tl_quantize_range_func(const float *src, size_t n, int lanes, float range[2]);

#define TL_QUANTIZE_RANGE_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_quantize_range, F32, BOTH)
TL_QUANTIZE_RANGE_KERNELS(TL_KERNEL_DECLARE, tl_quantize_range_func)
