// SPDX-License-Identifier: Apache-2.0
// Floats of 8 bits and less: bits to values and back. Packing of elements of fewer than 8 bits.
//
// A float with a sign is 1 sign, E exponent and F fraction bits. Without its sign it is an integer
// whose order is that of the magnitudes: first those below the smallest normal number, in units
// of its last place, then normal numbers, then infinity, if any, and NaN.

#include "tensor/tl_storage.h"

#include <assert.h>
#include <string.h>

#include "tensor/tl_half.h"
#include "tensorlight/tl_util.h"

// Formats

typedef struct float_format {
    uint8_t sign;           // the mask of its bit
    uint8_t fraction;       // F
    uint8_t bias;           // of the exponent
    uint8_t max;            // the bits of the max
    uint8_t inf;            // of infinity; 0: none, overflow becomes NaN
    uint8_t nan;            // of NaN
    uint8_t has_no_minus_0; // no -0: its bits are those of NaN
} float_format;

static const float_format formats[TL_DTYPE_SIZE] = {
    [TL_FLOAT8E4M3FN] = {0x80, 3, 7, 0x7e, 0, 0x7f, 0},
    [TL_FLOAT8E4M3FNUZ] = {0x80, 3, 8, 0x7f, 0, 0x80, 1},
    [TL_FLOAT8E5M2] = {0x80, 2, 15, 0x7b, 0x7c, 0x7f, 0},
    [TL_FLOAT8E5M2FNUZ] = {0x80, 2, 16, 0x7f, 0, 0x80, 1},
    [TL_FLOAT4E2M1] = {0x08, 1, 1, 0x07, 0, 0x07, 0},
};

enum { FLOAT_FRACTION = 23, FLOAT_BIAS = 127, FLOAT_INF = 0x7f800000 };

tl_dtype tl_storage_carrier(tl_dtype dtype)
{
    if (tl_dtype_is_computed(dtype))
        return dtype;
    if (tl_dtype_has_fractions(dtype))
        return TL_FLOAT;
    return dtype == TL_INT4 || dtype == TL_INT2 ? TL_INT8 : TL_UINT8;
}

// To floats

static float float_of(const float_format *f, uint8_t bits)
{
    const uint32_t sign = bits & f->sign ? UINT32_C(1) << 31 : 0;
    const uint32_t rest = bits & (f->sign - 1U);
    if (f->has_no_minus_0 && bits == f->sign)
        return tl_float_of_bits(0x7fc00000);
    if (rest > f->max)
        return tl_float_of_bits(sign | (rest == f->inf ? FLOAT_INF : 0x7fc00000));
    if (rest >> f->fraction) { // normal: the bias changes
        const uint32_t exponents = (uint32_t)(FLOAT_BIAS - f->bias) << FLOAT_FRACTION;
        return tl_float_of_bits(sign | ((rest << (FLOAT_FRACTION - f->fraction)) + exponents));
    }
    const uint32_t unit = (uint32_t)(FLOAT_BIAS + 1 - f->bias - f->fraction) << FLOAT_FRACTION;
    return tl_float_of_bits(sign | tl_bits_of_float((float)rest * tl_float_of_bits(unit)));
}

static float float_of_power(uint8_t bits)
{
    if (bits == 0xff)
        return tl_float_of_bits(0x7fc00000);
    return tl_float_of_bits(bits ? (uint32_t)bits << FLOAT_FRACTION : 0x400000);
}

void tl_storage_to_floats(tl_dtype dtype, const void *src, float *dst, size_t n)
{
    const uint8_t *const s = src;
    assert(tl_storage_carrier(dtype) == TL_FLOAT && dtype != TL_FLOAT);
    if (dtype == TL_FLOAT8E8M0) {
        for (size_t i = 0; i < n; i++)
            dst[i] = float_of_power(s[i]);
    } else {
        for (size_t i = 0; i < n; i++)
            dst[i] = float_of(&formats[dtype], s[i]);
    }
}

// From floats

// Rounds a magnitude, a float's bits without sign, half to even to the format's bits; more than
// f->max: out of range.
static uint32_t rounded(const float_format *f, uint32_t rest)
{
    const uint32_t exponents = (uint32_t)(FLOAT_BIAS - f->bias) << FLOAT_FRACTION;
    const int cut = FLOAT_FRACTION - f->fraction;
    if (rest < exponents + (UINT32_C(1) << FLOAT_FRACTION)) {
        // Subnormal: the sum with this power of two rounds to the format's unit.
        const uint32_t with = (uint32_t)(FLOAT_BIAS + 1 - f->bias + cut) << FLOAT_FRACTION;
        return tl_bits_of_float(tl_float_of_bits(rest) + tl_float_of_bits(with)) - with;
    }
    const uint32_t rebased = rest - exponents;
    return (rebased + (UINT32_C(1) << (cut - 1)) - 1 + (rebased >> cut & 1)) >> cut;
}

