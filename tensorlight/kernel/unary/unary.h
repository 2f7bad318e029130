// SPDX-License-Identifier: Apache-2.0
// Kernels of the functions of one number.
//
// A value of tl_unary_func, its row in unary.def and a formula make a function.

#ifndef UNARY_H
#define UNARY_H

#include "kernel/tl_kernel.h"
#include "kernel/tl_map.h"
#include "tensorlight/tl_elementwise.h"

typedef struct tl_unary_param {
    double alpha, beta;
} tl_unary_param;

/** The rows of a function in all its types and instruction sets. */
#define TL_UNARY_KERNELS(name, types, sets) \
    TL_KERNELS_##types(tl_unary_##name, c, TL_ISA_C) TL_KERNELS_SETS_##sets(tl_unary_##name)

/** dst[i] = NAME(src[i]), rounded to the type; dst may be src; `param` is a tl_unary_param. */
#define TL_KERNEL(function, dtype, isa)          TL_KERNEL_DECLARE(tl_map_func, function, dtype, isa)
#define TL_UNARY(func, name, types, grain, sets) TL_UNARY_KERNELS(name, types, sets)
#include "kernel/unary/unary.def"
#undef TL_UNARY
#undef TL_KERNEL

/** The kernel of `func`, which takes `dtype`, for the level of `exec`: for families that apply a
 *  function to a part of their work. */
tl_map_func *tl_unary_kernel(const tl_exec *exec, tl_unary_func func, tl_dtype dtype);

/** Elements that one thread takes at least. */
size_t tl_unary_grain(tl_unary_func func);

#endif
