// SPDX-License-Identifier: Apache-2.0
// Vectors of AVX2 with FMA: see tl_simd.h.

#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define TL_SIMD_AVX2        // for headers of further words
#define TL_SIMD_FLOATS avx2 // the set whose kernels of floats go with these

#define TL_SIMD_LANES     8
#define TL_SIMD_REGISTERS 16

enum { TL_VF_LANES = TL_SIMD_LANES };

typedef __m256 tl_vf;
typedef __m256d tl_vf64;
typedef __m256 tl_vm;
typedef __m256i tl_vi;

#define TL_MM(name)      _mm256_##name
#define TL_MM_BITS(name) _mm256_##name##_si256
#define TL_MM_COMPARE    _mm256_cmp_ps
#define TL_MM_DOT        _mm256_dpbusd_avx_epi32
#include "kernel/simd/tl_simd_x86.h"

/** All bits of the lanes 0 .. n-1. */
static inline __m256i tl_vm_first(size_t n)
{
    static const int32_t bits[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256((const __m256i *)(bits + 8 - n));
}

TL_SIMD_FUNC(tl_vf, tl_vf_load_partial, (const float *p, size_t n),
             _mm256_maskload_ps(p, tl_vm_first(n)))
TL_SIMD_FUNC(void, tl_vf_store_partial, (float *p, tl_vf a, size_t n),
             _mm256_maskstore_ps(p, tl_vm_first(n), a))
TL_SIMD_FUNC(tl_vf, tl_vf_abs, (tl_vf a), _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a))
TL_SIMD_FUNC(tl_vf, tl_vf_select, (tl_vm m, tl_vf a, tl_vf b), _mm256_blendv_ps(b, a, m))
TL_SIMD_FUNC(tl_vf, tl_vf_round, (tl_vf a),
             _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))

static inline tl_vf tl_vf_scale(tl_vf a, tl_vf n)
{
    const __m256i bits =
        _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_mul_ps(a, _mm256_castsi256_ps(bits));
}

static inline tl_vf tl_vf_exponent(tl_vf a)
{
    const __m256i bits = _mm256_srli_epi32(_mm256_castps_si256(a), 23);
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(bits, _mm256_set1_epi32(127)));
}

static inline tl_vf tl_vf_mantissa(tl_vf a)
{
    const __m256i bits = _mm256_and_si256(_mm256_castps_si256(a), _mm256_set1_epi32(0x007fffff));
    return _mm256_castsi256_ps(_mm256_or_si256(bits, _mm256_set1_epi32(0x3f800000)));
}

TL_SIMD_FUNC(tl_vf64, tl_vf64_widen, (const float *p), _mm256_cvtps_pd(_mm_loadu_ps(p)))
TL_SIMD_FUNC(tl_vf64, tl_vf64_half, (tl_vf a, int k),
             _mm256_cvtps_pd(k ? _mm256_extractf128_ps(a, 1) : _mm256_castps256_ps128(a)))

TL_SIMD_FUNC(void, tl_vf64_store_floats, (float *p, tl_vf64 a),
             _mm_storeu_ps(p, _mm256_cvtpd_ps(a)))
TL_SIMD_FUNC(tl_vf64, tl_vf64_evens, (tl_vf64 a, tl_vf64 b),
             _mm256_permute4x64_pd(_mm256_unpacklo_pd(a, b), 0xd8))

static inline tl_vf tl_vf_evens(tl_vf a, tl_vf b)
{
    const __m256d pairs = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88)); // in 128-bit lanes
    return _mm256_castpd_ps(_mm256_permute4x64_pd(pairs, 0xd8));
}

TL_SIMD_FUNC(tl_vf64, tl_vf64_odds, (tl_vf64 a, tl_vf64 b),
             _mm256_permute4x64_pd(_mm256_unpackhi_pd(a, b), 0xd8))

static inline tl_vf tl_vf_odds(tl_vf a, tl_vf b)
{
    const __m256d pairs = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0xdd)); // in 128-bit lanes
    return _mm256_castpd_ps(_mm256_permute4x64_pd(pairs, 0xd8));
}

static inline double tl_vf64_sum(tl_vf64 a)
{
    const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}

static inline float tl_vf_sum(tl_vf a)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

static inline float tl_vf_reduce_max(tl_vf a)
{
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}

static inline void tl_vf_transpose(tl_vf v[TL_VF_LANES])
{
    tl_vf t[TL_VF_LANES];
    for (int i = 0; i < 8; i += 4) { // 4x4 matrices, two in each row
        const __m256d a = _mm256_castps_pd(_mm256_unpacklo_ps(v[i], v[i + 1]));
        const __m256d b = _mm256_castps_pd(_mm256_unpackhi_ps(v[i], v[i + 1]));
        const __m256d c = _mm256_castps_pd(_mm256_unpacklo_ps(v[i + 2], v[i + 3]));
        const __m256d d = _mm256_castps_pd(_mm256_unpackhi_ps(v[i + 2], v[i + 3]));
        t[i] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, c));
        t[i + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, c));
        t[i + 2] = _mm256_castpd_ps(_mm256_unpacklo_pd(b, d));
        t[i + 3] = _mm256_castpd_ps(_mm256_unpackhi_pd(b, d));
    }
    for (int i = 0; i < 4; i++) { // and these parts, as a 2x2 matrix
        v[i] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x20);
        v[i + 4] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x31);
    }
}

typedef struct tl_vp {
    __m256i from; // its sign bits select the kept lanes
} tl_vp;

TL_SIMD_FUNC(tl_vp, tl_vp_load, (const int32_t *from),
             (tl_vp){_mm256_loadu_si256((const __m256i *)from)})

static inline tl_vf tl_vf_pick(tl_vp p, tl_vf a, tl_vf kept)
{
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(a, p.from), kept, _mm256_castsi256_ps(p.from));
}

TL_SIMD_FUNC(tl_vf, tl_vf_swap_128, (tl_vf a), _mm256_permute2f128_ps(a, a, 1))

/** 128-bit lane k. */
TL_SIMD_FUNC(__m128i, tl_vi_extract_128, (tl_vi v, const int k),
             k ? _mm256_extracti128_si256(v, 1) : _mm256_castsi256_si128(v))

/** Transposes v as a matrix [128-bit lane][32 bits]: restores the order after two packs. */
TL_SIMD_FUNC(tl_vi, tl_vi_ordered, (tl_vi v),
             _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)))
