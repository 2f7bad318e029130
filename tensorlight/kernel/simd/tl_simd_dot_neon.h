// SPDX-License-Identifier: Apache-2.0
// Dot products of bytes by NEON, plain, with dot products of signed bytes, and with those of
// unsigned by signed ones: see tl_simd_dot.h.

#pragma once

#include "kernel/simd/tl_simd_neon.h"

#define TL_VX_PARTS 1
#define TL_VX_BYTES 1

#if defined(TL_SIMD_DOTPROD)

#define TL_VS_REGISTERS 1

typedef int32x4_t tl_vs;
typedef int8x16_t tl_vw;

static inline tl_vw tl_vw_load(const int8_t *p, const int part)
{
    (void)part;
    return vld1q_s8(p);
}

TL_SIMD_FUNC(tl_vs, tl_vs_begin, (const uint32_t *start), vreinterpretq_s32_u32(vld1q_u32(start)))

static inline tl_vf tl_vf_of_sums(tl_vs s, const uint32_t *start)
{
    (void)start;
    return vcvtq_f32_s32(s);
}

static inline void tl_vs_store(uint32_t *p, tl_vs s, const uint32_t *start)
{
    (void)start;
    vst1q_u32(p, vreinterpretq_u32_s32(s));
}

static inline uint8x16_t tl_vx_four(const uint8_t *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof(x));
    return vreinterpretq_u8_u32(vdupq_n_u32(x));
}

#if defined(TL_SIMD_I8MM)

#define TL_VX_OFFSET 0

typedef uint8x16_t tl_vx;

static inline tl_vx tl_vx_load(const uint8_t *p, const int part)
{
    (void)part;
    return tl_vx_four(p);
}

TL_SIMD_FUNC(tl_vs, tl_vs_add, (tl_vs s, tl_vx x, tl_vw w), vusdotq_s32(s, x, w))

#else

#define TL_VX_OFFSET 128

typedef int8x16_t tl_vx;

static inline tl_vx tl_vx_load(const uint8_t *p, const int part)
{
    (void)part;
    return vreinterpretq_s8_u8(veorq_u8(tl_vx_four(p), vdupq_n_u8(0x80)));
}

TL_SIMD_FUNC(tl_vs, tl_vs_add, (tl_vs s, tl_vx x, tl_vw w), vdotq_s32(s, x, w))

#endif

#else

#define TL_VS_REGISTERS 2
#define TL_VX_OFFSET    0

/** Each lane's sum in two neighbours: a holds those of lanes 0 and 1, b of lanes 2 and 3. */
typedef struct tl_vs {
    int32x4_t a, b;
} tl_vs;

typedef struct tl_vw {
    int16x8_t a, b;
} tl_vw;

typedef int16x8_t tl_vx;

static inline tl_vx tl_vx_load(const uint8_t *p, const int part)
{
    (void)part;
    uint32_t x;
    memcpy(&x, p, sizeof(x));
    return vreinterpretq_s16_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(x))));
}

static inline tl_vw tl_vw_load(const int8_t *p, const int part)
{
    (void)part;
    const int8x16_t w = vld1q_s8(p);
    return (tl_vw){vmovl_s8(vget_low_s8(w)), vmovl_high_s8(w)};
}

static inline tl_vs tl_vs_begin(const uint32_t *start)
{
    (void)start;
    return (tl_vs){vdupq_n_s32(0), vdupq_n_s32(0)};
}

/** A product of 255 and -128 fits 16 bits. */
TL_SIMD_FUNC(tl_vs, tl_vs_add, (tl_vs s, tl_vx x, tl_vw w),
             (tl_vs){vpadalq_s16(s.a, vmulq_s16(x, w.a)), vpadalq_s16(s.b, vmulq_s16(x, w.b))})
TL_SIMD_FUNC(int32x4_t, tl_vs_total, (tl_vs s, const uint32_t *start),
             vaddq_s32(vpaddq_s32(s.a, s.b), vreinterpretq_s32_u32(vld1q_u32(start))))
TL_SIMD_FUNC(void, tl_vs_store, (uint32_t p[], tl_vs s, const uint32_t *start),
             vst1q_u32(p, vreinterpretq_u32_s32(tl_vs_total(s, start))))
TL_SIMD_FUNC(tl_vf, tl_vf_of_sums, (tl_vs s, const uint32_t *start),
             vcvtq_f32_s32(tl_vs_total(s, start)))

#endif

static inline tl_vx tl_vx_opaque(tl_vx x)
{
    __asm__("" : "+w"(x));
    return x;
}

typedef uint8x16_t tl_vb;

enum { TL_VB_VECTORS = 4 };

static inline int16x8_t tl_vb_pair(const tl_vf *v, int zero)
{
    const int16x4_t low = vqmovn_s32(vcvtnq_s32_f32(v[0]));
    return vqaddq_s16(vqmovn_high_s32(low, vcvtnq_s32_f32(v[1])), vdupq_n_s16((int16_t)zero));
}

TL_SIMD_FUNC(tl_vb, tl_vb_of, (const tl_vf v[TL_VB_VECTORS], int zero),
             vqmovun_high_s16(vqmovun_s16(tl_vb_pair(v, zero)), tl_vb_pair(v + 2, zero)))
TL_SIMD_FUNC(void, tl_vb_store, (uint8_t p[], tl_vb b), vst1q_u8(p, b))

static inline void tl_vb_store_block(uint8_t *p, tl_vb b, const int k)
{
    (void)k;
    vst1q_u8(p, b);
}
