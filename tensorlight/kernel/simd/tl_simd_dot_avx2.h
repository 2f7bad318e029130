// SPDX-License-Identifier: Apache-2.0
// Dot products of bytes by AVX2 and by AVX-VNNI: see tl_simd_dot.h.

#ifndef TL_SIMD_DOT_AVX2_H
#define TL_SIMD_DOT_AVX2_H

#include "kernel/simd/tl_simd_avx2.h"

#define TL_VX_OFFSET 0

typedef __m256i tl_vx;

static inline tl_vx tl_vx_keep(tl_vx x)
{
    __asm__("" : "+x"(x));
    return x;
}

#if defined(TL_SIMD_AVXVNNI)

#define TL_VS_REGISTERS 1

typedef int tl_vs __attribute__((vector_size(32))); // GCC keeps these in registers
typedef __m256i tl_vw;

static inline tl_vx tl_vx_load(const uint8_t *p)
{
    int x;
    memcpy(&x, p, sizeof(x));
    return _mm256_set1_epi32(x);
}

static inline tl_vw tl_vw_load(const int8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

static inline tl_vs tl_vs_begin(const uint32_t *start)
{
    return (tl_vs)_mm256_loadu_si256((const __m256i *)start);
}

static inline tl_vs tl_vs_add(tl_vs s, tl_vx x, tl_vw w)
{
    return (tl_vs)_mm256_dpbusd_avx_epi32((__m256i)s, x, w);
}

static inline tl_vf tl_vf_of_sums(tl_vs s, const uint32_t *start)
{
    (void)start;
    return _mm256_cvtepi32_ps((__m256i)s);
}

#else

#define TL_VS_REGISTERS 2

/** Each lane's sum in two neighbours: a holds those of lanes 0 .. 3, b of lanes 4 .. 7. */
typedef int tl_vs_half __attribute__((vector_size(32))); // GCC keeps these in registers
typedef struct tl_vs {
    tl_vs_half a, b;
} tl_vs;

typedef struct tl_vw {
    __m256i a, b; // in 16 bits, so that pairs of products need no saturation
} tl_vw;

static inline tl_vx tl_vx_load(const uint8_t *p)
{
    __m128i x; // GCC would make two instructions of _mm_set1_epi32
    __asm__("vpbroadcastd %1, %0" : "=x"(x) : "m"(*(const uint8_t(*)[4])p));
    return _mm256_cvtepu8_epi16(x);
}

static inline tl_vw tl_vw_load(const int8_t *p)
{
    return (tl_vw){_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)p)),
                   _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(p + 16)))};
}

static inline tl_vs tl_vs_begin(const uint32_t *start)
{
    (void)start;
    return (tl_vs){{0}, {0}};
}

/** s + a, at once: what GCC adds later it keeps in memory until then. */
static inline tl_vs_half tl_vs_half_add(tl_vs_half s, __m256i a)
{
    s += (tl_vs_half)a;
    __asm__("" : "+x"(s));
    return s;
}

static inline tl_vs tl_vs_add(tl_vs s, tl_vx x, tl_vw w)
{
    return (tl_vs){tl_vs_half_add(s.a, _mm256_madd_epi16(x, w.a)),
                   tl_vs_half_add(s.b, _mm256_madd_epi16(x, w.b))};
}

static inline tl_vf tl_vf_of_sums(tl_vs s, const uint32_t *start)
{
    const __m256i mixed = _mm256_hadd_epi32((__m256i)s.a, (__m256i)s.b); // lanes 0 1 4 5, 2 3 6 7
    const __m256i sums = _mm256_permute4x64_epi64(mixed, 0xd8);
    return _mm256_cvtepi32_ps(_mm256_add_epi32(sums, _mm256_loadu_si256((const __m256i *)start)));
}

#endif

#endif
