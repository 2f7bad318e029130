// SPDX-License-Identifier: Apache-2.0
// Small types in vectors of AVX2 with F16C: see tl_simd_small.h.

#pragma once

#include "kernel/simd/tl_simd_avx2.h"

TL_SIMD_FUNC(__m128i, tl_small_load16, (const void *p), _mm_loadu_si128((const __m128i *)p))
TL_SIMD_FUNC(__m128i, tl_small_load8, (const void *p), _mm_loadl_epi64((const __m128i *)p))
TL_SIMD_FUNC(tl_vf, tl_vf_load_i8, (const int8_t *p),
             _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(tl_small_load8(p))))
TL_SIMD_FUNC(tl_vf, tl_vf_load_u8, (const uint8_t *p),
             _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(tl_small_load8(p))))
TL_SIMD_FUNC(tl_vf, tl_vf_load_i16, (const int16_t *p),
             _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(tl_small_load16(p))))
TL_SIMD_FUNC(tl_vf, tl_vf_load_u16, (const uint16_t *p),
             _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(tl_small_load16(p))))
TL_SIMD_FUNC(tl_vf, tl_vf_load_i32, (const int32_t *p),
             _mm256_cvtepi32_ps(_mm256_loadu_si256((const __m256i *)p)))
TL_SIMD_FUNC(tl_vf, tl_vf_load_f16, (const uint16_t *p), _mm256_cvtph_ps(tl_small_load16(p)))
TL_SIMD_FUNC(tl_vf, tl_vf_load_bf16, (const uint16_t *p),
             _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(tl_small_load16(p)), 16)))
TL_SIMD_FUNC(__m128i, tl_small_low, (__m256i v), _mm256_castsi256_si128(v))
TL_SIMD_FUNC(__m128i, tl_small_high, (__m256i v), _mm256_extracti128_si256(v, 1))

static inline void tl_vf_store_i16(int16_t *p, tl_vf v)
{
    const __m256i cut = _mm256_cvttps_epi32(v);
    _mm_storeu_si128((__m128i *)p, _mm_packs_epi32(tl_small_low(cut), tl_small_high(cut)));
}

static inline void tl_vf_store_u16(uint16_t *p, tl_vf v)
{
    const __m256i cut = _mm256_cvttps_epi32(v);
    _mm_storeu_si128((__m128i *)p, _mm_packus_epi32(tl_small_low(cut), tl_small_high(cut)));
}

static inline void tl_vf_store_i8(int8_t *p, tl_vf v)
{
    const __m256i cut = _mm256_cvttps_epi32(v);
    const __m128i words = _mm_packs_epi32(tl_small_low(cut), tl_small_high(cut));
    _mm_storel_epi64((__m128i *)p, _mm_packs_epi16(words, words));
}

static inline void tl_vf_store_u8(uint8_t *p, tl_vf v)
{
    const __m256i cut = _mm256_cvttps_epi32(v);
    const __m128i words = _mm_packs_epi32(tl_small_low(cut), tl_small_high(cut));
    _mm_storel_epi64((__m128i *)p, _mm_packus_epi16(words, words));
}

// The conversion returns INT32_MIN for values out of range: inverted, that is INT32_MAX.
static inline void tl_vf_store_i32(int32_t *p, tl_vf v)
{
    const __m256 is_large = _mm256_cmp_ps(v, _mm256_set1_ps(0x1p31f), _CMP_GE_OQ);
    const __m256 is_number = _mm256_cmp_ps(v, v, _CMP_ORD_Q);
    const __m256i cut = _mm256_xor_si256(_mm256_cvttps_epi32(v), _mm256_castps_si256(is_large));
    _mm256_storeu_si256((__m256i *)p, _mm256_and_si256(cut, _mm256_castps_si256(is_number)));
}

static inline void tl_vf_store_f16(uint16_t *p, tl_vf v)
{
    _mm_storeu_si128((__m128i *)p,
                     _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

static inline void tl_vf_store_bf16(uint16_t *p, tl_vf v)
{
    const __m256i bits = _mm256_castps_si256(v), upper = _mm256_srli_epi32(bits, 16);
    const __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
    const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
    const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    const __m256i quiet = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
    const __m256i rounded = _mm256_blendv_epi8(_mm256_srli_epi32(sum, 16), quiet, is_nan);
    _mm_storeu_si128((__m128i *)p, _mm_packus_epi32(tl_small_low(rounded), tl_small_high(rounded)));
}
