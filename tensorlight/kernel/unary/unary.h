// SPDX-License-Identifier: Apache-2.0
// Kernels of unary element-wise functions.
//
// A value of tl_unary_func, its row in TL_UNARY_FUNCS and a formula make a function.

#ifndef UNARY_H
#define UNARY_H

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_elementwise.h"

typedef struct tl_unary_param {
    double alpha, beta;
} tl_unary_param;

/** The unary functions: ROW(arg, func, name, types, grain, sets), one row for each of
 *  tl_unary_func. The formula of `name` is in unary_c.c, for floats and, where the types are NUM,
 *  ALL or WHOLE (integers and bool), for these; where sets is SIMD, in unary_simd.c too. */
#define TL_UNARY_FUNCS(ROW, arg)                                                          \
    ROW(arg, TL_UNARY_ABS, abs, NUM, TL_GRAIN_MEMORY_BOUND, SIMD)                         \
    ROW(arg, TL_UNARY_NEG, neg, NUM, TL_GRAIN_MEMORY_BOUND, SIMD)                         \
    ROW(arg, TL_UNARY_SIGN, sign, NUM, TL_GRAIN_MEMORY_BOUND, SIMD)                       \
    ROW(arg, TL_UNARY_NOT, not, WHOLE, TL_GRAIN_MEMORY_BOUND, PLAIN)                      \
    ROW(arg, TL_UNARY_RECIPROCAL, reciprocal, FLT, TL_GRAIN_MEMORY_BOUND, SIMD)           \
    ROW(arg, TL_UNARY_AFFINE, affine, FLT, TL_GRAIN_MEMORY_BOUND, SIMD)                   \
    ROW(arg, TL_UNARY_SQRT, sqrt, FLT, TL_GRAIN_MEMORY_BOUND, SIMD)                       \
    ROW(arg, TL_UNARY_EXP, exp, FLT, TL_GRAIN_COMPUTE_BOUND, SIMD)                        \
    ROW(arg, TL_UNARY_LOG, log, FLT, TL_GRAIN_COMPUTE_BOUND, SIMD)                        \
    ROW(arg, TL_UNARY_CEIL, ceil, FLT, TL_GRAIN_MEMORY_BOUND, SIMD)                       \
    ROW(arg, TL_UNARY_FLOOR, floor, FLT, TL_GRAIN_MEMORY_BOUND, SIMD)                     \
    ROW(arg, TL_UNARY_ROUND, round, FLT, TL_GRAIN_MEMORY_BOUND, SIMD)                     \
    ROW(arg, TL_UNARY_SIN, sin, FLT, TL_GRAIN_COMPUTE_BOUND, PLAIN)                       \
    ROW(arg, TL_UNARY_COS, cos, FLT, TL_GRAIN_COMPUTE_BOUND, PLAIN)                       \
    ROW(arg, TL_UNARY_TAN, tan, FLT, TL_GRAIN_COMPUTE_BOUND, PLAIN)                       \
    ROW(arg, TL_UNARY_ASIN, asin, FLT, TL_GRAIN_COMPUTE_BOUND, PLAIN)                     \
    ROW(arg, TL_UNARY_ACOS, acos, FLT, TL_GRAIN_COMPUTE_BOUND, PLAIN)                     \
    ROW(arg, TL_UNARY_ATAN, atan, FLT, TL_GRAIN_COMPUTE_BOUND, PLAIN)                     \
    ROW(arg, TL_UNARY_SINH, sinh, FLT, TL_GRAIN_COMPUTE_BOUND, PLAIN)                     \
    ROW(arg, TL_UNARY_COSH, cosh, FLT, TL_GRAIN_COMPUTE_BOUND, PLAIN)                     \
    ROW(arg, TL_UNARY_TANH, tanh, FLT, TL_GRAIN_COMPUTE_BOUND, SIMD)                      \
    ROW(arg, TL_UNARY_SCALEDTANH, scaledtanh, FLT, TL_GRAIN_COMPUTE_BOUND, SIMD)          \
    ROW(arg, TL_UNARY_ASINH, asinh, FLT, TL_GRAIN_COMPUTE_BOUND, PLAIN)                   \
    ROW(arg, TL_UNARY_ACOSH, acosh, FLT, TL_GRAIN_COMPUTE_BOUND, PLAIN)                   \
    ROW(arg, TL_UNARY_ATANH, atanh, FLT, TL_GRAIN_COMPUTE_BOUND, PLAIN)                   \
    ROW(arg, TL_UNARY_ERF, erf, FLT, TL_GRAIN_COMPUTE_BOUND, SIMD)                        \
    ROW(arg, TL_UNARY_SIGMOID, sigmoid, FLT, TL_GRAIN_COMPUTE_BOUND, SIMD)                \
    ROW(arg, TL_UNARY_HARDSIGMOID, hardsigmoid, FLT, TL_GRAIN_MEMORY_BOUND, SIMD)         \
    ROW(arg, TL_UNARY_HARDSWISH, hardswish, FLT, TL_GRAIN_MEMORY_BOUND, SIMD)             \
    ROW(arg, TL_UNARY_SOFTPLUS, softplus, FLT, TL_GRAIN_COMPUTE_BOUND, SIMD)              \
    ROW(arg, TL_UNARY_SOFTSIGN, softsign, FLT, TL_GRAIN_MEMORY_BOUND, SIMD)               \
    ROW(arg, TL_UNARY_MISH, mish, FLT, TL_GRAIN_COMPUTE_BOUND, SIMD)                      \
    ROW(arg, TL_UNARY_SWISH, swish, FLT, TL_GRAIN_COMPUTE_BOUND, SIMD)                    \
    ROW(arg, TL_UNARY_GELU, gelu, FLT, TL_GRAIN_COMPUTE_BOUND, SIMD)                      \
    ROW(arg, TL_UNARY_GELU_TANH, gelu_tanh, FLT, TL_GRAIN_COMPUTE_BOUND, SIMD)            \
    ROW(arg, TL_UNARY_RELU, relu, ALL, TL_GRAIN_MEMORY_BOUND, SIMD)                       \
    ROW(arg, TL_UNARY_LRELU, lrelu, ALL, TL_GRAIN_MEMORY_BOUND, SIMD)                     \
    ROW(arg, TL_UNARY_ELU, elu, FLT, TL_GRAIN_COMPUTE_BOUND, SIMD)                        \
    ROW(arg, TL_UNARY_CELU, celu, FLT, TL_GRAIN_COMPUTE_BOUND, SIMD)                      \
    ROW(arg, TL_UNARY_SELU, selu, FLT, TL_GRAIN_COMPUTE_BOUND, SIMD)                      \
    ROW(arg, TL_UNARY_THRESHOLDEDRELU, thresholdedrelu, FLT, TL_GRAIN_MEMORY_BOUND, SIMD) \
    ROW(arg, TL_UNARY_SHRINK, shrink, FLT, TL_GRAIN_MEMORY_BOUND, SIMD)                   \
    ROW(arg, TL_UNARY_CLIP, clip, FLT, TL_GRAIN_MEMORY_BOUND, SIMD)                       \
    ROW(arg, TL_UNARY_PROBIT, probit, FLT, TL_GRAIN_COMPUTE_BOUND, PLAIN)

/** The rows of a function in all its types and instruction sets. */
#define TL_UNARY_KERNELS(ROW, arg, name, types, sets)   \
    TL_KERNELS(ROW, arg, tl_unary_##name, types, PLAIN) \
    TL_BESIDE_##sets(ROW, arg, tl_unary_##name)

/** dst[i] = NAME(src[i]), rounded to the type; dst may be src; `param` is a tl_unary_param. */
#define TL_UNARY_DECLARE(type, func, name, types, grain, sets) \
    TL_UNARY_KERNELS(TL_KERNEL_DECLARE, type, name, types, sets)
TL_UNARY_FUNCS(TL_UNARY_DECLARE, tl_map_func)

/** The kernel of `func`, which takes `dtype`, for the instruction set of `exec`: for families that
 *  apply a function to a part of their work. */
tl_map_func *tl_unary_kernel(const tl_exec *exec, tl_unary_func func, tl_dtype dtype);

/** Elements that one thread takes at least. */
size_t tl_unary_grain(tl_unary_func func);

#endif
