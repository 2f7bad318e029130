// SPDX-License-Identifier: Apache-2.0
// Conversion of one element, by way of a carrier that holds every value of its source exactly.
//
// Floats travel as double, signed integers as int64_t, unsigned ones and bool as uint64_t. So 3
// functions per type, tl_u8_from_double, _from_int, _from_uint, make all 13 x 13 pairs. The rules
// are those of tl_convert (tl_type.h).

#pragma once

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "tensor/tl_element.h"

/** A conversion of `value` that is one expression. */
#define TL_FROM(type, name, source, ...)  \
    static inline type name(source value) \
    {                                     \
        return __VA_ARGS__;               \
    }

// To floats

TL_FROM(double, tl_f64_from_double, double, value)
TL_FROM(double, tl_f64_from_float, float, value)
TL_FROM(double, tl_f64_from_int, int64_t, (double)value)
TL_FROM(double, tl_f64_from_uint, uint64_t, (double)value)

/** Between -max and max; NaN stays. */
static inline double tl_saturated(double value, double max)
{
    return value >= max ? max : value <= -max ? -max : value;
}

TL_FROM(float, tl_f32_from_double, double, (float)tl_saturated(value, FLT_MAX))

/** From TL_FLOAT16 and TL_BFLOAT16: exact, infinities too. */
TL_FROM(float, tl_f32_from_float, float, value)
TL_FROM(float, tl_f32_from_int, int64_t, (float)value)
TL_FROM(float, tl_f32_from_uint, uint64_t, (float)value)

/** `value` (in float's range) as a float that is toward zero, and odd where it is not exact.
 *  Rounding twice goes wrong where the first result looks like a tie; an odd one never does.
 *  Source: Boldo, Melquiond: Emulation of FMA and correctly rounded sums, 2008. */
static inline float tl_float_round_to_odd(double value)
{
    const float nearest = (float)value;
    if ((double)nearest == value || value != value)
        return nearest;
    const uint32_t bits = tl_bits_of_float(nearest);
    const int is_away = fabs((double)nearest) > fabs(value);
    return tl_float_of_bits((bits - (uint32_t)is_away) | 1);
}

/** The same from an integer to a double, which has 53 bits. */
static inline double tl_double_round_to_odd(uint64_t value)
{
    if (value < (uint64_t)1 << 53)
        return (double)value;
    const uint64_t cut = value & 0x7ff;
    return (double)((value - cut) | (uint64_t)(cut != 0) << 11);
}

/** An integer as a float that is toward zero, and odd where it is not exact. */
TL_FROM(float, tl_float_of_uint, uint64_t, tl_float_round_to_odd(tl_double_round_to_odd(value)))
TL_FROM(float, tl_float_of_int, int64_t,
        value < 0 ? -tl_float_of_uint(0 - (uint64_t)value) : tl_float_of_uint((uint64_t)value))

#define TL_FROM_NARROW(tag, narrow, max)                                                     \
    TL_FROM(uint16_t, tl_##tag##_from_double, double,                                        \
            narrow(tl_float_round_to_odd(tl_saturated(value, max))))                         \
    TL_FROM(uint16_t, tl_##tag##_from_float, float, narrow((float)tl_saturated(value, max))) \
    TL_FROM(uint16_t, tl_##tag##_from_uint, uint64_t,                                        \
            tl_##tag##_from_double(tl_double_round_to_odd(value)))                           \
    static inline uint16_t tl_##tag##_from_int(int64_t value)                                \
    {                                                                                        \
        const uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;        \
        const double rounded = tl_double_round_to_odd(magnitude);                            \
        return tl_##tag##_from_double(value < 0 ? -rounded : rounded);                       \
    }
TL_FROM_NARROW(f16, tl_half_from_float, 65504.0)
TL_FROM_NARROW(bf16, tl_bfloat_from_float, 0x1.fep127)
#undef TL_FROM_NARROW

// To integers and bool: limits are variables, so that no comparison looks pointless

#define TL_TO_INTEGER(tag, type, lowest, highest)                              \
    static inline type tl_##tag##_from_double(double value)                    \
    {                                                                          \
        if (value != value)                                                    \
            return 0;                                                          \
        if (value <= (double)(lowest))                                         \
            return lowest;                                                     \
        return value >= (double)(highest) ? highest : (type)value;             \
    }                                                                          \
    TL_FROM(type, tl_##tag##_from_float, float, tl_##tag##_from_double(value)) \
    static inline type tl_##tag##_from_uint(uint64_t value)                    \
    {                                                                          \
        const uint64_t max = highest;                                          \
        return (type)(value > max ? max : value);                              \
    }

#define TL_TO_FLT(tag, type, lowest, highest)

#define TL_TO_INT(tag, type, lowest, highest)                         \
    TL_TO_INTEGER(tag, type, lowest, highest)                         \
    static inline type tl_##tag##_from_int(int64_t value)             \
    {                                                                 \
        const int64_t min = lowest, max = highest;                    \
        return (type)(value < min ? min : value > max ? max : value); \
    }

#define TL_TO_UINT(tag, type, lowest, highest)  \
    TL_TO_INTEGER(tag, type, lowest, highest)   \
    TL_FROM(type, tl_##tag##_from_int, int64_t, \
            value < 0 ? 0 : tl_##tag##_from_uint((uint64_t)value))

#define TL_TO_BOOL(tag, type, lowest, highest)                                 \
    TL_FROM(type, tl_##tag##_from_double, double, value > 0 || value < 0)      \
    TL_FROM(type, tl_##tag##_from_float, float, tl_##tag##_from_double(value)) \
    TL_FROM(type, tl_##tag##_from_int, int64_t, value != 0)                    \
    TL_FROM(type, tl_##tag##_from_uint, uint64_t, value != 0)

#define TL_CONVERSIONS(dtype, tag, storage, compute, kind, load, store, min, max, format) \
    TL_TO_##kind(tag, storage, min, max)
TL_TYPES(TL_CONVERSIONS)
#undef TL_TO_INTEGER
#undef TL_TO_FLT
#undef TL_TO_INT
#undef TL_TO_UINT
#undef TL_TO_BOOL
#undef TL_FROM
