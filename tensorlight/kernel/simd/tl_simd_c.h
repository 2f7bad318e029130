// SPDX-License-Identifier: Apache-2.0
// Vectors in plain C, by the vector extensions of GCC and Clang: see tl_simd.h.

#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tensor/tl_half.h"

#define TL_SIMD_LANES     4
#define TL_SIMD_REGISTERS 16
#define TL_SIMD_FLOATS    c

enum { TL_VF_LANES = TL_SIMD_LANES };

typedef float tl_vf __attribute__((vector_size(16)));
typedef double tl_vf64 __attribute__((vector_size(16)));
typedef int32_t tl_vm __attribute__((vector_size(16)));

static inline tl_vf tl_vf_load(const float *p)
{
    tl_vf a;
    memcpy(&a, p, sizeof(a));
    return a;
}

TL_SIMD_FUNC(void, tl_vf_store, (float *p, tl_vf a), (void)memcpy(p, &a, sizeof(a)))

static inline tl_vf tl_vf_load_partial(const float *p, size_t n)
{
    tl_vf a = {0};
    memcpy(&a, p, n * sizeof(*p));
    return a;
}

TL_SIMD_FUNC(void, tl_vf_store_partial, (float *p, tl_vf a, size_t n),
             (void)memcpy(p, &a, n * sizeof(*p)))
TL_SIMD_FUNC(tl_vf, tl_vf_opaque, (tl_vf a), a)
TL_SIMD_FUNC(tl_vf, tl_vf_set1, (float x), (tl_vf){x, x, x, x})
TL_SIMD_FUNC(tl_vf, tl_vf_zero, (void), (tl_vf){0})
TL_SIMD_FUNC(tl_vf, tl_vf_add, (tl_vf a, tl_vf b), a + b)
TL_SIMD_FUNC(tl_vf, tl_vf_sub, (tl_vf a, tl_vf b), a - b)

static inline tl_vf tl_vf_mul(tl_vf a, tl_vf b)
{
    return a * b;
}

TL_SIMD_FUNC(tl_vf, tl_vf_div, (tl_vf a, tl_vf b), a / b)
TL_SIMD_FUNC(tl_vf, tl_vf_sqrt, (tl_vf a),
             (tl_vf){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])})

static inline tl_vf tl_vf_fma(tl_vf a, tl_vf b, tl_vf c)
{
    return a * b + c;
}

TL_SIMD_FUNC(tl_vf, tl_vf_fnma, (tl_vf a, tl_vf b, tl_vf c), c - a * b)

/** By the halves of a and b, whose products are exact (T. J. Dekker, Numerische Mathematik 18,
 * 1971), |a|, |b| < 2^115: the rounding error of a * b matters where c cancels most of it. */
static inline tl_vf tl_vf_fma_once(tl_vf a, tl_vf b, tl_vf c)
{
    const tl_vf wide_a = 4097 * a, wide_b = 4097 * b;
    const tl_vf upper_a = wide_a - (wide_a - a), upper_b = wide_b - (wide_b - b);
    const tl_vf lower_a = a - upper_a, lower_b = b - upper_b;
    const tl_vf rest =
        upper_a * upper_b - a * b + upper_a * lower_b + lower_a * upper_b + lower_a * lower_b;
    return (a * b + c) + rest;
}

TL_SIMD_FUNC(tl_vm, tl_vf_lt, (tl_vf a, tl_vf b), a < b)
TL_SIMD_FUNC(tl_vm, tl_vf_le, (tl_vf a, tl_vf b), a <= b)
TL_SIMD_FUNC(tl_vm, tl_vf_eq, (tl_vf a, tl_vf b), a == b)
TL_SIMD_FUNC(tl_vf, tl_vf_select, (tl_vm m, tl_vf a, tl_vf b),
             (tl_vf)((m & (tl_vm)a) | (~m & (tl_vm)b)))
TL_SIMD_FUNC(tl_vf, tl_vf_max, (tl_vf a, tl_vf b), tl_vf_select(a > b, a, b))
TL_SIMD_FUNC(tl_vf, tl_vf_min, (tl_vf a, tl_vf b), tl_vf_select(a < b, a, b))

static inline tl_vf tl_vf_abs(tl_vf a)
{
    return (tl_vf)((tl_vm)a & INT32_MAX);
}

TL_SIMD_FUNC(tl_vf, tl_vf_neg, (tl_vf a), -a)

/** The magnitude of a with the sign of b. */
TL_SIMD_FUNC(tl_vf, tl_vf_copysign, (tl_vf a, tl_vf b),
             (tl_vf)(((tl_vm)a & INT32_MAX) | ((tl_vm)b & INT32_MIN)))

// From 2^23 on, floats are integers: adding that rounds fractions, ties to even.
static inline tl_vf tl_vf_round(tl_vf a)
{
    const tl_vf magnitude = tl_vf_abs(a), far = tl_vf_set1(0x1p23f);
    return tl_vf_select(magnitude < far, tl_vf_copysign((magnitude + far) - far, a),
                        a + tl_vf_zero());
}

// n + 1.5 * 2^23 has the bits of n at its end, where a conversion would be undefined for NaN.
static inline tl_vf tl_vf_scale(tl_vf a, tl_vf n)
{
    typedef uint32_t bits __attribute__((vector_size(16)));
    return a * (tl_vf)(((bits)(n + 0x1.8p23f) + 127) << 23);
}

