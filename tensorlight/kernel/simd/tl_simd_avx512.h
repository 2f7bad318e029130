// SPDX-License-Identifier: Apache-2.0
// Vectors of AVX-512 (F and DQ): see tl_simd.h.

#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define TL_SIMD_AVX512        // for headers of further words
#define TL_SIMD_FLOATS avx512 // the set whose kernels of floats go with these

#define TL_SIMD_LANES     16
#define TL_SIMD_REGISTERS 32

enum { TL_VF_LANES = TL_SIMD_LANES };

typedef __m512 tl_vf;
typedef __m512d tl_vf64;
typedef __mmask16 tl_vm;
typedef __m512i tl_vi;

#define TL_MM(name)      _mm512_##name
#define TL_MM_BITS(name) _mm512_##name##_si512
#define TL_MM_COMPARE    _mm512_cmp_ps_mask
#define TL_MM_DOT        _mm512_dpbusd_epi32
#include "kernel/simd/tl_simd_x86.h"

TL_SIMD_FUNC(tl_vm, tl_vm_first, (size_t n), (tl_vm)((1u << n) - 1))
TL_SIMD_FUNC(tl_vf, tl_vf_load_partial, (const float *p, size_t n),
             _mm512_maskz_loadu_ps(tl_vm_first(n), p))
TL_SIMD_FUNC(void, tl_vf_store_partial, (float *p, tl_vf a, size_t n),
             _mm512_mask_storeu_ps(p, tl_vm_first(n), a))
TL_SIMD_FUNC(tl_vf, tl_vf_abs, (tl_vf a), _mm512_abs_ps(a))
TL_SIMD_FUNC(tl_vf, tl_vf_select, (tl_vm m, tl_vf a, tl_vf b), _mm512_mask_blend_ps(m, b, a))
TL_SIMD_FUNC(tl_vf, tl_vf_round, (tl_vf a),
             _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))
TL_SIMD_FUNC(tl_vf, tl_vf_scale, (tl_vf a, tl_vf n), _mm512_scalef_ps(a, n))
TL_SIMD_FUNC(tl_vf, tl_vf_exponent, (tl_vf a), _mm512_getexp_ps(a))
TL_SIMD_FUNC(tl_vf, tl_vf_mantissa, (tl_vf a),
             _mm512_getmant_ps(a, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src))
TL_SIMD_FUNC(float, tl_vf_sum, (tl_vf a), _mm512_reduce_add_ps(a))
TL_SIMD_FUNC(tl_vf64, tl_vf64_widen, (const float *p), _mm512_cvtps_pd(_mm256_loadu_ps(p)))
TL_SIMD_FUNC(tl_vf64, tl_vf64_half, (tl_vf a, int k),
             _mm512_cvtps_pd(k ? _mm512_extractf32x8_ps(a, 1) : _mm512_castps512_ps256(a)))
TL_SIMD_FUNC(void, tl_vf64_store_floats, (float *p, tl_vf64 a),
             _mm256_storeu_ps(p, _mm512_cvtpd_ps(a)))
TL_SIMD_FUNC(tl_vf64, tl_vf64_evens, (tl_vf64 a, tl_vf64 b),
             _mm512_permutex2var_pd(a, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), b))
TL_SIMD_FUNC(tl_vf, tl_vf_evens, (tl_vf a, tl_vf b),
             _mm512_permutex2var_ps(a,
                                    _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24,
                                                      26, 28, 30),
                                    b))
TL_SIMD_FUNC(tl_vf64, tl_vf64_odds, (tl_vf64 a, tl_vf64 b),
             _mm512_permutex2var_pd(a, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), b))
TL_SIMD_FUNC(tl_vf, tl_vf_odds, (tl_vf a, tl_vf b),
             _mm512_permutex2var_ps(a,
                                    _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25,
                                                      27, 29, 31),
                                    b))
TL_SIMD_FUNC(double, tl_vf64_sum, (tl_vf64 a), _mm512_reduce_add_pd(a))
TL_SIMD_FUNC(float, tl_vf_reduce_max, (tl_vf a), _mm512_reduce_max_ps(a))

/** a = the even 128-bit lanes of a, then of b; b = the odd ones. */
static inline void tl_vf_part_pairs(tl_vf *a, tl_vf *b)
{
    const tl_vf even = _mm512_shuffle_f32x4(*a, *b, 0x88);
    *b = _mm512_shuffle_f32x4(*a, *b, 0xdd);
    *a = even;
}

static inline void tl_vf_transpose(tl_vf v[TL_VF_LANES])
{
    tl_vf t[TL_VF_LANES];
    for (int i = 0; i < 16; i += 4) { // 4x4 matrices, four in each row
        const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(v[i], v[i + 1]));
        const __m512d b = _mm512_castps_pd(_mm512_unpackhi_ps(v[i], v[i + 1]));
        const __m512d c = _mm512_castps_pd(_mm512_unpacklo_ps(v[i + 2], v[i + 3]));
        const __m512d d = _mm512_castps_pd(_mm512_unpackhi_ps(v[i + 2], v[i + 3]));
        t[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
        t[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
        t[i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
        t[i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
    }
    for (int i = 0; i < 4; i++) { // and these parts, as a 4x4 matrix
        tl_vf_part_pairs(&t[i], &t[i + 4]);
        tl_vf_part_pairs(&t[i + 8], &t[i + 12]);
        tl_vf_part_pairs(&t[i], &t[i + 8]);
        tl_vf_part_pairs(&t[i + 4], &t[i + 12]);
        v[i] = t[i];
        v[i + 4] = t[i + 4];
        v[i + 8] = t[i + 8];
        v[i + 12] = t[i + 12];
    }
}

typedef struct tl_vp {
    __m512i from;
    __mmask16 taken;
} tl_vp;

static inline tl_vp tl_vp_load(const int32_t *from)
{
    const __m512i v = _mm512_loadu_si512(from);
    return (tl_vp){v, _mm512_cmpge_epi32_mask(v, _mm512_setzero_si512())};
}

TL_SIMD_FUNC(tl_vf, tl_vf_pick, (tl_vp p, tl_vf a, tl_vf kept),
             _mm512_mask_permutexvar_ps(kept, p.taken, p.from, a))
TL_SIMD_FUNC(tl_vf, tl_vf_swap_128, (tl_vf a), _mm512_shuffle_f32x4(a, a, 0xb1))
TL_SIMD_FUNC(tl_vf, tl_vf_twice, (tl_vf a), _mm512_broadcast_f32x8(_mm512_castps512_ps256(a)))

static inline tl_vf tl_vf_set2(float x, float y)
{
    const tl_vf lower = _mm512_castps256_ps512(_mm256_set1_ps(x));
    return _mm512_mask_blend_ps(0xff00, lower, _mm512_set1_ps(y));
}

TL_SIMD_FUNC(tl_vf, tl_vf_half, (tl_vf a, int k),
             _mm512_zextps256_ps512(k ? _mm512_extractf32x8_ps(a, 1) : _mm512_castps512_ps256(a)))

/** 128-bit lane k. */
static inline __m128i tl_vi_extract_128(tl_vi v, const int k)
{
    if (k == 0)
        return _mm512_castsi512_si128(v);
    if (k == 1)
        return _mm512_extracti32x4_epi32(v, 1);
    return k == 2 ? _mm512_extracti32x4_epi32(v, 2) : _mm512_extracti32x4_epi32(v, 3);
}

/** Transposes v as a matrix [128-bit lane][32 bits]: restores the order after two packs. */
static inline tl_vi tl_vi_ordered(tl_vi v)
{
    const tl_vi order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_permutexvar_epi32(order, v);
}
