// SPDX-License-Identifier: Apache-2.0
// The conversion between floats and small types in vectors, see tl_simd_small.h.

#include "kernel/cast/cast.h"

#include "kernel/simd/tl_simd_small.h"

// Defines kernel `name`: stores `value` of each vector x, loaded as `from`, as `to`.
#define CAST(name, from, from_type, to, to_type, value)                           \
    void SIMD_OF(name)(const void *src, void *dst, size_t len, const void *param) \
    {                                                                             \
        (void)param;                                                              \
        const from_type *const s = src;                                           \
        to_type *const d = dst;                                                   \
        size_t i = 0;                                                             \
        for (; i + TL_VF_LANES <= len; i += TL_VF_LANES) {                        \
            const tl_vf x = tl_vf_load##from(s + i);                              \
            tl_vf_store##to(d + i, value);                                        \
        }                                                                         \
        if (i < len) {                                                            \
            const tl_vf x = tl_vf_load_partial##from(s + i, len - i);             \
            tl_vf_store_partial##to(d + i, value, len - i);                       \
        }                                                                         \
    }

// Clamps x; propagates NaN.
TL_INLINE tl_vf clamped(tl_vf x, float low, float high)
{
    return tl_vf_max(tl_vf_set1(low), tl_vf_min(tl_vf_set1(high), x));
}

// Clamps x; 0 for NaN.
TL_INLINE tl_vf clamped_number(tl_vf x, float low, float high)
{
    return clamped(tl_vf_select(tl_vf_eq(x, x), x, tl_vf_zero()), low, high);
}

CAST(tl_cast_i32_f32, _i32, int32_t, , float, x)
CAST(tl_cast_i16_f32, _i16, int16_t, , float, x)
CAST(tl_cast_i8_f32, _i8, int8_t, , float, x)
CAST(tl_cast_u16_f32, _u16, uint16_t, , float, x)
CAST(tl_cast_u8_f32, _u8, uint8_t, , float, x)
CAST(tl_cast_b8_f32, _b8, uint8_t, , float, x)
CAST(tl_cast_f16_f32, _f16, uint16_t, , float, x)
CAST(tl_cast_bf16_f32, _bf16, uint16_t, , float, x)

CAST(tl_cast_f32_i32, , float, _i32, int32_t, x)
CAST(tl_cast_f32_i16, , float, _i16, int16_t, clamped_number(x, INT16_MIN, INT16_MAX))
CAST(tl_cast_f32_i8, , float, _i8, int8_t, clamped_number(x, INT8_MIN, INT8_MAX))
CAST(tl_cast_f32_u16, , float, _u16, uint16_t, clamped_number(x, 0, UINT16_MAX))
CAST(tl_cast_f32_u8, , float, _u8, uint8_t, clamped_number(x, 0, UINT8_MAX))
CAST(tl_cast_f32_b8, , float, _b8, uint8_t, x)
CAST(tl_cast_f32_f16, , float, _f16, uint16_t, x)
CAST(tl_cast_f32_bf16, , float, _bf16, uint16_t, x)
CAST(tl_cast_f16_bf16, _f16, uint16_t, _bf16, uint16_t, x)
CAST(tl_cast_bf16_f16, _bf16, uint16_t, _f16, uint16_t, x)

// Of tl_convert: saturates.
CAST(tl_convert_f32_f16, , float, _f16, uint16_t, clamped(x, -65504, 65504))
CAST(tl_convert_f32_bf16, , float, _bf16, uint16_t, clamped(x, -0x1.fep127f, 0x1.fep127f))

// Loops of which compilers make vectors

#define LOOP(name, from, to, value)                                               \
    void SIMD_OF(name)(const void *src, void *dst, size_t len, const void *param) \
    {                                                                             \
        (void)param;                                                              \
        const from *restrict const s = src;                                       \
        to *restrict const d = dst;                                               \
        for (size_t i = 0; i < len; i++) {                                        \
            const from x = s[i];                                                  \
            d[i] = value;                                                         \
        }                                                                         \
    }

// Between low and high; 0 for NaN.
TL_INLINE double within(double x, double low, double high)
{
    const double number = x == x ? x : 0;
    const double bounded = number < low ? low : number;
    return bounded > high ? high : bounded;
}

LOOP(tl_cast_f64_i32, double, int32_t, (int32_t)within(x, INT32_MIN, INT32_MAX))
LOOP(tl_cast_f32_f64, float, double, (double)x)
LOOP(tl_cast_i64_f64, int64_t, double, (double)x)
LOOP(tl_cast_i32_f64, int32_t, double, (double)x)
LOOP(tl_cast_i8_f64, int8_t, double, (double)x)
LOOP(tl_cast_u8_f64, uint8_t, double, (double)x)
LOOP(tl_cast_b8_f64, uint8_t, double, (double)(x != 0))
LOOP(tl_cast_i8_i32, int8_t, int32_t, (int32_t)x)
LOOP(tl_cast_u8_i32, uint8_t, int32_t, (int32_t)x)
LOOP(tl_cast_b8_i32, uint8_t, int32_t, x != 0)
LOOP(tl_cast_b8_i8, uint8_t, int8_t, x != 0)
LOOP(tl_cast_b8_u8, uint8_t, uint8_t, x != 0)
LOOP(tl_cast_i64_i8, int64_t, int8_t, (int8_t)x)
LOOP(tl_cast_i64_u8, int64_t, uint8_t, (uint8_t)x)
LOOP(tl_cast_i32_i8, int32_t, int8_t, (int8_t)x)
LOOP(tl_cast_i32_u8, int32_t, uint8_t, (uint8_t)x)
LOOP(tl_cast_f64_b8, double, uint8_t, x != 0)
LOOP(tl_cast_i64_b8, int64_t, uint8_t, x != 0)
LOOP(tl_cast_i32_b8, int32_t, uint8_t, x != 0)
LOOP(tl_cast_i8_b8, int8_t, uint8_t, x != 0)
LOOP(tl_cast_u8_b8, uint8_t, uint8_t, x != 0)

// The largest double below 2^63, and 2^63 - 1 from there on.
TL_INLINE int64_t integer_of(double x)
{
    const int64_t whole = (int64_t)within(x, -0x1p63, 0x1.fffffffffffffp62);
    return x >= 0x1p63 ? INT64_MAX : whole;
}

LOOP(tl_cast_f64_i64, double, int64_t, integer_of(x))
