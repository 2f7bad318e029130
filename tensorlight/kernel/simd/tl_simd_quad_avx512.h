// SPDX-License-Identifier: Apache-2.0
// Dot products of bytes in vectors of AVX-512, with or without VNNI: see tl_simd_quad.h.

#ifndef TL_SIMD_QUAD_AVX512_H
#define TL_SIMD_QUAD_AVX512_H

#include "kernel/simd/tl_simd_avx512.h"

typedef __m512i tl_vi;
typedef __m512i tl_vb;

static inline tl_vi tl_vi_load(const int32_t *p)
{
    return _mm512_loadu_si512(p);
}

static inline tl_vi tl_vi_set1(int32_t x)
{
    return _mm512_set1_epi32(x);
}

static inline tl_vi tl_vi_load_u8(const uint8_t *p)
{
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p));
}

static inline tl_vi tl_vi_add(tl_vi a, tl_vi b)
{
    return _mm512_add_epi32(a, b);
}

static inline tl_vi tl_vi_mul(tl_vi a, tl_vi b)
{
    return _mm512_mullo_epi32(a, b);
}

static inline tl_vf tl_vi_to_vf(tl_vi a)
{
    return _mm512_cvtepi32_ps(a);
}

static inline tl_vb tl_vb_load(const void *p)
{
    return _mm512_loadu_si512(p);
}

/** Four channels of the four pixels come together, as a matrix that is then transposed. */
static inline tl_vb tl_vb_pixels(const uint8_t *p)
{
    const __m512i fours = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i turned =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(fours, _mm512_loadu_si512(p)), turned);
}

static inline tl_vb tl_vb_pixel(const uint8_t *p)
{
    return tl_vi_load_u8(p);
}

static inline tl_vb tl_vb_later(tl_vb a, tl_vb b)
{
    return _mm512_or_si512(_mm512_srli_epi32(a, 24), _mm512_slli_epi32(b, 8));
}

static inline tl_vb tl_vb_tap(tl_vb a, int k)
{
    return _mm512_srl_epi32(a, _mm_cvtsi32_si128(8 * k));
}

#if defined(TL_SIMD_AVX512VNNI)

typedef __m512i tl_vq;
typedef __m512i tl_vk;

static inline tl_vq tl_vq_of(tl_vb a)
{
    return a;
}

static inline tl_vk tl_vk_of(tl_vb a)
{
    return a;
}

static inline tl_vi tl_vi_dot(tl_vi sum, tl_vq q, tl_vk w)
{
    return _mm512_dpbusd_epi32(sum, q, w);
}

typedef int tl_vn __attribute__((vector_size(64))); // GCC keeps these in registers

static inline tl_vn tl_vn_begin(tl_vi sum)
{
    return (tl_vn)sum;
}

static inline tl_vn tl_vn_dot(tl_vn s, tl_vb q, tl_vb w)
{
    return (tl_vn)_mm512_dpbusd_epi32((__m512i)s, q, w);
}

static inline tl_vi tl_vn_end(tl_vi sum, tl_vn s)
{
    (void)sum;
    return (tl_vi)s;
}

#else

/** Bytes 0 and 2, and 1 and 3, as words: no sum of two products is saturated. */
typedef struct tl_vq {
    __m512i even, odd;
} tl_vq;
typedef tl_vq tl_vk;

static inline tl_vq tl_vq_of(tl_vb a)
{
    return (tl_vq){_mm512_and_si512(a, _mm512_set1_epi16(0xff)), _mm512_srli_epi16(a, 8)};
}

static inline tl_vk tl_vk_of(tl_vb a)
{
    return (tl_vk){_mm512_srai_epi16(_mm512_slli_epi16(a, 8), 8), _mm512_srai_epi16(a, 8)};
}

static inline tl_vi tl_vi_dot(tl_vi sum, tl_vq q, tl_vk w)
{
    return _mm512_add_epi32(_mm512_add_epi32(sum, _mm512_madd_epi16(q.even, w.even)),
                            _mm512_madd_epi16(q.odd, w.odd));
}

/** In 16 bits, of which the sum of TL_VN_DOTS times two products, 8 * 2 * 15 * 128, leaves some. */
typedef short tl_vn __attribute__((vector_size(64)));

static inline tl_vn tl_vn_begin(tl_vi sum)
{
    (void)sum;
    return (tl_vn){0};
}

static inline tl_vn tl_vn_dot(tl_vn s, tl_vb q, tl_vb w)
{
    return s + (tl_vn)_mm512_maddubs_epi16(q, w);
}

static inline tl_vi tl_vn_end(tl_vi sum, tl_vn s)
{
    return _mm512_add_epi32(sum, _mm512_madd_epi16((__m512i)s, _mm512_set1_epi16(1)));
}

#endif

static inline tl_vq tl_vq_pixels(const uint8_t *p)
{
    return tl_vq_of(tl_vb_pixels(p));
}

#define TL_VN_REGISTERS 1

enum { TL_VN_DOTS = 8 };

static inline tl_vi tl_vi_shift_left(tl_vi a, int n)
{
    return _mm512_sll_epi32(a, _mm_cvtsi32_si128(n));
}

