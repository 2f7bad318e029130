// SPDX-License-Identifier: Apache-2.0
// Common parts of dot products of bytes by AVX2 and AVX-512, with or without VNNI: see
// tl_simd_quad.h.

#pragma once

#include "kernel/simd/tl_simd.h"

typedef tl_vi tl_vb;

TL_SIMD_FUNC(tl_vi, tl_vi_load, (const int32_t *p), TL_MM_BITS(loadu)((const tl_vi *)p))
TL_SIMD_FUNC(tl_vi, tl_vi_set1, (int32_t x), TL_MM(set1_epi32)(x))
TL_SIMD_FUNC(tl_vi, tl_vi_add, (tl_vi a, tl_vi b), TL_MM(add_epi32)(a, b))
TL_SIMD_FUNC(tl_vi, tl_vi_mul, (tl_vi a, tl_vi b), TL_MM(mullo_epi32)(a, b))
TL_SIMD_FUNC(tl_vf, tl_vi_to_vf, (tl_vi a), TL_MM(cvtepi32_ps)(a))
TL_SIMD_FUNC(tl_vb, tl_vb_load, (const void *p), TL_MM_BITS(loadu)((const tl_vi *)p))
TL_SIMD_FUNC(tl_vb, tl_vb_later, (tl_vb a, tl_vb b),
             TL_MM_BITS(or)(TL_MM(srli_epi32)(a, 24), TL_MM(slli_epi32)(b, 8)))
TL_SIMD_FUNC(tl_vb, tl_vb_tap, (tl_vb a, int k), TL_MM(srl_epi32)(a, _mm_cvtsi32_si128(8 * k)))

#if defined(TL_SIMD_VNNI)

typedef tl_vi tl_vq;
typedef tl_vi tl_vk;

TL_SIMD_FUNC(tl_vq, tl_vq_of, (tl_vb a), a)
TL_SIMD_FUNC(tl_vk, tl_vk_of, (tl_vb a), a)
TL_SIMD_FUNC(tl_vi, tl_vi_dot, (tl_vi sum, tl_vq q, tl_vk w), TL_MM_DOT(sum, q, w))

typedef int tl_vn __attribute__((vector_size(sizeof(tl_vf)))); // GCC keeps these in registers

enum { TL_VN_DOTS = INT_MAX, TL_VN_BYTES = 1 };

TL_SIMD_FUNC(tl_vn, tl_vn_begin, (tl_vi sum), (tl_vn)sum)
TL_SIMD_FUNC(tl_vn, tl_vn_dot, (tl_vn s, tl_vb q, tl_vb w), (tl_vn)TL_MM_DOT((tl_vi)s, q, w))

static inline tl_vi tl_vn_end(tl_vi sum, tl_vn s)
{
    (void)sum;
    return (tl_vi)s;
}

#else

/** Bytes 0 and 2, and 1 and 3, as words: no sum of two products is saturated. */
typedef struct tl_vq {
    tl_vi even, odd;
} tl_vq;
typedef tl_vq tl_vk;

TL_SIMD_FUNC(tl_vq, tl_vq_of, (tl_vb a),
             (tl_vq){TL_MM_BITS(and)(a, TL_MM(set1_epi16)(0xff)), TL_MM(srli_epi16)(a, 8)})
TL_SIMD_FUNC(tl_vk, tl_vk_of, (tl_vb a),
             (tl_vk){TL_MM(srai_epi16)(TL_MM(slli_epi16)(a, 8), 8), TL_MM(srai_epi16)(a, 8)})

static inline tl_vi tl_vi_dot(tl_vi sum, tl_vq q, tl_vk w)
{
    return TL_MM(add_epi32)(TL_MM(add_epi32)(sum, TL_MM(madd_epi16)(q.even, w.even)),
                            TL_MM(madd_epi16)(q.odd, w.odd));
}

/** In 16 bits: TL_VN_DOTS times two products, at most 8 * 2 * 15 * 128 = 30,720, fit. */
typedef short tl_vn __attribute__((vector_size(sizeof(tl_vf))));

enum { TL_VN_DOTS = 8, TL_VN_BYTES = 0 };

static inline tl_vn tl_vn_begin(tl_vi sum)
{
    (void)sum;
    return (tl_vn){0};
}