TL_SIMD_FUNC(tl_vf, tl_vf_exponent, (tl_vf a),
             __builtin_convertvector(((tl_vm)a >> 23) - 127, tl_vf))
TL_SIMD_FUNC(tl_vf, tl_vf_mantissa, (tl_vf a), (tl_vf)(((tl_vm)a & 0x007fffff) | 0x3f800000))
TL_SIMD_FUNC(tl_vf64, tl_vf64_zero, (void), (tl_vf64){0})
TL_SIMD_FUNC(tl_vf64, tl_vf64_add, (tl_vf64 a, tl_vf64 b), a + b)
TL_SIMD_FUNC(tl_vf64, tl_vf64_mul, (tl_vf64 a, tl_vf64 b), a *b)
TL_SIMD_FUNC(tl_vf64, tl_vf64_load, (const double *p), (tl_vf64){p[0], p[1]})
TL_SIMD_FUNC(void, tl_vf64_store, (double *p, tl_vf64 a), (void)memcpy(p, &a, sizeof(a)))
TL_SIMD_FUNC(tl_vf64, tl_vf64_widen, (const float *p), (tl_vf64){(double)p[0], (double)p[1]})
TL_SIMD_FUNC(tl_vf64, tl_vf64_half, (tl_vf a, int k),
             (tl_vf64){(double)a[2 * k], (double)a[2 * k + 1]})
TL_SIMD_FUNC(tl_vf64, tl_vf64_set1, (double x), (tl_vf64){x, x})

static inline void tl_vf64_store_floats(float *p, tl_vf64 a)
{
    p[0] = (float)a[0];
    p[1] = (float)a[1];
}

TL_SIMD_FUNC(tl_vf64, tl_vf64_evens, (tl_vf64 a, tl_vf64 b), (tl_vf64){a[0], b[0]})
TL_SIMD_FUNC(tl_vf, tl_vf_evens, (tl_vf a, tl_vf b), (tl_vf){a[0], a[2], b[0], b[2]})
TL_SIMD_FUNC(tl_vf64, tl_vf64_odds, (tl_vf64 a, tl_vf64 b), (tl_vf64){a[1], b[1]})
TL_SIMD_FUNC(tl_vf, tl_vf_odds, (tl_vf a, tl_vf b), (tl_vf){a[1], a[3], b[1], b[3]})
TL_SIMD_FUNC(double, tl_vf64_sum, (tl_vf64 a), a[0] + a[1])
TL_SIMD_FUNC(float, tl_vf_sum, (tl_vf a), (a[0] + a[2]) + (a[1] + a[3]))

static inline float tl_vf_reduce_max(tl_vf a)
{
    const float x = a[0] > a[2] ? a[0] : a[2], y = a[1] > a[3] ? a[1] : a[3];
    return x > y ? x : y;
}

static inline void tl_vf_transpose(tl_vf v[TL_VF_LANES])
{
    const tl_vf a = v[0], b = v[1], c = v[2], d = v[3];
    for (int i = 0; i < TL_VF_LANES; i++)
        v[i] = (tl_vf){a[i], b[i], c[i], d[i]};
}

typedef struct tl_vp {
    int32_t from[TL_SIMD_LANES];
} tl_vp;

static inline tl_vp tl_vp_load(const int32_t *from)
{
    tl_vp p;
    memcpy(p.from, from, sizeof(p.from));
    return p;
}

static inline tl_vf tl_vf_pick(tl_vp p, tl_vf a, tl_vf kept)
{
    for (int i = 0; i < TL_VF_LANES; i++)
        if (p.from[i] >= 0)
            kept[i] = a[p.from[i]];
    return kept;
}

TL_SIMD_FUNC(tl_vf, tl_vf_broadcast_lane4, (tl_vf a, int k), tl_vf_set1(a[k]))

// Pairs of bfloat16

static inline tl_vf tl_vf_to_pairs(tl_vf low, tl_vf high)
{
    uint16_t pairs[2 * TL_SIMD_LANES];
    tl_vf bits;
    for (int i = 0; i < TL_SIMD_LANES; i++) {
        pairs[i] = tl_bfloat_from_float(low[i]);
        pairs[TL_SIMD_LANES + i] = tl_bfloat_from_float(high[i]);
    }
    memcpy(&bits, pairs, sizeof(bits));
    return bits;
}

static inline void tl_vf_store_rounded(uint16_t *p, tl_vf v)
{
    for (int i = 0; i < TL_SIMD_LANES; i++)
        p[i] = tl_bfloat_from_float(v[i]);
}

/** Element 0 of each lane's pair as a float; `odd`: element 1. */
static inline tl_vf tl_vf_half_of_pairs(tl_vf pairs, int odd)
{
    typedef uint32_t bits __attribute__((vector_size(16)));
    const bits x = (bits)pairs;
    return (tl_vf)(odd ? x & 0xffff0000 : x << 16);
}

static inline tl_vf tl_vf_fma_pairs(tl_vf a, tl_vf b, tl_vf c)
{
    const tl_vf sum = tl_vf_fma(tl_vf_half_of_pairs(a, 1), tl_vf_half_of_pairs(b, 1), c);
    return tl_vf_fma(tl_vf_half_of_pairs(a, 0), tl_vf_half_of_pairs(b, 0), sum);
}
