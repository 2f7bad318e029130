// SPDX-License-Identifier: Apache-2.0
// Dot products of bytes by AVX2, with and without VNNI, and AVX-512 with it: see tl_simd_dot.h.

#pragma once

#include "kernel/simd/tl_simd.h"

#define TL_VX_OFFSET    0
#define TL_VS_REGISTERS 1

typedef int tl_vs __attribute__((vector_size(sizeof(tl_vf)))); // GCC keeps these in registers
typedef tl_vi tl_vx;
typedef tl_vi tl_vw;

static inline tl_vx tl_vx_opaque(tl_vx x)
{
    __asm__("" : "+v"(x));
    return x;
}

TL_SIMD_FUNC(tl_vs, tl_vs_begin, (const uint32_t *start),
             (tl_vs)TL_MM_BITS(loadu)((const tl_vi *)start))

static inline tl_vf tl_vf_of_sums(tl_vs s, const uint32_t *start)
{
    (void)start;
    return TL_MM(cvtepi32_ps)((tl_vi)s);
}

static inline void tl_vs_store(uint32_t *p, tl_vs s, const uint32_t *start)
{
    (void)start;
    memcpy(p, &s, sizeof(s));
}

static inline tl_vi tl_vx_four(const uint8_t *p)
{
    int x;
    memcpy(&x, p, sizeof(x));
    return TL_MM(set1_epi32)(x);
}

#if defined(TL_SIMD_VNNI)

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
    return TL_MM_BITS(loadu)((const tl_vi *)p);
}

TL_SIMD_FUNC(tl_vs, tl_vs_add, (tl_vs s, tl_vx x, tl_vw w), (tl_vs)TL_MM_DOT((tl_vi)s, x, w))

#else

/** As 16-bit words, since maddubs_epi16 would saturate: bytes 0 and 2, then bytes 1 and 3. */
#define TL_VX_PARTS 2
#define TL_VX_BYTES 2

static inline tl_vx tl_vx_load(const uint8_t *p, const int part)
{
    return tl_vx_four(p + 16 * part);
}

static inline tl_vw tl_vw_load(const int8_t *p, const int part)
{
    const tl_vi w = TL_MM_BITS(loadu)((const tl_vi *)p);
    return TL_MM(srai_epi16)(part ? w : TL_MM(slli_epi16)(w, 8), 8);
}

/** GCC would add later, and keep products in memory until then, or copy sums. */
static inline tl_vs tl_vs_add(tl_vs s, tl_vx x, tl_vw w)
{
    const tl_vs product = (tl_vs)TL_MM(madd_epi16)(x, w);
    __asm__("vpaddd %1, %0, %0" : "+v"(s) : "v"(product));
    return s;
}

#endif

typedef tl_vi tl_vb;

enum { TL_VB_VECTORS = 4 };

/** In 32 bits, at most 2^30, which later saturates; beyond 2^31 the conversion returns INT_MIN. */
TL_SIMD_FUNC(tl_vi, tl_vb_rounded, (tl_vf v),
             TL_MM(cvtps_epi32)(TL_MM(min_ps)(v, TL_MM(set1_ps)(0x1p30f))))

static inline tl_vi tl_vb_pair(const tl_vf *v, int zero)
{
    return TL_MM(adds_epi16)(TL_MM(packs_epi32)(tl_vb_rounded(v[0]), tl_vb_rounded(v[1])),
                             TL_MM(set1_epi16)((int16_t)zero));
}

TL_SIMD_FUNC(tl_vb, tl_vb_of, (const tl_vf v[TL_VB_VECTORS], int zero),
             tl_vi_ordered(TL_MM(packus_epi16)(tl_vb_pair(v, zero), tl_vb_pair(v + 2, zero))))
TL_SIMD_FUNC(void, tl_vb_store, (uint8_t p[], tl_vb b), TL_MM_BITS(storeu)((tl_vi *)p, b))
TL_SIMD_FUNC(void, tl_vb_store_block, (uint8_t p[], tl_vb b, const int k),
             _mm_storeu_si128((__m128i *)p, tl_vi_extract_128(b, k)))
