// SPDX-License-Identifier: Apache-2.0
// Dot products of bytes in vectors of AVX2, with or without AVX-VNNI: see tl_simd_quad.h.

#ifndef TL_SIMD_QUAD_AVX2_H
#define TL_SIMD_QUAD_AVX2_H

#include "kernel/simd/tl_simd_avx2.h"

typedef __m256i tl_vi;
typedef __m256i tl_vb;

static inline tl_vi tl_vi_load(const int32_t *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

static inline tl_vi tl_vi_set1(int32_t x)
{
    return _mm256_set1_epi32(x);
}

static inline tl_vi tl_vi_load_u8(const uint8_t *p)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
}

static inline tl_vi tl_vi_add(tl_vi a, tl_vi b)
{
    return _mm256_add_epi32(a, b);
}

static inline tl_vi tl_vi_mul(tl_vi a, tl_vi b)
{
    return _mm256_mullo_epi32(a, b);
}

static inline tl_vf tl_vi_to_vf(tl_vi a)
{
    return _mm256_cvtepi32_ps(a);
}

static inline tl_vb tl_vb_load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

static inline tl_vb tl_vb_pixel(const uint8_t *p)
{
    return tl_vi_load_u8(p);
}

static inline tl_vb tl_vb_later(tl_vb a, tl_vb b)
{
    return _mm256_or_si256(_mm256_srli_epi32(a, 24), _mm256_slli_epi32(b, 8));
}

static inline tl_vb tl_vb_tap(tl_vb a, int k)
{
    return _mm256_srl_epi32(a, _mm_cvtsi32_si128(8 * k));
}

#if defined(TL_SIMD_AVXVNNI)

typedef __m256i tl_vq;
typedef __m256i tl_vk;

static inline tl_vq tl_vq_of(tl_vb a)
{
    return a;
}

/** Eight bytes of the pixels `at` and `at` + 1. */
static inline __m128i tl_vb_two(const uint8_t *p, int at)
{
    return _mm_unpacklo_epi32(_mm_loadl_epi64((const __m128i *)(p + 16 * at)),
                              _mm_loadl_epi64((const __m128i *)(p + 16 * at + 16)));
}

/** Four channels of the four pixels come together, as a matrix that is then transposed. */
static inline tl_vb tl_vb_pixels(const uint8_t *p)
{
    const __m128i a = tl_vb_two(p, 0), b = tl_vb_two(p, 2);
    const __m256i fours = _mm256_set_m128i(_mm_unpackhi_epi64(a, b), _mm_unpacklo_epi64(a, b));
    const __m256i turned = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    return _mm256_shuffle_epi8(fours, turned);
}

static inline tl_vq tl_vq_pixels(const uint8_t *p)
{
    return tl_vq_of(tl_vb_pixels(p));
}

static inline tl_vk tl_vk_of(tl_vb a)
{
    return a;
}

static inline tl_vi tl_vi_dot(tl_vi sum, tl_vq q, tl_vk w)
{
    return _mm256_dpbusd_avx_epi32(sum, q, w);
}

typedef int tl_vn __attribute__((vector_size(32))); // GCC keeps these in registers

static inline tl_vn tl_vn_begin(tl_vi sum)
{
    return (tl_vn)sum;
}

static inline tl_vn tl_vn_dot(tl_vn s, tl_vb q, tl_vb w)
{
    return (tl_vn)_mm256_dpbusd_avx_epi32((__m256i)s, q, w);
}

static inline tl_vi tl_vn_end(tl_vi sum, tl_vn s)
{
    (void)sum;
    return (tl_vi)s;
}

#else

/** Bytes 0 and 2, and 1 and 3, as words: no sum of two products is saturated. */
typedef struct tl_vq {
    __m256i even, odd;
} tl_vq;
typedef tl_vq tl_vk;

static inline tl_vq tl_vq_of(tl_vb a)
{
    return (tl_vq){_mm256_and_si256(a, _mm256_set1_epi16(0xff)), _mm256_srli_epi16(a, 8)};
}

/** Channels of the pixels at `p` and two behind, in turn, as words. */
static inline __m256i tl_vq_two(const uint8_t *p)
{
    return _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)p),
                                                  _mm_loadl_epi64((const __m128i *)(p + 32))));
}

static inline tl_vq tl_vq_pixels(const uint8_t *p)
{
    return (tl_vq){tl_vq_two(p), tl_vq_two(p + 16)};
}

static inline tl_vk tl_vk_of(tl_vb a)
{
    return (tl_vk){_mm256_srai_epi16(_mm256_slli_epi16(a, 8), 8), _mm256_srai_epi16(a, 8)};
}

