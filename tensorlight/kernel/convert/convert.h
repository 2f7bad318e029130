// SPDX-License-Identifier: Apache-2.0
// Kernels of the conversion between types.

#ifndef CONVERT_H
#define CONVERT_H

#include "kernel/cast/cast.h"

#define TL_ROWS_HALVES(ROW, arg, work, set, isa)              \
    ROW(arg, work##_f32_f16_##set, TL_FLOAT, TL_FLOAT16, isa) \
    ROW(arg, work##_f32_bf16_##set, TL_FLOAT, TL_BFLOAT16, isa)

/** dst[i] = src[i], by the rules of tl_convert; src and dst do not overlap; `param` is not used.
 *  Where nothing is too large, cast does the same. */
#define TL_CONVERT_KERNELS(ROW, arg)               \
    TL_KERNELS(ROW, arg, tl_convert, PAIRS, PLAIN) \
    TL_KERNELS(ROW, arg, tl_cast, EXACT, SIMD)     \
    TL_KERNELS(ROW, arg, tl_convert, HALVES, SIMD)
TL_CONVERT_KERNELS(TL_CONVERSION_DECLARE, )

#endif
