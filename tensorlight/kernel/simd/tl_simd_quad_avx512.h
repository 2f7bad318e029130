// SPDX-License-Identifier: Apache-2.0
// Dot products of bytes in vectors of AVX-512, with or without VNNI: see tl_simd_quad.h.

#pragma once

#include "kernel/simd/tl_simd_quad_x86.h"

TL_SIMD_FUNC(tl_vi, tl_vi_load_u8, (const uint8_t *p),
             _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p)))
TL_SIMD_FUNC(tl_vb, tl_vb_pixel, (const uint8_t *p), tl_vi_load_u8(p))

/** Four channels of the four pixels come together, as a matrix that is then transposed. */
static inline tl_vq tl_vq_pixels(const uint8_t *p)
{
    const __m512i turned =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    return tl_vq_of(_mm512_shuffle_epi8(tl_vi_ordered(_mm512_loadu_si512(p)), turned));
}

static inline void tl_vi_store_pixels(uint8_t *p, const tl_vi v[4], int n, const tl_vi_range *r)
{
    const tl_vi pixels = tl_vi_pixels(v, r);
    if (n == 4)
        _mm512_storeu_si512(p, pixels);
    else
        _mm512_mask_storeu_epi64(p, (__mmask8)((1u << 2 * n) - 1), pixels);
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

/** Table entries of indices 0 .. 255 in 16-bit words. */
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
