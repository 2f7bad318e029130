// SPDX-License-Identifier: Apache-2.0
// Vectors of floats, with the same names on every instruction set, for SIMD kernels.
//
// A kernel is written once with these names, in <kernel>_simd.c, which is compiled for each
// instruction set (tl_isa) with its flags and vector header (tensorlight/meson.build).
// SIMD(name) is the function's name followed by the set's: name_f32_avx512.
//
//     void SIMD(tl_scale)(const float *src, float *dst, size_t n, float factor)
//     {
//         const tl_vf k = tl_vf_set1(factor);
//         size_t i = 0;
//         for (; i + TL_VF_LANES <= n; i += TL_VF_LANES)
//             tl_vf_store(dst + i, tl_vf_mul(tl_vf_load(src + i), k));
//         if (i < n)
//             tl_vf_store_partial(dst + i, tl_vf_mul(k, tl_vf_load_partial(src + i, n - i)),
//                                 n - i);
//     }
//
// Besides plain arithmetic, each set defines
//
//     tl_vf, TL_VF_LANES            a vector, and its number of floats
//     tl_vm                         a mask: the result of a comparison, for tl_vf_select
//     tl_vf_load, tl_vf_store       any address
//     tl_vf_load_partial(p, n)      lanes 0 .. n-1, n < TL_VF_LANES; the others are 0
//     tl_vf_store_partial(p, v, n)  writes lanes 0 .. n-1 only
//     tl_vf_opaque(a)               a in a register: otherwise GCC reloads it for each use, though
//                                   the first-level cache delivers fewer vectors than can be
//                                   multiplied
//     tl_vf_fma(a, b, c)            a * b + c; rounded once, except in plain C
//     tl_vf_fnma(a, b, c)           c - a * b
//     tl_vf_fma_once(a, b, c)       a * b + c, rounded about once in plain C too
//     tl_vf_max(a, b)               a > b ? a : b, so b if either is NaN
//     tl_vf_min(a, b)               a < b ? a : b, so b if either is NaN
//     tl_vf_lt, tl_vf_le, tl_vf_eq  ordered comparisons: false for NaN
//     tl_vf_select(m, a, b)         m ? a : b in each lane
//     tl_vf_round(a)                to the nearest integer, ties to even
//     tl_vf_scale(a, n)             a * 2^n for integers n that are exact floats in -126 .. 127
//     tl_vf_exponent(a), _mantissa  of normal a > 0: a = mantissa * 2^exponent, 1 <= mantissa < 2
//     tl_vf_sum, tl_vf_reduce_max   over the lanes: a fixed tree; by tl_vf_max's rule
//     tl_vf_transpose(v)            v[0 .. TL_VF_LANES-1] as the rows of a matrix
//     tl_vf_to_pairs(low, high)     2 TL_VF_LANES floats, rounded to bfloat16: lane k has elements
//                                   2k, in its lower half, and 2k + 1. Only plain C and sets with
//                                   BF16
//     tl_vf_store_rounded(p, v)     TL_VF_LANES bfloat16 (uint16_t), rounded like these; as above
//     tl_vf_fma_pairs(a, b, c)      c plus the products of both elements of a and b, in each lane;
//                                   as above
//     tl_vf64                       TL_VF_LANES / 2 doubles, with tl_vf64_zero, _add, _mul
//     tl_vf64_load(p)               from doubles at any address
//     tl_vf64_widen(p)              from floats
//     tl_vf64_half(a, k)            the lower half of the floats a, or the upper one if k
//     tl_vf64_sum, tl_vf64_store    over the lanes: a fixed tree; to any address
//     tl_vf64_set1(x)               x in each lane
//     tl_vf64_store_floats(p, a)    rounded to floats, to any address
//     tl_vf_evens(a, b), _odds      the even (odd) lanes of a, then those of b; also tl_vf64_
//     tl_vp, tl_vp_load(from)       a permutation: lane k is lane from[k] (int32_t), or is kept if
//                                   that is negative
//     tl_vf_pick(p, a, kept)        permutes the lanes of a, with kept lanes of `kept`
//     tl_vf_broadcast_lane4(a, k)   broadcasts lane k, below 4, within each four lanes
//     tl_vf_swap_128(a)             swaps adjacent 128-bit lanes: for 8 floats and more
//     tl_vf_twice(a)                the lower half of a in both halves; this and the next two: for
//                                   16 lanes
//     tl_vf_set2(x, y)              x in each lane of the lower half, y in those of the upper one
//     tl_vf_half(a, k)              the lower half of a, or the upper one if k, then zeros

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernel/tl_kernel.h"

/** A row of a vector header: a function whose result is one expression, mostly one instruction. */
#define TL_SIMD_FUNC(type, name, args, ...) \
    static inline type name args            \
    {                                       \
        return __VA_ARGS__;                 \
    }

// The build selects the set (tensorlight/meson.build), not the features of the compiler's target.
#ifdef TL_SIMD_HEADER
#include TL_SIMD_HEADER
#else
#include "kernel/simd/tl_simd_c.h"
#define TL_SIMD_SET c
#endif

#define SIMD__(name, set) name##_f32_##set
#define SIMD_(name, set)  SIMD__(name, set)
#define SIMD(name)        SIMD_(name, TL_SIMD_SET)

/** Before a loop of constant length: without it, GCC keeps arrays of vectors in memory. Sanitizers
 *  check each step of an unrolled loop, which makes compiling six times as long. */
#if !defined(__clang__)
#define TL_UNROLL _Pragma("GCC unroll 32")
#elif __has_feature(address_sanitizer)
#define TL_UNROLL
#else
#define TL_UNROLL _Pragma("clang loop unroll(full)")
#endif
