// SPDX-License-Identifier: Apache-2.0
// The 16-bit floats: binary16 ("half") and bfloat16, as bits in a uint16_t, to and from float.
//
// binary16 is 1 sign, 5 exponent (bias 15) and 10 fraction bits; bfloat16 is the upper half of a
// float. Narrowing rounds half to even; too large becomes infinity and NaN stays NaN, as IEEE 754
// has it. (tl_convert saturates instead; it clamps before.)

#pragma once

#include <stdint.h>
#include <string.h>

static inline uint32_t tl_bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline float tl_float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline float tl_bfloat_to_float(uint16_t value)
{
    return tl_float_of_bits((uint32_t)value << 16);
}

static inline uint16_t tl_bfloat_from_float(float value)
{
    const uint32_t bits = tl_bits_of_float(value);
    if (value != value)
        return (uint16_t)(bits >> 16 | 0x40); // quiet, so that cutting it leaves a NaN
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float tl_half_to_float(uint16_t value)
{
    const uint32_t sign = (uint32_t)(value & 0x8000) << 16;
    const uint32_t rest = value & 0x7fff;
    if (rest >= 0x7c00) // infinity and NaN: the largest exponent in either format
        return tl_float_of_bits(sign | 0x7f800000 | rest << 13);
    if (rest >= 0x0400) // normal: another exponent bias
        return tl_float_of_bits(sign | ((rest << 13) + ((127 - 15) << 23)));
    const float magnitude = (float)rest * 0x1p-24f; // subnormal: a multiple of 2^-24
    return tl_float_of_bits(sign | tl_bits_of_float(magnitude));
}

static inline uint16_t tl_half_from_float(float value)
{
    const uint32_t bits = tl_bits_of_float(value);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    const uint32_t rest = bits & 0x7fffffff;
    if (rest > 0x7f800000) // NaN: made quiet
        return (uint16_t)(sign | 0x7e00 | (rest >> 13 & 0x3ff));
    if (rest >= 0x477ff000) // 65520 and more round to infinity
        return sign | 0x7c00;
    if (rest < 0x38800000) { // below 2^-14: adding 0.5 leaves the fraction in units of 2^-24
        const float shifted = tl_float_of_bits(rest) + 0.5f;
        return (uint16_t)(sign | (tl_bits_of_float(shifted) - 0x3f000000));
    }
    const uint32_t rebased = rest - ((127 - 15) << 23);
    return (uint16_t)(sign | (rebased + 0xfff + (rebased >> 13 & 1)) >> 13);
}
