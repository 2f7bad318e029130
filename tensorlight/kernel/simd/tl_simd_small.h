// SPDX-License-Identifier: Apache-2.0
// Loads and stores of float vectors as elements of other types: see tl_simd.h.
//
// For each type with tag i8, u8, i16, u16, i32, b8, f16 and bf16 (TL_TYPES):
//
//     tl_vf_load_TAG(p)                 elements as floats; b8: 1 where not 0
//     tl_vf_load_partial_TAG(p, n)      lanes 0 .. n-1, n < TL_VF_LANES; the others are 0
//     tl_vf_store_TAG(p, v)             integers: truncates v, which must be in the range of the
//                                       type; i32: saturates, 0 for NaN; b8: 1 where v is not 0;
//                                       f16, bf16: rounds half to even, overflow becomes infinity,
//                                       NaN stays NaN
//     tl_vf_store_partial_TAG(p, v, n)  writes lanes 0 .. n-1 only

#pragma once

#include "kernel/simd/tl_simd.h"

#if defined(TL_SIMD_AVX512)
#include "kernel/simd/tl_simd_small_avx512.h"
#elif defined(TL_SIMD_AVX2)
#include "kernel/simd/tl_simd_small_avx2.h"
#elif defined(TL_SIMD_NEON)
#include "kernel/simd/tl_simd_small_neon.h"
#else
#include "kernel/simd/tl_simd_small_c.h"
#endif

#define TL_SMALL_SET_(name, set) name##_##set
#define TL_SMALL_SET(name, set)  TL_SMALL_SET_(name, set)
/** `name` with the suffix of the instruction set: SIMD_OF(tl_quantize_u8). */
#define SIMD_OF(name) TL_SMALL_SET(name, TL_SIMD_SET)

static inline tl_vf tl_vf_load_b8(const uint8_t *p)
{
    const tl_vf x = tl_vf_load_u8(p);
    return tl_vf_select(tl_vf_eq(x, tl_vf_zero()), x, tl_vf_set1(1));
}

static inline void tl_vf_store_b8(uint8_t *p, tl_vf v)
{
    tl_vf_store_u8(p, tl_vf_select(tl_vf_eq(v, tl_vf_zero()), tl_vf_zero(), tl_vf_set1(1)));
}

/** Partial loads and stores use a buffer: short lines are rare. */
#define TL_SMALL_PARTIAL(tag, type)                                          \
    static inline tl_vf tl_vf_load_partial_##tag(const type *p, size_t n)    \
    {                                                                        \
        type lanes[TL_VF_LANES] = {0};                                       \
        memcpy(lanes, p, n * sizeof(*p));                                    \
        return tl_vf_load_##tag(lanes);                                      \
    }                                                                        \
    static inline void tl_vf_store_partial_##tag(type *p, tl_vf v, size_t n) \
    {                                                                        \
        type lanes[TL_VF_LANES];                                             \
        tl_vf_store_##tag(lanes, v);                                         \
        memcpy(p, lanes, n * sizeof(*p));                                    \
    }
TL_SMALL_PARTIAL(i8, int8_t)
TL_SMALL_PARTIAL(u8, uint8_t)
TL_SMALL_PARTIAL(i16, int16_t)
TL_SMALL_PARTIAL(u16, uint16_t)
TL_SMALL_PARTIAL(i32, int32_t)
TL_SMALL_PARTIAL(b8, uint8_t)
TL_SMALL_PARTIAL(f16, uint16_t)
TL_SMALL_PARTIAL(bf16, uint16_t)
#undef TL_SMALL_PARTIAL
