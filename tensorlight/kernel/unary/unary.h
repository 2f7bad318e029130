// SPDX-License-Identifier: Apache-2.0
// Kernels of unary element-wise functions.
//
// A row of TL_UNARY_FUNCS (tl_functions.h) makes a function of floats, of which unary_simd.c has
// the formula in vectors, and unary_c.c that of other types.

#pragma once

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_elementwise.h"

typedef struct tl_unary_param {
    double alpha, beta;
} tl_unary_param;

/** The rows of a function in all its types and instruction sets. */
#define TL_UNARY_KERNELS(ROW, arg, name, types, sets)   \
    TL_KERNELS(ROW, arg, tl_unary_##name, types, PLAIN) \
    TL_BESIDE_##sets(ROW, arg, tl_unary_##name)

/** dst[i] = NAME(src[i]), rounded to the type; dst may be src; `param` is a tl_unary_param. */
#define TL_UNARY_DECLARE(type, NAME, name, types, cost, sets, ...) \
    TL_UNARY_KERNELS(TL_KERNEL_DECLARE, type, name, types, sets)
TL_UNARY_FUNCS(TL_UNARY_DECLARE, tl_map_func)

/** The kernel of `func`, which supports `dtype`, for the instruction set of `exec`: for families
 * that apply a function to a part of their work. */
tl_map_func *tl_unary_kernel(const tl_exec *exec, tl_unary_func func, tl_dtype dtype);

/** Min elements of a thread. */
size_t tl_unary_grain(tl_unary_func func);