static uint8_t bits_of(const float_format *f, float value, int saturates)
{
    const uint32_t bits = tl_bits_of_float(value);
    const uint8_t sign = bits >> 31 ? f->sign : 0;
    if (value != value) // TL_FLOAT4E2M1 has no NaN, but its max
        return f->nan == f->max ? f->nan : f->nan | sign;
    const uint32_t rest = rounded(f, bits & INT32_MAX);
    if (rest <= f->max)
        return f->has_no_minus_0 && rest == 0 ? 0 : (uint8_t)(sign | rest);
    return sign | (saturates ? f->max : f->inf ? f->inf : f->nan);
}

// Whether a magnitude, a float's bits without sign, rounds up to the next power of two.
static int rounds_up(uint32_t rest, tl_power_rounding rounding)
{
    const uint32_t fraction = rest & 0x7fffff, tie = 0x400000;
    if (rest < 0x800000) // between 2^-127, whose fraction is `tie`, and 2^-126
        return rounding == TL_POWER_UP ? fraction > tie
                                       : rounding == TL_POWER_NEAREST && fraction >= 0x600000;
    return rounding == TL_POWER_UP ? fraction > 0 : rounding == TL_POWER_NEAREST && fraction >= tie;
}

static uint8_t bits_of_power(float value, tl_storage_rule rule)
{
    const uint32_t bits = tl_bits_of_float(value), max = 0x7f000000, min = 0x400000;
    enum { MAX = 0xfe, NONE = 0xff };
    if (value != value)
        return NONE;
    const int is_low = bits >> 31 || bits < min, is_high = !is_low && bits > max;
    if (is_low || is_high)
        return !rule.saturates ? NONE : is_low ? 0 : MAX;
    return (uint8_t)((bits >> FLOAT_FRACTION) + (uint32_t)rounds_up(bits, rule.rounding));
}

void tl_storage_from_floats(tl_dtype dtype, const float *src, void *dst, size_t n,
                            tl_storage_rule rule)
{
    uint8_t *const d = dst;
    assert(tl_storage_carrier(dtype) == TL_FLOAT && dtype != TL_FLOAT);
    const int saturates = rule.saturates || dtype == TL_FLOAT4E2M1;
    if (dtype == TL_FLOAT8E8M0) {
        for (size_t i = 0; i < n; i++)
            d[i] = bits_of_power(src[i], rule);
    } else {
        for (size_t i = 0; i < n; i++)
            d[i] = bits_of(&formats[dtype], src[i], saturates);
    }
}

// Elements side by side

size_t tl_packed_size(tl_dtype dtype, size_t len)
{
    const size_t bits = (size_t)tl_dtype_bits(dtype), per_byte = 8 / bits;
    return bits >= 8 ? len * tl_size_of(dtype) : len / per_byte + (len % per_byte != 0);
}

void tl_pack(void *dst, const void *src, tl_dtype dtype, size_t len)
{
    const size_t bits = (size_t)tl_dtype_bits(dtype), per_byte = 8 / bits;
    uint8_t *const d = dst;
    const uint8_t *const s = src;
    if (bits >= 8) {
        tl_memcpy(dst, src, tl_packed_size(dtype, len));
        return;
    }
    if (len)
        memset(dst, 0, tl_packed_size(dtype, len));
    for (size_t i = 0; i < len; i++) {
        const uint32_t element = s[i] & ((1U << bits) - 1);
        d[i / per_byte] = (uint8_t)(d[i / per_byte] | element << i % per_byte * bits);
    }
}

void tl_unpack(void *dst, const void *src, tl_dtype dtype, size_t len)
{
    const size_t bits = (size_t)tl_dtype_bits(dtype), per_byte = 8 / bits;
    uint8_t *const d = dst;
    const uint8_t *const s = src;
    if (bits >= 8) {
        tl_memcpy(dst, src, tl_packed_size(dtype, len));
        return;
    }
    const int mask = (1 << bits) - 1;
    const int sign = tl_storage_carrier(dtype) == TL_INT8 ? 1 << (bits - 1) : 0;
    for (size_t i = 0; i < len; i++) {
        const int element = s[i / per_byte] >> i % per_byte * bits & mask;
        d[i] = (uint8_t)((element ^ sign) - sign);
    }
}