static inline tl_vi tl_vi_bits(tl_vb b, int from, int n)
{
    typedef unsigned words __attribute__((vector_size(64)));
    return _mm512_and_si512((__m512i)((words)b >> from), _mm512_set1_epi32((1 << n) - 1));
}

static inline tl_vb tl_vb_fours(const void *p)
{
    int x;
    memcpy(&x, p, sizeof(x));
    return _mm512_set1_epi32(x);
}

static inline tl_vb tl_vb_bits(tl_vb b, int from, int n)
{
    typedef unsigned short words __attribute__((vector_size(64)));
    return _mm512_and_si512((__m512i)((words)b >> from), _mm512_set1_epi8((char)((1 << n) - 1)));
}

static inline tl_vb tl_vb_zero(void)
{
    return _mm512_setzero_si512();
}

typedef struct tl_vi_range {
    __m512i zero, low, high;
} tl_vi_range;

static inline tl_vi_range tl_vi_range_of(int zero, int low, int high)
{
    return (tl_vi_range){_mm512_set1_epi16((short)zero), _mm512_set1_epi8((char)low),
                         _mm512_set1_epi8((char)high)};
}

static inline tl_vi tl_vi_round(tl_vf a)
{
    return _mm512_cvtps_epi32(a);
}

/** Pairs of vectors are packed within parts of 128 bits; their fours of bytes are then put in
 * order. */
static inline void tl_vi_store_pixels(uint8_t *p, const tl_vi v[4], int n, const tl_vi_range *r)
{
    const __m512i a = _mm512_adds_epi16(_mm512_packs_epi32(v[0], v[1]), r->zero);
    const __m512i b = _mm512_adds_epi16(_mm512_packs_epi32(v[2], v[3]), r->zero);
    const __m512i kept =
        _mm512_min_epu8(r->high, _mm512_max_epu8(_mm512_packus_epi16(a, b), r->low));
    const __m512i fours = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i pixels = _mm512_permutexvar_epi32(fours, kept);
    if (n == 4)
        _mm512_storeu_si512(p, pixels);
    else
        _mm512_mask_storeu_epi64(p, (__mmask8)((1u << 2 * n) - 1), pixels);
}

/** 16 bytes: the channels of a pixel. */
typedef __m128i tl_v16;

static inline tl_v16 tl_v16_load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

static inline void tl_v16_store(uint8_t *p, tl_v16 a)
{
    _mm_storeu_si128((__m128i *)p, a);
}

static inline tl_v16 tl_v16_zero(void)
{
    return _mm_setzero_si128();
}

static inline tl_v16 tl_v16_set1(uint8_t x)
{
    return _mm_set1_epi8((char)x);
}

static inline tl_v16 tl_v16_max(tl_v16 a, tl_v16 b)
{
    return _mm_max_epu8(a, b);
}

static inline tl_v16 tl_v16_or(tl_v16 a, tl_v16 b)
{
    return _mm_or_si128(a, b);
}

static inline tl_v16 tl_v16_zip_low(tl_v16 a, tl_v16 b)
{
    return _mm_unpacklo_epi8(a, b);
}

static inline tl_v16 tl_v16_zip_high(tl_v16 a, tl_v16 b)
{
    return _mm_unpackhi_epi8(a, b);
}

static inline tl_v16 tl_v16_pick(tl_v16 a, tl_v16 from)
{
    return _mm_shuffle_epi8(a, from);
}

/** A table of 256 bytes: pairs of them are words, of which two registers have 64. */
typedef struct tl_table {
    __m512i words[4];
} tl_table;

enum { TL_TABLE_BYTES = 64 };

static inline tl_table tl_table_load(const uint8_t *p)
{
    return (tl_table){{_mm512_loadu_si512(p), _mm512_loadu_si512(p + 64),
                       _mm512_loadu_si512(p + 128), _mm512_loadu_si512(p + 192)}};
}

/** What stands for bytes 0 .. 255 in words. */
static inline __m512i tl_table_words(const tl_table *t, __m512i at)
{
    const __m512i word = _mm512_srli_epi16(at, 1);
    const __mmask32 is_upper = _mm512_test_epi16_mask(at, _mm512_set1_epi16(0x80));
    const __m512i lower = _mm512_permutex2var_epi16(t->words[0], word, t->words[1]);
    const __m512i upper = _mm512_permutex2var_epi16(t->words[2], word, t->words[3]);
    const __m512i odd = _mm512_slli_epi16(_mm512_and_si512(at, _mm512_set1_epi16(1)), 3);
    const __m512i pair = _mm512_mask_blend_epi16(is_upper, lower, upper);
    return _mm512_and_si512(_mm512_srlv_epi16(pair, odd), _mm512_set1_epi16(0xff));
}

static inline void tl_table_look(const tl_table *t, const uint8_t *src, uint8_t *dst)
{
    const __m512i v = _mm512_loadu_si512(src);
    const __m512i even = tl_table_words(t, _mm512_and_si512(v, _mm512_set1_epi16(0xff)));
    const __m512i odd = tl_table_words(t, _mm512_srli_epi16(v, 8));
    _mm512_storeu_si512(dst, _mm512_or_si512(even, _mm512_slli_epi16(odd, 8)));
}

#endif
