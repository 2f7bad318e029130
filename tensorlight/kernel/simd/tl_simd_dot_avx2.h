// SPDX-License-Identifier: Apache-2.0
// Dot products of bytes by AVX2 and by AVX-VNNI: see tl_simd_dot.h.

#ifndef TL_SIMD_DOT_AVX2_H
#define TL_SIMD_DOT_AVX2_H

#include "kernel/simd/tl_simd_avx2.h"

#define TL_VX_OFFSET    0
#define TL_VS_REGISTERS 1

typedef int tl_vs __attribute__((vector_size(32))); // GCC keeps these in registers
typedef __m256i tl_vx;
typedef __m256i tl_vw;

static inline tl_vx tl_vx_keep(tl_vx x)
{
    __asm__("" : "+x"(x));
    return x;
}

static inline tl_vs tl_vs_begin(const uint32_t *start)
{
    return (tl_vs)_mm256_loadu_si256((const __m256i *)start);
}

static inline tl_vf tl_vf_of_sums(tl_vs s, const uint32_t *start)
{
    (void)start;
    return _mm256_cvtepi32_ps((__m256i)s);
}

static inline __m256i tl_vx_four(const uint8_t *p)
{
    int x;
    memcpy(&x, p, sizeof(x));
    return _mm256_set1_epi32(x);
}

#if defined(TL_SIMD_AVXVNNI)

#define TL_VX_PARTS 1
#define TL_VX_BYTES 1

static inline tl_vx tl_vx_load(const uint8_t *p, const int part)
{
    (void)part;
    return tl_vx_four(p);
}

static inline tl_vw tl_vw_load(const int8_t *p, const int part)
{
    (void)part;
    return _mm256_loadu_si256((const __m256i *)p);
}

static inline tl_vs tl_vs_add(tl_vs s, tl_vx x, tl_vw w)
{
    return (tl_vs)_mm256_dpbusd_avx_epi32((__m256i)s, x, w);
}

#else

/* In 16 bits, so that pairs of products need no saturation: bytes 0 and 2, then bytes 1 and 3. */
#define TL_VX_PARTS 2
#define TL_VX_BYTES 2

static inline tl_vx tl_vx_load(const uint8_t *p, const int part)
{
    return tl_vx_four(p + 16 * part);
}

static inline tl_vw tl_vw_load(const int8_t *p, const int part)
{
    const __m256i w = _mm256_loadu_si256((const __m256i *)p);
    return _mm256_srai_epi16(part ? w : _mm256_slli_epi16(w, 8), 8);
}

/** GCC would add later, and keep products in memory until then, or copy sums. */
static inline tl_vs tl_vs_add(tl_vs s, tl_vx x, tl_vw w)
{
    const tl_vs product = (tl_vs)_mm256_madd_epi16(x, w);
    __asm__("vpaddd %1, %0, %0" : "+x"(s) : "x"(product));
    return s;
}

#endif

typedef __m256i tl_vb;

enum { TL_VB_VECTORS = 4 };

/** In 32 bits; what is too large for them stays large. */
static inline __m256i tl_vb_rounded(tl_vf v)
{
    return _mm256_cvtps_epi32(_mm256_min_ps(v, _mm256_set1_ps(0x1p30f)));
}

static inline __m256i tl_vb_pair(const tl_vf *v, int zero)
{
    return _mm256_adds_epi16(_mm256_packs_epi32(tl_vb_rounded(v[0]), tl_vb_rounded(v[1])),
                             _mm256_set1_epi16((int16_t)zero));
}

static inline tl_vb tl_vb_of(const tl_vf v[TL_VB_VECTORS], int zero)
{
    // Each 128 bits of the packed ones have a half of each vector.
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    return _mm256_permutevar8x32_epi32(
        _mm256_packus_epi16(tl_vb_pair(v, zero), tl_vb_pair(v + 2, zero)), order);
}

static inline void tl_vb_store(uint8_t *p, tl_vb b)
{
    _mm256_storeu_si256((__m256i *)p, b);
}

static inline void tl_vb_store_block(uint8_t *p, tl_vb b, const int k)
{
    _mm_storeu_si128((__m128i *)p, k ? _mm256_extracti128_si256(b, 1) : _mm256_castsi256_si128(b));
}

#endif
