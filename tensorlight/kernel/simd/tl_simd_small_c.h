// SPDX-License-Identifier: Apache-2.0
// Small types in plain C: see tl_simd_small.h.

#pragma once

#include "kernel/simd/tl_simd_c.h"
#include "tensor/tl_convert.h"
#include "tensor/tl_half.h"

#define TL_SMALL_C(tag, type, load, store)                 \
    static inline tl_vf tl_vf_load_##tag(const type *p)    \
    {                                                      \
        tl_vf v = {0};                                     \
        for (int i = 0; i < TL_VF_LANES; i++)              \
            v[i] = load(p[i]);                             \
        return v;                                          \
    }                                                      \
    static inline void tl_vf_store_##tag(type *p, tl_vf v) \
    {                                                      \
        for (int i = 0; i < TL_VF_LANES; i++)              \
            p[i] = store(v[i]);                            \
    }
TL_SMALL_C(i8, int8_t, (float), (int8_t))
TL_SMALL_C(u8, uint8_t, (float), (uint8_t))
TL_SMALL_C(i16, int16_t, (float), (int16_t))
TL_SMALL_C(u16, uint16_t, (float), (uint16_t))
TL_SMALL_C(i32, int32_t, (float), tl_i32_from_float)
TL_SMALL_C(f16, uint16_t, tl_half_to_float, tl_half_from_float)
TL_SMALL_C(bf16, uint16_t, tl_bfloat_to_float, tl_bfloat_from_float)
#undef TL_SMALL_C
