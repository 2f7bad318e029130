// SPDX-License-Identifier: Apache-2.0
// Tensors of random numbers, by a counter-based generator. All steps are exact or correctly rounded
// operations in a fixed order, without functions of the C library, whose last bits may differ.

#include "kernel/fill/random.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_tensor.h"
#include "tensorlight/tl_util.h"

// Bits

enum { ROUNDS = 10 };

static uint32_t high_of(uint64_t product)
{
    return (uint32_t)(product >> 32);
}

void tl_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t block[4])
{
    uint32_t x[4] = {counter[0], counter[1], counter[2], counter[3]};
    uint32_t k0 = key[0], k1 = key[1];
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t first = (uint64_t)x[0] * 0xd2511f53u;
        const uint64_t second = (uint64_t)x[2] * 0xcd9e8d57u;
        x[0] = high_of(second) ^ x[1] ^ k0;
        x[1] = (uint32_t)second;
        x[2] = high_of(first) ^ x[3] ^ k1;
        x[3] = (uint32_t)first;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    memcpy(block, x, sizeof(x));
}

// Block `i` of the sequence of a key: the bits of elements 2 i and 2 i + 1.
static void make_block(uint64_t key, uint64_t i, uint32_t block[4])
{
    const uint32_t counter[] = {(uint32_t)i, (uint32_t)(i >> 32), 0, 0};
    tl_philox(counter, (const uint32_t[]){(uint32_t)key, (uint32_t)(key >> 32)}, block);
}

static uint64_t bits_of(const uint32_t block[4], uint64_t i)
{
    const uint32_t *const half = block + i % 2 * 2;
    return (uint64_t)half[1] << 32 | half[0];
}

// Numbers

// log(x), for normal x > 0, with an error of some units in the last place.
static double log_of(double x)
{
    static const double log_2 = 0.69314718055994530942, root_half = 0.70710678118654752440;
    int exponent;
    double m = frexp(x, &exponent); // exact
    if (m < root_half) {
        m *= 2;
        exponent--;
    }
    // log m = 2 artanh s, and s^2 < 0.03.
    const double s = (m - 1) / (m + 1), square = s * s;
    double sum = 0;
    for (int k = 23; k >= 1; k -= 2)
        sum = sum * square + 1.0 / k;
    return exponent * log_2 + 2 * s * sum;
}

typedef struct quotient {
    double above[8], below[8]; // coefficients, the one of the highest power first
} quotient;

static double quotient_at(const quotient *q, double x)
{
    double above = 0, below = 0;
    for (int i = 0; i < 8; i++) {
        above = above * x + q->above[i];
        below = below * x + q->below[i];
    }
    return above / below;
}

// clang-format off
static const quotient middle = {
    {2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
     1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0},
    {5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
     5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1},
};
static const quotient outer = {
    {7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
     3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0},
    {1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
     6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1},
};
static const quotient far_out = {
    {2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
     2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0},
    {2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
     1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1},
};
// clang-format on

double tl_normal_quantile(double p)
{
    const double q = p - 0.5;
    if (fabs(q) <= 0.425)
        return q * quotient_at(&middle, 0.180625 - q * q);
    const double r = sqrt(-log_of(q < 0 ? p : 1 - p));
    const double x = r <= 5 ? quotient_at(&outer, r - 1.6) : quotient_at(&far_out, r - 5);
    return q < 0 ? -x : x;
}

// Tensors

typedef struct random_job {
    tl_tensor *dst;
    tl_distribution distribution;
    double a, b;
    uint64_t key;
    int n_bits; // of a uniform number
} random_job;

// In [0, 1), a multiple of 2^-n_bits, so that rounding to the type never returns 1.
static double uniform_of(const random_job *job, uint64_t bits)
{
    const double x = ldexp((double)(bits >> (64 - job->n_bits)), -job->n_bits);
    return job->a * (1 - x) + job->b * x; // b - a may be too large for a double
}

static double normal_of(const random_job *job, uint64_t bits)
{
    const double p = ((double)(bits >> 12) + 0.5) * 0x1p-52; // in (0, 1), exact
    return job->a + job->b * tl_normal_quantile(p);
}

// Elements from `first` on, as numbers.
static void make_numbers(const random_job *job, size_t first, size_t n, double *numbers)
{
    uint32_t block[4];
    for (size_t k = 0; k < n; k++) {
        const uint64_t i = first + k;
        if (k == 0 || i % 2 == 0)
            make_block(job->key, i / 2, block);
        const uint64_t bits = bits_of(block, i);
        numbers[k] = job->distribution == TL_UNIFORM ? uniform_of(job, bits) : normal_of(job, bits);
    }
}

static void make_range(void *arg, size_t begin, size_t end)
{
    enum { BUFFER = 256 };
    const random_job *const job = arg;
    const tl_dtype dtype = job->dst->dtype;
    double buffer[BUFFER];
    for (size_t i = begin; i < end; i += BUFFER) {
        const size_t n = tl_min_size(end - i, BUFFER);
        make_numbers(job, i, n, buffer);
        tl_convert_array(tl_pointer_add(job->dst->data, (ptrdiff_t)i, dtype), dtype, buffer,
                         TL_DOUBLE, n);
    }
}

// The bits of a fraction with which all uniform numbers in [0, 1) are of this type.
static int bits_of_type(tl_dtype dtype)
{
    return dtype == TL_FLOAT ? 24 : dtype == TL_FLOAT16 ? 11 : dtype == TL_BFLOAT16 ? 8 : 53;
}

int tl_exec_random(const tl_exec *exec, tl_tensor *dst, tl_distribution distribution, double a,
                   double b, uint64_t *state)
{
    assert(tl_distribution_check(distribution, a, b) == 0);
    random_job job = {dst, distribution, a, b, tl_random_bits(state), bits_of_type(dst->dtype)};
    tl_parallel(exec, (size_t)dst->len, TL_GRAIN_COMPUTE_BOUND, make_range, &job);
    return 0;
}
