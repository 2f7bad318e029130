// SPDX-License-Identifier: Apache-2.0
// Dot products of two 16-bit integers each, with sign, summed modulo 2^32. See tl_simd.h.
//
//     tl_vd                    TL_VF_LANES sums of 32 bits
//     tl_vd_zero()
//     tl_vd_store(p, s)        any address, as uint32_t
//     tl_vdx, tl_vdx_load(p)   two source values, for all lanes
//     tl_vdw, tl_vdw_load(p)   two weights of each lane: 2 TL_VF_LANES values
//     tl_vd_add(s, x, w)       s plus the two products of each lane

#pragma once

#include "kernel/simd/tl_simd.h"

typedef int32_t tl_vd
    __attribute__((vector_size(4 * TL_SIMD_LANES))); // GCC keeps these in registers

TL_SIMD_FUNC(tl_vd, tl_vd_zero, (void), (tl_vd){0})
TL_SIMD_FUNC(void, tl_vd_store, (uint32_t p[], tl_vd s), (void)memcpy(p, &s, sizeof(s)))

#if defined(TL_SIMD_X86)

typedef tl_vi tl_vdx, tl_vdw;

static inline tl_vdx tl_vdx_load(const int16_t *p)
{
    tl_vi x; // GCC would make two instructions of _mm256_set1_epi32
    __asm__("vpbroadcastd %1, %0" : "=v"(x) : "m"(*(const int16_t(*)[2])p));
    return x;
}

TL_SIMD_FUNC(tl_vdw, tl_vdw_load, (const int16_t *p), TL_MM_BITS(loadu)((const tl_vi *)p))

/** Adds at once: GCC would keep the addends of a later addition in memory. */
static inline tl_vd tl_vd_add(tl_vd s, tl_vdx x, tl_vdw w)
{
    s += (tl_vd)TL_MM(madd_epi16)(x, w);
    __asm__("" : "+v"(s));
    return s;
}

#elif defined(TL_SIMD_NEON)

typedef int16x4_t tl_vdx; // of which lanes 0 and 1 are used
typedef int16x4x2_t tl_vdw;

static inline tl_vdx tl_vdx_load(const int16_t *p)
{
    int x;
    memcpy(&x, p, sizeof(x));
    return vreinterpret_s16_s32(vdup_n_s32(x));
}

TL_SIMD_FUNC(tl_vdw, tl_vdw_load, (const int16_t *p), vld2_s16(p))

static inline tl_vd tl_vd_add(tl_vd s, tl_vdx x, tl_vdw w)
{
    const int32x4_t first = vmlal_lane_s16((int32x4_t)s, w.val[0], x, 0);
    return (tl_vd)vmlal_lane_s16(first, w.val[1], x, 1);
}

#endif
