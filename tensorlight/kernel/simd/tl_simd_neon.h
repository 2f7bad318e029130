// SPDX-License-Identifier: Apache-2.0
// Vectors of NEON (AArch64): see tl_simd.h.

#pragma once

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TL_SIMD_NEON        // for headers of further words
#define TL_SIMD_FLOATS neon // the set whose kernels of floats go with these

#define TL_SIMD_LANES     4
#define TL_SIMD_REGISTERS 32

enum { TL_VF_LANES = TL_SIMD_LANES };

typedef float32x4_t tl_vf;
typedef float64x2_t tl_vf64;
typedef uint32x4_t tl_vm;

TL_SIMD_FUNC(tl_vf, tl_vf_load, (const float *p), vld1q_f32(p))
TL_SIMD_FUNC(void, tl_vf_store, (float *p, tl_vf a), vst1q_f32(p, a))

static inline tl_vf tl_vf_load_partial(const float *p, size_t n)
{
    float lanes[4] = {0};
    memcpy(lanes, p, n * sizeof(*p));
    return vld1q_f32(lanes);
}

static inline void tl_vf_store_partial(float *p, tl_vf a, size_t n)
{
    float lanes[4];
    vst1q_f32(lanes, a);
    memcpy(p, lanes, n * sizeof(*p));
}

static inline tl_vf tl_vf_opaque(tl_vf a)
{
    __asm__("" : "+w"(a));
    return a;
}

TL_SIMD_FUNC(tl_vf, tl_vf_set1, (float x), vdupq_n_f32(x))
TL_SIMD_FUNC(tl_vf, tl_vf_zero, (void), vdupq_n_f32(0))
TL_SIMD_FUNC(tl_vf, tl_vf_add, (tl_vf a, tl_vf b), vaddq_f32(a, b))
TL_SIMD_FUNC(tl_vf, tl_vf_sub, (tl_vf a, tl_vf b), vsubq_f32(a, b))
TL_SIMD_FUNC(tl_vf, tl_vf_mul, (tl_vf a, tl_vf b), vmulq_f32(a, b))
TL_SIMD_FUNC(tl_vf, tl_vf_div, (tl_vf a, tl_vf b), vdivq_f32(a, b))
TL_SIMD_FUNC(tl_vf, tl_vf_sqrt, (tl_vf a), vsqrtq_f32(a))
TL_SIMD_FUNC(tl_vf, tl_vf_fma, (tl_vf a, tl_vf b, tl_vf c), vfmaq_f32(c, a, b))
TL_SIMD_FUNC(tl_vf, tl_vf_fnma, (tl_vf a, tl_vf b, tl_vf c), vfmsq_f32(c, a, b))
TL_SIMD_FUNC(tl_vf, tl_vf_fma_once, (tl_vf a, tl_vf b, tl_vf c), tl_vf_fma(a, b, c))
TL_SIMD_FUNC(tl_vf, tl_vf_abs, (tl_vf a), vabsq_f32(a))
TL_SIMD_FUNC(tl_vf, tl_vf_neg, (tl_vf a), vnegq_f32(a))

/** The magnitude of a with the sign of b. */
TL_SIMD_FUNC(tl_vf, tl_vf_copysign, (tl_vf a, tl_vf b), vbslq_f32(vdupq_n_u32(0x80000000u), b, a))
TL_SIMD_FUNC(tl_vm, tl_vf_lt, (tl_vf a, tl_vf b), vcltq_f32(a, b))
TL_SIMD_FUNC(tl_vm, tl_vf_le, (tl_vf a, tl_vf b), vcleq_f32(a, b))
TL_SIMD_FUNC(tl_vm, tl_vf_eq, (tl_vf a, tl_vf b), vceqq_f32(a, b))
TL_SIMD_FUNC(tl_vf, tl_vf_select, (tl_vm m, tl_vf a, tl_vf b), vbslq_f32(m, a, b))

// Not vmaxq_f32 and vminq_f32: they let a NaN on either side win.
TL_SIMD_FUNC(tl_vf, tl_vf_max, (tl_vf a, tl_vf b), vbslq_f32(vcgtq_f32(a, b), a, b))
TL_SIMD_FUNC(tl_vf, tl_vf_min, (tl_vf a, tl_vf b), vbslq_f32(vcltq_f32(a, b), a, b))
TL_SIMD_FUNC(tl_vf, tl_vf_round, (tl_vf a), vrndnq_f32(a))

static inline tl_vf tl_vf_scale(tl_vf a, tl_vf n)
{
    const int32x4_t bits = vshlq_n_s32(vaddq_s32(vcvtq_s32_f32(n), vdupq_n_s32(127)), 23);
    return vmulq_f32(a, vreinterpretq_f32_s32(bits));
}

