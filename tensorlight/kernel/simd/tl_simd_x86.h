// SPDX-License-Identifier: Apache-2.0
// Common parts of AVX2 and AVX-512 vectors: see tl_simd.h. The headers of both include this one
// after the definitions of
//
//     tl_vf, tl_vf64, tl_vm, tl_vi    floats, doubles, a mask, integers of any size
//     TL_MM(name)            an instruction: _mm256_name, _mm512_name
//     TL_MM_BITS(name)       one on all bits: _mm256_name_si256, _mm512_name_si512
//     TL_MM_COMPARE          of floats, to a mask
//     TL_MM_DOT              dot products of bytes, of sets that have them

#pragma once

#define TL_SIMD_X86 // for headers of further words

TL_SIMD_FUNC(tl_vf, tl_vf_load, (const float *p), TL_MM(loadu_ps)(p))
TL_SIMD_FUNC(void, tl_vf_store, (float *p, tl_vf a), TL_MM(storeu_ps)(p, a))

static inline tl_vf tl_vf_opaque(tl_vf a)
{
    __asm__("" : "+v"(a));
    return a;
}

TL_SIMD_FUNC(tl_vf, tl_vf_set1, (float x), TL_MM(set1_ps)(x))
TL_SIMD_FUNC(tl_vf, tl_vf_zero, (void), TL_MM(setzero_ps)())
TL_SIMD_FUNC(tl_vf, tl_vf_add, (tl_vf a, tl_vf b), TL_MM(add_ps)(a, b))
TL_SIMD_FUNC(tl_vf, tl_vf_sub, (tl_vf a, tl_vf b), TL_MM(sub_ps)(a, b))
TL_SIMD_FUNC(tl_vf, tl_vf_mul, (tl_vf a, tl_vf b), TL_MM(mul_ps)(a, b))
TL_SIMD_FUNC(tl_vf64, tl_vf64_zero, (void), TL_MM(setzero_pd)())
TL_SIMD_FUNC(tl_vf64, tl_vf64_add, (tl_vf64 a, tl_vf64 b), TL_MM(add_pd)(a, b))
TL_SIMD_FUNC(tl_vf64, tl_vf64_mul, (tl_vf64 a, tl_vf64 b), TL_MM(mul_pd)(a, b))
TL_SIMD_FUNC(tl_vf64, tl_vf64_load, (const double *p), TL_MM(loadu_pd)(p))
TL_SIMD_FUNC(void, tl_vf64_store, (double *p, tl_vf64 a), TL_MM(storeu_pd)(p, a))
TL_SIMD_FUNC(tl_vf64, tl_vf64_set1, (double x), TL_MM(set1_pd)(x))
TL_SIMD_FUNC(tl_vf, tl_vf_div, (tl_vf a, tl_vf b), TL_MM(div_ps)(a, b))
TL_SIMD_FUNC(tl_vf, tl_vf_sqrt, (tl_vf a), TL_MM(sqrt_ps)(a))
TL_SIMD_FUNC(tl_vf, tl_vf_fma, (tl_vf a, tl_vf b, tl_vf c), TL_MM(fmadd_ps)(a, b, c))
TL_SIMD_FUNC(tl_vf, tl_vf_fnma, (tl_vf a, tl_vf b, tl_vf c), TL_MM(fnmadd_ps)(a, b, c))
TL_SIMD_FUNC(tl_vf, tl_vf_fma_once, (tl_vf a, tl_vf b, tl_vf c), tl_vf_fma(a, b, c))
TL_SIMD_FUNC(tl_vf, tl_vf_max, (tl_vf a, tl_vf b), TL_MM(max_ps)(a, b))
TL_SIMD_FUNC(tl_vf, tl_vf_min, (tl_vf a, tl_vf b), TL_MM(min_ps)(a, b))
TL_SIMD_FUNC(tl_vf, tl_vf_neg, (tl_vf a), TL_MM(xor_ps)(a, TL_MM(set1_ps)(-0.0f)))

/** The magnitude of a with the sign of b. */
static inline tl_vf tl_vf_copysign(tl_vf a, tl_vf b)
{
    const tl_vf sign = TL_MM(set1_ps)(-0.0f);
    return TL_MM(or_ps)(TL_MM(andnot_ps)(sign, a), TL_MM(and_ps)(sign, b));
}

TL_SIMD_FUNC(tl_vm, tl_vf_lt, (tl_vf a, tl_vf b), TL_MM_COMPARE(a, b, _CMP_LT_OQ))
TL_SIMD_FUNC(tl_vm, tl_vf_le, (tl_vf a, tl_vf b), TL_MM_COMPARE(a, b, _CMP_LE_OQ))
TL_SIMD_FUNC(tl_vm, tl_vf_eq, (tl_vf a, tl_vf b), TL_MM_COMPARE(a, b, _CMP_EQ_OQ))
TL_SIMD_FUNC(tl_vf, tl_vf_broadcast_lane4, (tl_vf a, int k),
             TL_MM(permutevar_ps)(a, TL_MM(set1_epi32)(k)))
