// SPDX-License-Identifier: Apache-2.0
// Dot products of bytes in vectors of AVX2, with or without AVX-VNNI: see tl_simd_quad.h.

#pragma once

#include "kernel/simd/tl_simd_quad_x86.h"

TL_SIMD_FUNC(tl_vi, tl_vi_load_u8, (const uint8_t *p),
             _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p)))
TL_SIMD_FUNC(tl_vb, tl_vb_pixel, (const uint8_t *p), tl_vi_load_u8(p))

#if defined(TL_SIMD_VNNI)

/** Eight channels of the pixels `at` and `at` + 1, interleaved in fours. */
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

TL_SIMD_FUNC(tl_vq, tl_vq_pixels, (const uint8_t *p), tl_vq_of(tl_vb_pixels(p)))

#else

/** The channels of the pixel at `p` and of the second one after it, interleaved, as words. */
static inline __m256i tl_vq_two(const uint8_t *p)
{
    return _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)p),
                                                  _mm_loadl_epi64((const __m128i *)(p + 32))));
}

TL_SIMD_FUNC(tl_vq, tl_vq_pixels, (const uint8_t *p), (tl_vq){tl_vq_two(p), tl_vq_two(p + 16)})

#endif

static inline void tl_vi_store_pixels(uint8_t *p, const tl_vi v[4], int n, const tl_vi_range *r)
{
    const tl_vi pixels = tl_vi_pixels(v, r);
    const __m128i two[2] = {tl_vi_extract_128(pixels, 0), tl_vi_extract_128(pixels, 1)};
    for (int k = 0; k < 4 && k < n; k++)
        _mm_storel_epi64((__m128i *)(p + 16 * k),
                         k % 2 ? _mm_unpackhi_epi64(two[k / 2], two[k / 2]) : two[k / 2]);
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

/** Before step i, 16 i is subtracted from the indices. Those of part i are below 16; plus 0x70, all
 *  others have their upper bit set, for which the shuffle yields 0. */
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
