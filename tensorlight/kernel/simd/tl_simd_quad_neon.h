// SPDX-License-Identifier: Apache-2.0
// Dot products of bytes in vectors of NEON: see tl_simd_quad.h.

#pragma once

#include "kernel/simd/tl_simd_neon.h"

typedef int32x4_t tl_vi;
typedef uint8x16_t tl_vb;

TL_SIMD_FUNC(tl_vi, tl_vi_load, (const int32_t *p), vld1q_s32(p))
TL_SIMD_FUNC(tl_vi, tl_vi_set1, (int32_t x), vdupq_n_s32(x))

static inline uint32_t tl_quad_bits(const void *p)
{
    uint32_t bits;
    memcpy(&bits, p, sizeof(bits));
    return bits;
}

static inline tl_vi tl_vi_load_u8(const uint8_t *p)
{
    const uint16x8_t words = vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(tl_quad_bits(p))));
    return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(words)));
}

TL_SIMD_FUNC(tl_vi, tl_vi_add, (tl_vi a, tl_vi b), vaddq_s32(a, b))
TL_SIMD_FUNC(tl_vi, tl_vi_mul, (tl_vi a, tl_vi b), vmulq_s32(a, b))
TL_SIMD_FUNC(tl_vf, tl_vi_to_vf, (tl_vi a), vcvtq_f32_s32(a))
TL_SIMD_FUNC(tl_vb, tl_vb_load, (const void *p), vld1q_u8(p))

/** Four channels of the four pixels, as a matrix that is then transposed. */
static inline tl_vb tl_vb_pixels(const uint8_t *p)
{
    static const uint8_t turned[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    uint32x4_t fours = vdupq_n_u32(tl_quad_bits(p));
    fours = vsetq_lane_u32(tl_quad_bits(p + 16), fours, 1);
    fours = vsetq_lane_u32(tl_quad_bits(p + 32), fours, 2);
    fours = vsetq_lane_u32(tl_quad_bits(p + 48), fours, 3);
    return vqtbl1q_u8(vreinterpretq_u8_u32(fours), vld1q_u8(turned));
}

TL_SIMD_FUNC(tl_vb, tl_vb_pixel, (const uint8_t *p), vreinterpretq_u8_s32(tl_vi_load_u8(p)))

static inline tl_vb tl_vb_later(tl_vb a, tl_vb b)
{
    const uint32x4_t first = vshrq_n_u32(vreinterpretq_u32_u8(a), 24);
    return vreinterpretq_u8_u32(vorrq_u32(first, vshlq_n_u32(vreinterpretq_u32_u8(b), 8)));
}

TL_SIMD_FUNC(tl_vb, tl_vb_tap, (tl_vb a, int k),
             vreinterpretq_u8_u32(vshlq_u32(vreinterpretq_u32_u8(a), vdupq_n_s32(-8 * k))))

/** As words: each product fits into one. */
typedef struct tl_vq {
    int16x8_t low, high;
} tl_vq;
typedef tl_vq tl_vk;

static inline tl_vq tl_vq_of(tl_vb a)
{
    return (tl_vq){vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(a))),
                   vreinterpretq_s16_u16(vmovl_u8(vget_high_u8(a)))};
}

TL_SIMD_FUNC(tl_vq, tl_vq_pixels, (const uint8_t *p), tl_vq_of(tl_vb_pixels(p)))

static inline tl_vk tl_vk_of(tl_vb a)
{
    const int8x16_t bytes = vreinterpretq_s8_u8(a);
    return (tl_vk){vmovl_s8(vget_low_s8(bytes)), vmovl_s8(vget_high_s8(bytes))};
}

static inline tl_vi tl_vi_dot(tl_vi sum, tl_vq q, tl_vk w)
{
    const int32x4_t low = vpaddlq_s16(vmulq_s16(q.low, w.low));
    const int32x4_t high = vpaddlq_s16(vmulq_s16(q.high, w.high));
    return vaddq_s32(sum, vpaddq_s32(low, high));
}

#if defined(TL_SIMD_DOTPROD)

#define TL_VN_REGISTERS 1

typedef int32x4_t tl_vn;

enum { TL_VN_DOTS = INT_MAX, TL_VN_BYTES = 0 };

TL_SIMD_FUNC(tl_vn, tl_vn_begin, (tl_vi sum), sum)

/** Values below 16 have a sign, too. */
TL_SIMD_FUNC(tl_vn, tl_vn_dot, (tl_vn s, tl_vb q, tl_vb w),
             vdotq_s32(s, vreinterpretq_s8_u8(q), vreinterpretq_s8_u8(w)))

static inline tl_vi tl_vn_end(tl_vi sum, tl_vn s)
{
    (void)sum;
    return s;
}

#else

#define TL_VN_REGISTERS 2

enum { TL_VN_DOTS = 8, TL_VN_BYTES = 0 };

/** In 16 bits, each product for itself: TL_VN_DOTS of them, 8 * 15 * 128, fit. */
typedef struct tl_vn {
    int16x8_t low, high;
} tl_vn;

static inline tl_vn tl_vn_begin(tl_vi sum)
{
    (void)sum;
    return (tl_vn){vdupq_n_s16(0), vdupq_n_s16(0)};
}

