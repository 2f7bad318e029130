// SPDX-License-Identifier: Apache-2.0
// Random bits and numbers in plain C. All steps are exact or correctly rounded operations in a
// fixed order, without functions of the C library, whose last bits may differ. Compilers make
// vectors of most loops: they have no branches.

#ifndef T // once

#include "kernel/fill/random.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define TL_TEMPLATE  "kernel/fill/random_c.c"
#define TL_TUNED_f64 1
#define TL_TAG       f64
#include "tensor/tl_one_type.inc.h"

#else // for each type

// Bits

// The words of one block: Philox4x32 of ten rounds.
static inline void philox(uint64_t counter, uint64_t key, uint64_t *even, uint64_t *odd)
{
    enum { ROUNDS = 10 };
    uint32_t x0 = (uint32_t)counter, x1 = (uint32_t)(counter >> 32), x2 = 0, x3 = 0;
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t first = (uint64_t)x0 * 0xd2511f53u;
        const uint64_t second = (uint64_t)x2 * 0xcd9e8d57u;
        x0 = (uint32_t)(second >> 32) ^ x1 ^ k0;
        x1 = (uint32_t)second;
        x2 = (uint32_t)(first >> 32) ^ x3 ^ k1;
        x3 = (uint32_t)first;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    *even = (uint64_t)x1 << 32 | x0;
    *odd = (uint64_t)x3 << 32 | x2;
}

void NAME(tl_random_bits_of, TL_SET)(uint64_t key, uint64_t first, size_t n, uint64_t *bits)
{
    for (size_t i = 0; i < n; i++)
        philox(first + i, key, &bits[2 * i], &bits[2 * i + 1]);
}

// Normal numbers

static inline double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

// log(x), for normal x > 0, with an error of some units in the last place.
static inline double log_of(double x)
{
    static const double log_2 = 0.69314718055994530942, root_half = 0.70710678118654752440;
    // x = m 2^exponent, 0.5 <= m < 1, exact: the exponent by way of the integers above 2^52.
    const uint64_t bits = bits_of(x);
    const double whole = double_of((bits & UINT64_MAX >> 12) | (uint64_t)1022 << 52);
    const double exponent = double_of(bits >> 52 | (uint64_t)1075 << 52) - (0x1p52 + 1022);
    const int is_small = whole < root_half;
    const double m = is_small ? whole * 2 : whole;
    // log m = 2 artanh s, and s^2 < 0.03.
    const double s = (m - 1) / (m + 1), square = s * s;
    double sum = 0;
    for (int k = 23; k >= 1; k -= 2)
        sum = sum * square + 1.0 / k;
    return (is_small ? exponent - 1 : exponent) * log_2 + 2 * s * sum;
}

// Coefficients of two polynomials, those of the highest power first, and their quotient at x.
#define QUOTIENT(name, ...)                          \
    static inline double name(double x)              \
    {                                                \
        static const double c[2][8] = {__VA_ARGS__}; \
        double above = 0, below = 0;                 \
        for (int i = 0; i < 8; i++) {                \
            above = above * x + c[0][i];             \
            below = below * x + c[1][i];             \
        }                                            \
        return above / below;                        \
    }

// clang-format off
QUOTIENT(middle,
    {2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
     1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0},
    {5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
     5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1})
QUOTIENT(outer,
    {7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
     3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0},
    {1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
     6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1})
QUOTIENT(far_out,
    {2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
     2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0},
    {2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
     1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1})
// clang-format on

// The probabilities far from 1/2, whose quantiles follow from their logarithms, and their places.
typedef struct tails {
    double p[TL_RANDOM_CHUNK];
    uint16_t at[TL_RANDOM_CHUNK];
    size_t n;
} tails;

static inline int is_in_tail(double p)
{
    return fabs(p - 0.5) > 0.425;
}

static void find_tails(tails *t, const double *p, size_t n)
{
    t->n = 0;
    for (size_t i = 0; i < n; i++) {
        t->p[t->n] = p[i];
        t->at[t->n] = (uint16_t)i;
        t->n += (size_t)is_in_tail(p[i]);
    }
}

static void set_tails(tails *t, double *dst)
{
    double r[TL_RANDOM_CHUNK], x[TL_RANDOM_CHUNK];
    for (size_t i = 0; i < t->n; i++)
        r[i] = -log_of(t->p[i] < 0.5 ? t->p[i] : 1 - t->p[i]);
    for (size_t i = 0; i < t->n; i++)
        r[i] = sqrt(r[i]);
    for (size_t i = 0; i < t->n; i++)
        x[i] = outer(r[i] - 1.6);
    for (size_t i = 0; i < t->n; i++) {
        const double size = r[i] <= 5 ? x[i] : far_out(r[i] - 5); // seldom
        dst[t->at[i]] = t->p[i] < 0.5 ? -size : size;
    }
}

void NAME(tl_normal_quantiles, TL_SET)(const double *p, double *dst, size_t n)
{
    assert(n <= TL_RANDOM_CHUNK);
    tails t;
    find_tails(&t, p, n);
    for (size_t i = 0; i < n; i++) {
        const double q = p[i] - 0.5;
        dst[i] = q * middle(0.180625 - q * q);
    }
    set_tails(&t, dst);
}

// Uniform numbers

// An integer below 2^53, exact: its halves are the last bits of doubles above 2^84 and 2^52.
static inline double from_integer(uint64_t x)
{
    const double high = double_of(x >> 32 | (uint64_t)1107 << 52);
    const double low = double_of((x & UINT32_MAX) | (uint64_t)1075 << 52);
    return high - (0x1p84 + 0x1p52) + low;
}

// In [0, 1), multiples of 2^-n_bits, then between a and b.
static void make_uniform(const tl_random_job *job, const uint64_t *bits, double *dst, size_t n)
{
    const double unit = double_of((uint64_t)(1023 - job->n_bits) << 52);
    const int shift = 64 - job->n_bits;
    for (size_t i = 0; i < n; i++) {
        const double x = from_integer(bits[i] >> shift) * unit;
        dst[i] = job->a * (1 - x) + job->b * x; // b - a may be too large for a double
    }
}

static void make_normal(const tl_random_job *job, const uint64_t *bits, double *dst, size_t n)
{
    for (size_t i = 0; i < n; i++) // (52 bits + 1/2) 2^-52, exact
        dst[i] = double_of(bits[i] >> 12 | (uint64_t)1023 << 52) - 1 + 0x1p-53;
    NAME(tl_normal_quantiles, TL_SET)(dst, dst, n);
    for (size_t i = 0; i < n; i++)
        dst[i] = job->a + job->b * dst[i];
}

void NAME(tl_random_numbers, TL_SET)(const tl_random_job *job, size_t first, size_t n, double *dst)
{
    assert(n <= TL_RANDOM_CHUNK);
    uint64_t bits[TL_RANDOM_CHUNK + 2];
    const uint64_t *const from = bits + first % 2;
    NAME(tl_random_bits_of, TL_SET)(job->key, first / 2, (first % 2 + n + 1) / 2, bits);
    if (job->distribution == TL_NORMAL)
        make_normal(job, from, dst, n);
    else
        make_uniform(job, from, dst, n);
}

#endif
