// SPDX-License-Identifier: Apache-2.0
// Vectors of AVX-512 (F and DQ): see tl_simd.h.

#ifndef TL_SIMD_AVX512_H
#define TL_SIMD_AVX512_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define TL_SIMD_AVX512        // for headers of further words
#define TL_SIMD_FLOATS avx512 // the set whose kernels of floats go with these

#define TL_SIMD_LANES     16
#define TL_SIMD_REGISTERS 32

enum { TL_VF_LANES = TL_SIMD_LANES };

typedef __m512 tl_vf;
typedef __mmask16 tl_vm;

static inline tl_vf tl_vf_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

static inline void tl_vf_store(float *p, tl_vf a)
{
    _mm512_storeu_ps(p, a);
}

static inline tl_vm tl_vm_first(size_t n)
{
    return (tl_vm)((1u << n) - 1);
}

static inline tl_vf tl_vf_load_part(const float *p, size_t n)
{
    return _mm512_maskz_loadu_ps(tl_vm_first(n), p);
}

static inline void tl_vf_store_part(float *p, tl_vf a, size_t n)
{
    _mm512_mask_storeu_ps(p, tl_vm_first(n), a);
}

static inline tl_vf tl_vf_keep(tl_vf a)
{
    __asm__("" : "+v"(a));
    return a;
}

static inline tl_vf tl_vf_set1(float x)
{
    return _mm512_set1_ps(x);
}

static inline tl_vf tl_vf_zero(void)
{
    return _mm512_setzero_ps();
}

static inline tl_vf tl_vf_add(tl_vf a, tl_vf b)
{
    return _mm512_add_ps(a, b);
}

static inline tl_vf tl_vf_sub(tl_vf a, tl_vf b)
{
    return _mm512_sub_ps(a, b);
}

static inline tl_vf tl_vf_mul(tl_vf a, tl_vf b)
{
    return _mm512_mul_ps(a, b);
}

static inline tl_vf tl_vf_div(tl_vf a, tl_vf b)
{
    return _mm512_div_ps(a, b);
}

static inline tl_vf tl_vf_sqrt(tl_vf a)
{
    return _mm512_sqrt_ps(a);
}

static inline tl_vf tl_vf_fma(tl_vf a, tl_vf b, tl_vf c)
{
    return _mm512_fmadd_ps(a, b, c);
}

static inline tl_vf tl_vf_fnma(tl_vf a, tl_vf b, tl_vf c)
{
    return _mm512_fnmadd_ps(a, b, c);
}

static inline tl_vf tl_vf_fma_once(tl_vf a, tl_vf b, tl_vf c)
{
    return tl_vf_fma(a, b, c);
}

static inline tl_vf tl_vf_max(tl_vf a, tl_vf b)
{
    return _mm512_max_ps(a, b);
}

static inline tl_vf tl_vf_min(tl_vf a, tl_vf b)
{
    return _mm512_min_ps(a, b);
}

static inline tl_vf tl_vf_abs(tl_vf a)
{
    return _mm512_abs_ps(a);
}

static inline tl_vf tl_vf_neg(tl_vf a)
{
    return _mm512_xor_ps(a, _mm512_set1_ps(-0.0f));
}

/** The magnitude of a with the sign of b. */
static inline tl_vf tl_vf_copysign(tl_vf a, tl_vf b)
{
    const __m512 sign = _mm512_set1_ps(-0.0f);
    return _mm512_or_ps(_mm512_andnot_ps(sign, a), _mm512_and_ps(sign, b));
}

static inline tl_vm tl_vf_lt(tl_vf a, tl_vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}

static inline tl_vm tl_vf_le(tl_vf a, tl_vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ);
}

static inline tl_vm tl_vf_eq(tl_vf a, tl_vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}

static inline tl_vf tl_vf_select(tl_vm m, tl_vf a, tl_vf b)
{
    return _mm512_mask_blend_ps(m, b, a);
}

static inline tl_vf tl_vf_round(tl_vf a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static inline tl_vf tl_vf_scale(tl_vf a, tl_vf n)
{
    return _mm512_scalef_ps(a, n);
}

static inline tl_vf tl_vf_exponent(tl_vf a)
{
    return _mm512_getexp_ps(a);
}

static inline tl_vf tl_vf_mantissa(tl_vf a)
{
    return _mm512_getmant_ps(a, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src);
}

static inline float tl_vf_sum(tl_vf a)
{
    return _mm512_reduce_add_ps(a);
}

static inline float tl_vf_largest(tl_vf a)
{
    return _mm512_reduce_max_ps(a);
}

/** The four 128-bit parts of a and b by two patterns of _mm512_shuffle_f32x4: the even ones, the
 * odd ones. */
static inline void tl_vf_part_pairs(tl_vf *a, tl_vf *b)
{
    const tl_vf even = _mm512_shuffle_f32x4(*a, *b, 0x88);
    *b = _mm512_shuffle_f32x4(*a, *b, 0xdd);
    *a = even;
}

static inline void tl_vf_transpose(tl_vf v[TL_VF_LANES])
{
    tl_vf t[TL_VF_LANES];
    for (int i = 0; i < 16; i += 4) { // 4x4 matrices, four beside each other in each row
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

static inline tl_vf tl_vf_pick(tl_vp p, tl_vf a, tl_vf kept)
{
    return _mm512_mask_permutexvar_ps(kept, p.taken, p.from, a);
}

static inline tl_vf tl_vf_spread(tl_vf a, int k)
{
    return _mm512_permutevar_ps(a, _mm512_set1_epi32(k));
}

static inline tl_vf tl_vf_swap_fours(tl_vf a)
{
    return _mm512_shuffle_f32x4(a, a, 0xb1);
}

static inline tl_vf tl_vf_twice(tl_vf a)
{
    return _mm512_broadcast_f32x8(_mm512_castps512_ps256(a));
}

static inline tl_vf tl_vf_set2(float x, float y)
{
    const tl_vf lower = _mm512_castps256_ps512(_mm256_set1_ps(x));
    return _mm512_mask_blend_ps(0xff00, lower, _mm512_set1_ps(y));
}

static inline tl_vf tl_vf_half(tl_vf a, int k)
{
    return _mm512_zextps256_ps512(k ? _mm512_extractf32x8_ps(a, 1) : _mm512_castps512_ps256(a));
}

#endif