static inline tl_vn tl_vn_dot(tl_vn s, tl_vb q, tl_vb w)
{
    const int8x16_t a = vreinterpretq_s8_u8(q), b = vreinterpretq_s8_u8(w);
    return (tl_vn){vmlal_s8(s.low, vget_low_s8(a), vget_low_s8(b)), vmlal_high_s8(s.high, a, b)};
}

TL_SIMD_FUNC(tl_vi, tl_vn_end, (tl_vi sum, tl_vn s),
             vaddq_s32(sum, vpaddq_s32(vpaddlq_s16(s.low), vpaddlq_s16(s.high))))

#endif

TL_SIMD_FUNC(tl_vi, tl_vi_shift_left, (tl_vi a, int n), vshlq_s32(a, vdupq_n_s32(n)))

static inline tl_vi tl_vi_bits(tl_vb b, int from, int n)
{
    const uint32x4_t moved = vshlq_u32(vreinterpretq_u32_u8(b), vdupq_n_s32(-from));
    return vreinterpretq_s32_u32(vandq_u32(moved, vdupq_n_u32((1u << n) - 1)));
}

TL_SIMD_FUNC(tl_vb, tl_vb_fours, (const void *p),
             vreinterpretq_u8_u32(vdupq_n_u32(tl_quad_bits(p))))
TL_SIMD_FUNC(tl_vb, tl_vb_bits, (tl_vb b, int from, int n),
             vandq_u8(vshlq_u8(b, vdupq_n_s8((int8_t)-from)), vdupq_n_u8((uint8_t)((1 << n) - 1))))
TL_SIMD_FUNC(tl_vb, tl_vb_zero, (void), vdupq_n_u8(0))

typedef struct tl_vi_range {
    int16x8_t zero;
    uint8x16_t low, high;
} tl_vi_range;

static inline tl_vi_range tl_vi_range_of(int zero, int low, int high)
{
    return (tl_vi_range){vdupq_n_s16((int16_t)zero), vdupq_n_u8((uint8_t)low),
                         vdupq_n_u8((uint8_t)high)};
}

TL_SIMD_FUNC(tl_vi, tl_vi_round, (tl_vf a), vcvtnq_s32_f32(a))

static inline void tl_vi_store_pixels(uint8_t *p, const tl_vi v[4], int n, const tl_vi_range *r)
{
    const int16x8_t a = vqaddq_s16(vcombine_s16(vqmovn_s32(v[0]), vqmovn_s32(v[1])), r->zero);
    const int16x8_t b = vqaddq_s16(vcombine_s16(vqmovn_s32(v[2]), vqmovn_s32(v[3])), r->zero);
    const uint8x16_t bytes = vcombine_u8(vqmovun_s16(a), vqmovun_s16(b));
    const uint8x16_t kept = vminq_u8(r->high, vmaxq_u8(bytes, r->low));
    uint8_t pixels[16];
    vst1q_u8(pixels, kept);
    for (int k = 0; k < 4 && k < n; k++)
        memcpy(p + 16 * k, pixels + 4 * k, 4);
}

/** 16 bytes: the channels of a pixel. */
typedef uint8x16_t tl_v16;

TL_SIMD_FUNC(tl_v16, tl_v16_load, (const uint8_t *p), vld1q_u8(p))
TL_SIMD_FUNC(void, tl_v16_store, (uint8_t p[], tl_v16 a), vst1q_u8(p, a))
TL_SIMD_FUNC(tl_v16, tl_v16_zero, (void), vdupq_n_u8(0))
TL_SIMD_FUNC(tl_v16, tl_v16_set1, (uint8_t x), vdupq_n_u8(x))
TL_SIMD_FUNC(tl_v16, tl_v16_max, (tl_v16 a, tl_v16 b), vmaxq_u8(a, b))
TL_SIMD_FUNC(tl_v16, tl_v16_or, (tl_v16 a, tl_v16 b), vorrq_u8(a, b))
TL_SIMD_FUNC(tl_v16, tl_v16_zip_low, (tl_v16 a, tl_v16 b), vzip1q_u8(a, b))
TL_SIMD_FUNC(tl_v16, tl_v16_zip_high, (tl_v16 a, tl_v16 b), vzip2q_u8(a, b))
TL_SIMD_FUNC(tl_v16, tl_v16_pick, (tl_v16 a, tl_v16 from), vqtbl1q_u8(a, from))

/** A table of 256 bytes, in four parts. */
typedef struct tl_table {
    uint8x16x4_t parts[4];
} tl_table;

enum { TL_TABLE_BYTES = 16 };

static inline tl_table tl_table_load(const uint8_t *p)
{
    tl_table t;
    for (int i = 0; i < 16; i++)
        t.parts[i / 4].val[i % 4] = vld1q_u8(p + 16 * i);
    return t;
}

/** Indices of other parts, 64 and more after the subtraction, leave their bytes unchanged. */
static inline void tl_table_look(const tl_table *t, const uint8_t *src, uint8_t *dst)
{
    const uint8x16_t at = vld1q_u8(src);
    uint8x16_t found = vqtbl4q_u8(t->parts[0], at);
    for (int i = 1; i < 4; i++)
        found = vqtbx4q_u8(found, t->parts[i], vsubq_u8(at, vdupq_n_u8((uint8_t)(64 * i))));
    vst1q_u8(dst, found);
}
