// SPDX-License-Identifier: Apache-2.0
// Dot products of bytes by AVX-512, with and without VNNI: see tl_simd_dot.h.

#ifndef TL_SIMD_DOT_AVX512_H
#define TL_SIMD_DOT_AVX512_H

#include "kernel/simd/tl_simd_avx512.h"

#define TL_VX_OFFSET 0

typedef __m512i tl_vx;

static inline tl_vx tl_vx_keep(tl_vx x)
{
    __asm__("" : "+v"(x));
    return x;
}

#if defined(TL_SIMD_AVX512VNNI)

#define TL_VS_REGISTERS 1

typedef int tl_vs __attribute__((vector_size(64))); // GCC keeps these in registers
typedef __m512i tl_vw;

static inline tl_vx tl_vx_load(const uint8_t *p)
{
    int x;
    memcpy(&x, p, sizeof(x));
    return _mm512_set1_epi32(x);
}

static inline tl_vw tl_vw_load(const int8_t *p)
{
    return _mm512_loadu_si512(p);
}

static inline tl_vs tl_vs_begin(const uint32_t *start)
{
    return (tl_vs)_mm512_loadu_si512(start);
}

static inline tl_vs tl_vs_add(tl_vs s, tl_vx x, tl_vw w)
{
    return (tl_vs)_mm512_dpbusd_epi32((__m512i)s, x, w);
}

static inline tl_vf tl_vf_of_sums(tl_vs s, const uint32_t *start)
{
    (void)start;
    return _mm512_cvtepi32_ps((__m512i)s);
}

#else

#define TL_VS_REGISTERS 2

/** Each lane's sum in two neighbours: a holds those of lanes 0 .. 7, b of lanes 8 .. 15. */
typedef int tl_vs_half __attribute__((vector_size(64))); // GCC keeps these in registers
typedef struct tl_vs {
    tl_vs_half a, b;
} tl_vs;

typedef struct tl_vw {
    __m512i a, b; // in 16 bits, so that pairs of products need no saturation
} tl_vw;

static inline tl_vx tl_vx_load(const uint8_t *p)
{
    int x;
    memcpy(&x, p, sizeof(x));
    return _mm512_cvtepu8_epi16(_mm256_set1_epi32(x));
}

static inline tl_vw tl_vw_load(const int8_t *p)
{
    return (tl_vw){_mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)p)),
                   _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)(p + 32)))};
}

static inline tl_vs tl_vs_begin(const uint32_t *start)
{
    (void)start;
    return (tl_vs){{0}, {0}};
}

/** s + a, at once: what GCC adds later it keeps in memory until then. */
static inline tl_vs_half tl_vs_half_add(tl_vs_half s, __m512i a)
{
    s += (tl_vs_half)a;
    __asm__("" : "+v"(s));
    return s;
}

static inline tl_vs tl_vs_add(tl_vs s, tl_vx x, tl_vw w)
{
    return (tl_vs){tl_vs_half_add(s.a, _mm512_madd_epi16(x, w.a)),
                   tl_vs_half_add(s.b, _mm512_madd_epi16(x, w.b))};
}

static inline tl_vf tl_vf_of_sums(tl_vs s, const uint32_t *start)
{
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    const __m512i sums =
        _mm512_add_epi32(_mm512_permutex2var_epi32((__m512i)s.a, even, (__m512i)s.b),
                         _mm512_permutex2var_epi32((__m512i)s.a, odd, (__m512i)s.b));
    return _mm512_cvtepi32_ps(_mm512_add_epi32(sums, _mm512_loadu_si512(start)));
}

#endif

typedef __m512i tl_vb;

enum { TL_VB_VECTORS = 4 };

/** In 32 bits; what is too large for them stays large. */
static inline __m512i tl_vb_rounded(tl_vf v)
{
    return _mm512_cvtps_epi32(_mm512_min_ps(v, _mm512_set1_ps(0x1p30f)));
}

static inline __m512i tl_vb_pair(const tl_vf *v, int zero)
{
    return _mm512_adds_epi16(_mm512_packs_epi32(tl_vb_rounded(v[0]), tl_vb_rounded(v[1])),
                             _mm512_set1_epi16((int16_t)zero));
}

static inline tl_vb tl_vb_of(const tl_vf v[TL_VB_VECTORS], int zero)
{
    // Each 128 bits of the packed ones have a quarter of each vector.
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_permutexvar_epi32(
        order, _mm512_packus_epi16(tl_vb_pair(v, zero), tl_vb_pair(v + 2, zero)));
}

static inline void tl_vb_store(uint8_t *p, tl_vb b)
{
    _mm512_storeu_si512(p, b);
}

static inline void tl_vb_store_block(uint8_t *p, tl_vb b, const int k)
{
    __m128i *const to = (__m128i *)p;
    if (k == 0)
        _mm_storeu_si128(to, _mm512_castsi512_si128(b));
    else if (k == 1)
        _mm_storeu_si128(to, _mm512_extracti32x4_epi32(b, 1));
    else if (k == 2)
        _mm_storeu_si128(to, _mm512_extracti32x4_epi32(b, 2));
    else
        _mm_storeu_si128(to, _mm512_extracti32x4_epi32(b, 3));
}

#endif
