// SPDX-License-Identifier: Apache-2.0
// The units of blocks of floats that become integers of one or three bytes, see matmul_lowbit.h.

#pragma once

#include "tensor/tl_half.h"

/** The bits of the max magnitude. Larger magnitudes have larger bits, infinity and NaN the
 * largest. */
static inline uint32_t tl_lowbit_largest(const float *src, size_t n)
{
    uint32_t max = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = tl_bits_of_float(src[i]) & 0x7fffffff;
        max = bits > max ? bits : max;
    }
    return max;
}

/** Factor and unit of a block with one limb, from the bits of its max magnitude: NaN if that is
 * infinite or NaN. */
static inline void tl_lowbit_scale_bytes(uint32_t bits, float *factor, float *unit)
{
    const float max = 127, least = 0x1p-104f;
    float magnitude = tl_float_of_bits(bits < 0x7f800000 ? bits : 0x7fc00000);
    magnitude = magnitude < least ? least : magnitude;
    *factor = max / magnitude;
    *unit = magnitude / max;
}

/** The same for three limbs: powers of two. */
static inline void tl_lowbit_scale_limbs(uint32_t bits, float *factor, float *unit)
{
    enum { BITS = 22, MIN = -104, FRACTION = 23, BIAS = 127 };
    int exponent = (int)(bits >> FRACTION) - BIAS + 1; // the power of two above the largest
    exponent = exponent > MIN ? exponent : MIN;
    *factor = tl_float_of_bits((uint32_t)(BITS - exponent + BIAS) << FRACTION);
    *unit = tl_float_of_bits((uint32_t)(exponent - BITS + BIAS) << FRACTION);
}
