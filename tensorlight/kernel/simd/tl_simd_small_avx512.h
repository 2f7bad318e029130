// SPDX-License-Identifier: Apache-2.0
// Small types in vectors of AVX-512 (F, BW, DQ, VL): see tl_simd_small.h.

#pragma once

#include "kernel/simd/tl_simd_avx512.h"

TL_SIMD_FUNC(tl_vf, tl_vf_load_i8, (const int8_t *p),
             _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p))))
TL_SIMD_FUNC(tl_vf, tl_vf_load_u8, (const uint8_t *p),
             _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p))))
TL_SIMD_FUNC(tl_vf, tl_vf_load_i16, (const int16_t *p),
             _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)p))))
TL_SIMD_FUNC(tl_vf, tl_vf_load_u16, (const uint16_t *p),
             _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p))))
TL_SIMD_FUNC(tl_vf, tl_vf_load_i32, (const int32_t *p), _mm512_cvtepi32_ps(_mm512_loadu_si512(p)))
TL_SIMD_FUNC(tl_vf, tl_vf_load_f16, (const uint16_t *p),
             _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p)))

static inline tl_vf tl_vf_load_bf16(const uint16_t *p)
{
    const __m512i bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(bits, 16));
}

TL_SIMD_FUNC(void, tl_vf_store_i8, (int8_t p[], tl_vf v),
             _mm_storeu_si128((__m128i *)p, _mm512_cvtepi32_epi8(_mm512_cvttps_epi32(v))))
TL_SIMD_FUNC(void, tl_vf_store_u8, (uint8_t p[], tl_vf v),
             _mm_storeu_si128((__m128i *)p, _mm512_cvtepi32_epi8(_mm512_cvttps_epi32(v))))
TL_SIMD_FUNC(void, tl_vf_store_i16, (int16_t p[], tl_vf v),
             _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(_mm512_cvttps_epi32(v))))
TL_SIMD_FUNC(void, tl_vf_store_u16, (uint16_t p[], tl_vf v),
             _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(_mm512_cvttps_epi32(v))))

static inline void tl_vf_store_i32(int32_t *p, tl_vf v)
{
    const __mmask16 is_large = _mm512_cmp_ps_mask(v, _mm512_set1_ps(0x1p31f), _CMP_GE_OQ);
    const __mmask16 is_number = _mm512_cmp_ps_mask(v, v, _CMP_ORD_Q);
    const __m512i cut = _mm512_maskz_cvttps_epi32(is_number, v);
    _mm512_storeu_si512(p, _mm512_mask_mov_epi32(cut, is_large, _mm512_set1_epi32(INT32_MAX)));
}

static inline void tl_vf_store_f16(uint16_t *p, tl_vf v)
{
    _mm256_storeu_si256((__m256i *)p,
                        _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

static inline void tl_vf_store_bf16(uint16_t *p, tl_vf v)
{
    const __m512i bits = _mm512_castps_si512(v), upper = _mm512_srli_epi32(bits, 16);
    const __m512i odd = _mm512_and_si512(upper, _mm512_set1_epi32(1));
    const __m512i sum = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
    const __mmask16 is_nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    const __m512i rounded =
        _mm512_mask_or_epi32(_mm512_srli_epi32(sum, 16), is_nan, upper, _mm512_set1_epi32(0x40));
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(rounded));
}
