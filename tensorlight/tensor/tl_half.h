// SPDX-License-Identifier: Apache-2.0
// The 16-bit floats: binary16 ("half") and bfloat16, as bits in a uint16_t, to and from float.
//
// binary16 is 1 sign, 5 exponent (bias 15) and 10 fraction bits; bfloat16 is the upper half of a
// float. Narrowing rounds half to even; too large becomes infinity and NaN stays NaN, as IEEE 754
// has it. (tl_convert saturates instead; it clamps before.)

#ifndef TL_HALF_H
#define TL_HALF_H

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
    // All three cases are calculated and one is taken: in a loop that is faster than branches.
    const uint32_t rest = value & 0x7fff;
    const uint32_t subnormal = tl_bits_of_float((float)(int32_t)rest * 0x1p-24f);
    const uint32_t normal = (rest << 13) + ((127 - 15) << 23); // another exponent bias
    const uint32_t special = rest << 13 | 0x7f800000;          // infinity and NaN
    const uint32_t finite = rest < 0x0400 ? subnormal : normal;
    const uint32_t magnitude = rest < 0x7c00 ? finite : special;
    return tl_float_of_bits(magnitude | (uint32_t)(value & 0x8000) << 16);
}

static inline uint16_t tl_half_from_float(float value)
{
    const uint32_t bits = tl_bits_of_float(value);
    const uint32_t rest = bits & 0x7fffffff;
    // Below 2^-14: adding 0.5 leaves the fraction in units of 2^-24, rounded.
    const uint32_t subnormal = tl_bits_of_float(tl_float_of_bits(rest) + 0.5f) - 0x3f000000;
    const uint32_t rebased = rest - ((127 - 15) << 23);
    const uint32_t normal = (rebased + 0xfff + (rebased >> 13 & 1)) >> 13;
    const uint32_t nan = 0x7e00 | (rest >> 13 & 0x3ff); // made quiet
    const uint32_t finite = rest < 0x38800000 ? subnormal : normal;
    const uint32_t special = rest > 0x7f800000 ? nan : 0x7c00;
    const uint32_t magnitude = rest < 0x477ff000 ? finite : special; // from 65520 on: infinity
    return (uint16_t)(magnitude | (bits >> 16 & 0x8000));
}

#endif