static inline tl_vf tl_vf_exponent(tl_vf a)
{
    const int32x4_t bits = vreinterpretq_s32_u32(vshrq_n_u32(vreinterpretq_u32_f32(a), 23));
    return vcvtq_f32_s32(vsubq_s32(bits, vdupq_n_s32(127)));
}

static inline tl_vf tl_vf_mantissa(tl_vf a)
{
    const uint32x4_t bits = vandq_u32(vreinterpretq_u32_f32(a), vdupq_n_u32(0x007fffff));
    return vreinterpretq_f32_u32(vorrq_u32(bits, vdupq_n_u32(0x3f800000)));
}

TL_SIMD_FUNC(tl_vf64, tl_vf64_zero, (void), vdupq_n_f64(0))
TL_SIMD_FUNC(tl_vf64, tl_vf64_add, (tl_vf64 a, tl_vf64 b), vaddq_f64(a, b))
TL_SIMD_FUNC(tl_vf64, tl_vf64_mul, (tl_vf64 a, tl_vf64 b), vmulq_f64(a, b))
TL_SIMD_FUNC(tl_vf64, tl_vf64_load, (const double *p), vld1q_f64(p))
TL_SIMD_FUNC(void, tl_vf64_store, (double *p, tl_vf64 a), vst1q_f64(p, a))
TL_SIMD_FUNC(tl_vf64, tl_vf64_widen, (const float *p), vcvt_f64_f32(vld1_f32(p)))
TL_SIMD_FUNC(tl_vf64, tl_vf64_half, (tl_vf a, int k),
             k ? vcvt_high_f64_f32(a) : vcvt_f64_f32(vget_low_f32(a)))
TL_SIMD_FUNC(tl_vf64, tl_vf64_set1, (double x), vdupq_n_f64(x))
TL_SIMD_FUNC(void, tl_vf64_store_floats, (float *p, tl_vf64 a), vst1_f32(p, vcvt_f32_f64(a)))
TL_SIMD_FUNC(tl_vf64, tl_vf64_evens, (tl_vf64 a, tl_vf64 b), vuzp1q_f64(a, b))
TL_SIMD_FUNC(tl_vf, tl_vf_evens, (tl_vf a, tl_vf b), vuzp1q_f32(a, b))
TL_SIMD_FUNC(tl_vf64, tl_vf64_odds, (tl_vf64 a, tl_vf64 b), vuzp2q_f64(a, b))
TL_SIMD_FUNC(tl_vf, tl_vf_odds, (tl_vf a, tl_vf b), vuzp2q_f32(a, b))
TL_SIMD_FUNC(double, tl_vf64_sum, (tl_vf64 a), vaddvq_f64(a))
TL_SIMD_FUNC(float, tl_vf_sum, (tl_vf a), vaddvq_f32(a))

static inline float tl_vf_reduce_max(tl_vf a)
{
    const tl_vf pairs = tl_vf_max(a, vextq_f32(a, a, 2));
    return vgetq_lane_f32(tl_vf_max(pairs, vextq_f32(pairs, pairs, 1)), 0);
}

static inline void tl_vf_transpose(tl_vf v[TL_VF_LANES])
{
    const float32x4x2_t a = vtrnq_f32(v[0], v[1]), b = vtrnq_f32(v[2], v[3]);
    for (int i = 0; i < 2; i++) {
        v[i] = vcombine_f32(vget_low_f32(a.val[i]), vget_low_f32(b.val[i]));
        v[i + 2] = vcombine_f32(vget_high_f32(a.val[i]), vget_high_f32(b.val[i]));
    }
}

typedef struct tl_vp {
    uint8x16_t from; // of each byte; 16 and more: kept
} tl_vp;

static inline tl_vp tl_vp_load(const int32_t *from)
{
    uint8_t bytes[16];
    for (int i = 0; i < 16; i++)
        bytes[i] = from[i / 4] < 0 ? 255 : (uint8_t)(from[i / 4] * 4 + i % 4);
    return (tl_vp){vld1q_u8(bytes)};
}

static inline tl_vf tl_vf_pick(tl_vp p, tl_vf a, tl_vf kept)
{
    return vreinterpretq_f32_u8(
        vqtbx1q_u8(vreinterpretq_u8_f32(kept), vreinterpretq_u8_f32(a), p.from));
}

TL_SIMD_FUNC(tl_vf, tl_vf_broadcast_lane4, (tl_vf a, int k), vdupq_n_f32(a[k]))
