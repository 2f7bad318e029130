// SPDX-License-Identifier: Apache-2.0
// Small types in vectors of NEON (AArch64): see tl_simd_small.h.

#pragma once

#include "kernel/simd/tl_simd_neon.h"

/** Four bytes in the lower half. */
static inline uint8x8_t tl_small_load4(const void *p)
{
    uint32_t bits;
    memcpy(&bits, p, sizeof(bits));
    return vreinterpret_u8_u32(vdup_n_u32(bits));
}

static inline void tl_small_store4(void *p, uint8x8_t v)
{
    const uint32_t bits = vget_lane_u32(vreinterpret_u32_u8(v), 0);
    memcpy(p, &bits, sizeof(bits));
}

static inline tl_vf tl_vf_load_i8(const int8_t *p)
{
    const int16x8_t words = vmovl_s8(vreinterpret_s8_u8(tl_small_load4(p)));
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(words)));
}

static inline tl_vf tl_vf_load_u8(const uint8_t *p)
{
    const uint16x8_t words = vmovl_u8(tl_small_load4(p));
    return vcvtq_f32_u32(vmovl_u16(vget_low_u16(words)));
}

TL_SIMD_FUNC(tl_vf, tl_vf_load_i16, (const int16_t *p), vcvtq_f32_s32(vmovl_s16(vld1_s16(p))))
TL_SIMD_FUNC(tl_vf, tl_vf_load_u16, (const uint16_t *p), vcvtq_f32_u32(vmovl_u16(vld1_u16(p))))
TL_SIMD_FUNC(tl_vf, tl_vf_load_i32, (const int32_t *p), vcvtq_f32_s32(vld1q_s32(p)))
TL_SIMD_FUNC(tl_vf, tl_vf_load_f16, (const uint16_t *p),
             vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p))))
TL_SIMD_FUNC(tl_vf, tl_vf_load_bf16, (const uint16_t *p),
             vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16)))
TL_SIMD_FUNC(void, tl_vf_store_i16, (int16_t p[], tl_vf v),
             vst1_s16(p, vmovn_s32(vcvtq_s32_f32(v))))
TL_SIMD_FUNC(void, tl_vf_store_u16, (uint16_t p[], tl_vf v),
             vst1_u16(p, vmovn_u32(vcvtq_u32_f32(v))))

static inline void tl_vf_store_i8(int8_t *p, tl_vf v)
{
    const int16x4_t words = vmovn_s32(vcvtq_s32_f32(v));
    tl_small_store4(p, vreinterpret_u8_s8(vmovn_s16(vcombine_s16(words, words))));
}

static inline void tl_vf_store_u8(uint8_t *p, tl_vf v)
{
    const uint16x4_t words = vmovn_u32(vcvtq_u32_f32(v));
    tl_small_store4(p, vmovn_u16(vcombine_u16(words, words)));
}

// The instruction saturates and makes 0 of NaN.
TL_SIMD_FUNC(void, tl_vf_store_i32, (int32_t p[], tl_vf v), vst1q_s32(p, vcvtq_s32_f32(v)))
TL_SIMD_FUNC(void, tl_vf_store_f16, (uint16_t p[], tl_vf v),
             vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(v))))

static inline void tl_vf_store_bf16(uint16_t *p, tl_vf v)
{
    const uint32x4_t bits = vreinterpretq_u32_f32(v), upper = vshrq_n_u32(bits, 16);
    const uint32x4_t odd = vandq_u32(upper, vdupq_n_u32(1));
    const uint32x4_t sum = vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd);
    const uint32x4_t quiet = vorrq_u32(upper, vdupq_n_u32(0x40));
    vst1_u16(p, vmovn_u32(vbslq_u32(vceqq_f32(v, v), vshrq_n_u32(sum, 16), quiet)));
}