static inline tl_vi tl_vi_dot(tl_vi sum, tl_vq q, tl_vk w)
{
    return _mm256_add_epi32(_mm256_add_epi32(sum, _mm256_madd_epi16(q.even, w.even)),
                            _mm256_madd_epi16(q.odd, w.odd));
}

/** In 16 bits, of which the sum of TL_VN_DOTS times two products, 8 * 2 * 15 * 128, leaves some. */
typedef short tl_vn __attribute__((vector_size(32)));

static inline tl_vn tl_vn_begin(tl_vi sum)
{
    (void)sum;
    return (tl_vn){0};
}

static inline tl_vn tl_vn_dot(tl_vn s, tl_vb q, tl_vb w)
{
    return s + (tl_vn)_mm256_maddubs_epi16(q, w);
}

static inline tl_vi tl_vn_end(tl_vi sum, tl_vn s)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16((__m256i)s, _mm256_set1_epi16(1)));
}

#endif

#define TL_VN_REGISTERS 1

enum { TL_VN_DOTS = 8 };

static inline tl_vi tl_vi_shift_left(tl_vi a, int n)
{
    return _mm256_sll_epi32(a, _mm_cvtsi32_si128(n));
}

static inline tl_vi tl_vi_bits(tl_vb b, int from, int n)
{
    typedef unsigned words __attribute__((vector_size(32)));
    return _mm256_and_si256((__m256i)((words)b >> from), _mm256_set1_epi32((1 << n) - 1));
}

static inline tl_vb tl_vb_fours(const void *p)
{
    int x;
    memcpy(&x, p, sizeof(x));
    return _mm256_set1_epi32(x);
}

static inline tl_vb tl_vb_bits(tl_vb b, int from, int n)
{
    typedef unsigned short words __attribute__((vector_size(32)));
    return _mm256_and_si256((__m256i)((words)b >> from), _mm256_set1_epi8((char)((1 << n) - 1)));
}

static inline tl_vb tl_vb_zero(void)
{
    return _mm256_setzero_si256();
}

typedef struct tl_vi_range {
    __m256i zero, low, high;
} tl_vi_range;

static inline tl_vi_range tl_vi_range_of(int zero, int low, int high)
{
    return (tl_vi_range){_mm256_set1_epi16((short)zero), _mm256_set1_epi8((char)low),
                         _mm256_set1_epi8((char)high)};
}

static inline tl_vi tl_vi_round(tl_vf a)
{
    return _mm256_cvtps_epi32(a);
}

/** Pairs of vectors are packed within parts of 128 bits; their fours of bytes are then put in
 * order. */
static inline void tl_vi_store_pixels(uint8_t *p, const tl_vi v[4], int n, const tl_vi_range *r)
{
    const __m256i a = _mm256_adds_epi16(_mm256_packs_epi32(v[0], v[1]), r->zero);
    const __m256i b = _mm256_adds_epi16(_mm256_packs_epi32(v[2], v[3]), r->zero);
    const __m256i kept =
        _mm256_min_epu8(r->high, _mm256_max_epu8(_mm256_packus_epi16(a, b), r->low));
    const __m256i pixels =
        _mm256_permutevar8x32_epi32(kept, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    const __m128i two[2] = {_mm256_castsi256_si128(pixels), _mm256_extracti128_si256(pixels, 1)};
    for (int k = 0; k < 4 && k < n; k++)
        _mm_storel_epi64((__m128i *)(p + 16 * k),
                         k % 2 ? _mm_unpackhi_epi64(two[k / 2], two[k / 2]) : two[k / 2]);
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

/** A table of 256 bytes, in 16 parts. */
typedef struct tl_table {
    __m256i parts[16];
} tl_table;

enum { TL_TABLE_BYTES = 32 };

static inline tl_table tl_table_load(const uint8_t *p)
{
    tl_table t;
    for (int i = 0; i < 16; i++)
        t.parts[i] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(p + 16 * i)));
    return t;
}

/** Bytes that look for another part have their upper bit set, and find 0. */
static inline void tl_table_look(const tl_table *t, const uint8_t *src, uint8_t *dst)
{
    __m256i at = _mm256_loadu_si256((const __m256i *)src), found = _mm256_setzero_si256();
    for (int i = 0; i < 16; i++) {
        const __m256i here = _mm256_adds_epu8(at, _mm256_set1_epi8(0x70));
        found = _mm256_or_si256(found, _mm256_shuffle_epi8(t->parts[i], here));
        at = _mm256_sub_epi8(at, _mm256_set1_epi8(16));
    }
    _mm256_storeu_si256((__m256i *)dst, found);
}

#endif