TL_SIMD_FUNC(tl_vn, tl_vn_dot, (tl_vn s, tl_vb q, tl_vb w), s + (tl_vn)TL_MM(maddubs_epi16)(q, w))
TL_SIMD_FUNC(tl_vi, tl_vn_end, (tl_vi sum, tl_vn s),
             TL_MM(add_epi32)(sum, TL_MM(madd_epi16)((tl_vi)s, TL_MM(set1_epi16)(1))))

#endif

#define TL_VN_REGISTERS 1

TL_SIMD_FUNC(tl_vi, tl_vi_shift_left, (tl_vi a, int n), TL_MM(sll_epi32)(a, _mm_cvtsi32_si128(n)))

static inline tl_vi tl_vi_bits(tl_vb b, int from, int n)
{
    typedef unsigned words __attribute__((vector_size(sizeof(tl_vf))));
    return TL_MM_BITS(and)((tl_vi)((words)b >> from), TL_MM(set1_epi32)((1 << n) - 1));
}

static inline tl_vb tl_vb_fours(const void *p)
{
    int x;
    memcpy(&x, p, sizeof(x));
    return TL_MM(set1_epi32)(x);
}

static inline tl_vb tl_vb_bits(tl_vb b, int from, int n)
{
    typedef unsigned short words __attribute__((vector_size(sizeof(tl_vf))));
    return TL_MM_BITS(and)((tl_vi)((words)b >> from), TL_MM(set1_epi8)((char)((1 << n) - 1)));
}

TL_SIMD_FUNC(tl_vb, tl_vb_zero, (void), TL_MM_BITS(setzero)())

typedef struct tl_vi_range {
    tl_vi zero, low, high;
} tl_vi_range;

static inline tl_vi_range tl_vi_range_of(int zero, int low, int high)
{
    return (tl_vi_range){TL_MM(set1_epi16)((short)zero), TL_MM(set1_epi8)((char)low),
                         TL_MM(set1_epi8)((char)high)};
}

TL_SIMD_FUNC(tl_vi, tl_vi_round, (tl_vf a), TL_MM(cvtps_epi32)(a))

/** The integers v[k], converted by the range r, as bytes: quarter k of the result. */
static inline tl_vi tl_vi_pixels(const tl_vi v[4], const tl_vi_range *r)
{
    const tl_vi a = TL_MM(adds_epi16)(TL_MM(packs_epi32)(v[0], v[1]), r->zero);
    const tl_vi b = TL_MM(adds_epi16)(TL_MM(packs_epi32)(v[2], v[3]), r->zero);
    const tl_vi kept = TL_MM(min_epu8)(r->high, TL_MM(max_epu8)(TL_MM(packus_epi16)(a, b), r->low));
    return tl_vi_ordered(kept);
}

/** 16 bytes: the channels of a pixel. */
typedef __m128i tl_v16;

TL_SIMD_FUNC(tl_v16, tl_v16_load, (const uint8_t *p), _mm_loadu_si128((const __m128i *)p))
TL_SIMD_FUNC(void, tl_v16_store, (uint8_t p[], tl_v16 a), _mm_storeu_si128((__m128i *)p, a))
TL_SIMD_FUNC(tl_v16, tl_v16_zero, (void), _mm_setzero_si128())
TL_SIMD_FUNC(tl_v16, tl_v16_set1, (uint8_t x), _mm_set1_epi8((char)x))
TL_SIMD_FUNC(tl_v16, tl_v16_max, (tl_v16 a, tl_v16 b), _mm_max_epu8(a, b))
TL_SIMD_FUNC(tl_v16, tl_v16_or, (tl_v16 a, tl_v16 b), _mm_or_si128(a, b))
TL_SIMD_FUNC(tl_v16, tl_v16_zip_low, (tl_v16 a, tl_v16 b), _mm_unpacklo_epi8(a, b))
TL_SIMD_FUNC(tl_v16, tl_v16_zip_high, (tl_v16 a, tl_v16 b), _mm_unpackhi_epi8(a, b))
TL_SIMD_FUNC(tl_v16, tl_v16_pick, (tl_v16 a, tl_v16 from), _mm_shuffle_epi8(a, from))
