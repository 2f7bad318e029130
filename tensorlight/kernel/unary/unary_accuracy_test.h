// SPDX-License-Identifier: Apache-2.0
// The functions that kernels in vectors compute in other ways than plain C does, and how close they
// have to come: for unary_test.c, which tries some floats, and unary_sweep.c, which tries all.

#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernel/simd/tl_simd_math.h"
#include "kernel/simd/tl_simd_small.h"
#include "kernel/unary/unary.h"

// Vectors in plain C, which no CPU here selects, are tested as a separate set.
#undef TL_SIMD_SET
#define TL_SIMD_SET vectors_c

#define TL_DECLARE_PLAIN(name)
#define TL_DECLARE_SIMD(name) __attribute__((unused)) static tl_map_func SIMD(tl_unary_##name);
#define TL_DECLARE_BOOL_SIMD(name) \
    __attribute__((unused)) static tl_map_func SIMD_OF(tl_unary_##name##_b8);
#define TL_DECLARE(arg, NAME, name, types, cost, sets, ...) TL_DECLARE_##sets(name)
TL_UNARY_FUNCS(TL_DECLARE, )
#include "kernel/unary/unary_simd.c"

static const char vectors_in_c[] = "vectors in plain C";

static const tl_unary_param some_param = {0.5, 0.25};

// The argument of tanh in GELU, whose rounding counts.
static double cubic(double x)
{
    return 0.79788456080286535588 * (x + 0.044715 * x * x * x);
}

#define CLOSE(func, name) TL_UNARY_##func, SIMD(tl_unary_##name)

/** The bounds of tl_simd_math.h: an error in ULP, greater by five times the value of a function, of
 *  results that are not below `min`; those are off by at most that. unary_sweep has tried all
 *  floats; they are farthest off, by so many ULP, at `worst`: with fused products and sums, and
 *  in plain C. */
static const struct {
    tl_unary_func func;
    tl_map_func *vectors;
    double ulp, min;
    float worst[2];
    double (*growth)(double x); // or NULL
} close_functions[] = {
    // 1.031, 1.002
    {CLOSE(EXP, exp), 1.1, 0x1p-126, {0x1.abae6p+4f, 0x1.ab878ap+4f}},
    // 0.852, 0.842
    {CLOSE(LOG, log), 1, 0x1p-126, {0x1.66263ep+0f, 0x1.69d012p+0f}},
    // 2.098, 1.947
    {CLOSE(SIN, sin), 2.2, 0x1p-126, {0x1.c61536p+14f, 0x1.9f4f62p+5f}},
    // 2.098, 2.016
    {CLOSE(COS, cos), 2.2, 0x1p-126, {0x1.c3cp-14f, 0x1.1285d8p-3f}},
    // 1.932, 1.954
    {CLOSE(TANH, tanh), 2, 0x1p-126, {0x1.08f028p-1f, 0x1.0a0e94p-1f}},
    // the same
    {CLOSE(SCALEDTANH, scaledtanh), 2, 0x1p-126, {0x1.08f028p+1f, 0x1.0a0e94p+1f}},
    // 1.524, 1.575
    {CLOSE(ERF, erf), 1.6, 0x1p-126, {0x1.da574ap-1f, 0x1.db8faap-1f}},
    // 2.481, 2.481
    {CLOSE(SIGMOID, sigmoid), 2.5, 0x1p-126, {-0x1.0a2bd8p+4f, 0x1.f6fd5p+2f}},
    // 2.862, 2.862
    {CLOSE(SOFTPLUS, softplus), 3, 0x1p-126, {-0x1.5f4e3ap+1f, 0x1.2e40a6p-2f}},
    // 3.925, 3.925
    {CLOSE(MISH, mish), 4, 0x1p-119, {-0x1.b9b0fep+3f, 0x1.9edff4p-10f}},
    // 2.403, 2.403
    {CLOSE(SWISH, swish), 2.5, 0x1p-119, {-0x1.0af0b8p+5f, 0x1.4369bp+1f}},
    // 4.026, 4.436
    {CLOSE(GELU, gelu), 4.5, 0x1p-119, {0x1.e7619ep-6f, -0x1.d59a72p+0f}},
    // 1.979, 1.979 plus growth
    {CLOSE(GELU_TANH, gelu_tanh), 3, 0x1p-119, {-0x1.fc8824p-12f, -0x1.04289p+3f}, cubic},
    // 0.950, 0.999
    {CLOSE(ELU, elu), 1.5, 0x1p-126, {-0x1.99d688p-2f, -0x1.25a876p-2f}},
    // the same
    {CLOSE(CELU, celu), 1.5, 0x1p-126, {-0x1.99d688p-3f, -0x1.25a876p-3f}},
    // the same
    {CLOSE(SELU, selu), 1.5, 0x1p-126, {-0x1.99d688p-2f, -0x1.25a876p-2f}},
};
#undef CLOSE

enum { CLOSE_N = sizeof(close_functions) / sizeof(*close_functions) };

/** close_functions[k] of x and some_param by the kernel of doubles, whose own error is far below a
 *  unit of floats. */
static double exact_of(int k, double x)
{
    tl_unary_kernel(NULL, close_functions[k].func, TL_DOUBLE)(&x, &x, 1, &some_param);
    return x;
}

/** One instruction set's kernel of a close function. */
typedef struct close_kernel {
    const char *set;
    tl_map_func *func;
} close_kernel;

/** The kernels of close_functions[k] that this CPU runs; returns how many. */
static int close_kernels(int k, close_kernel kernels[TL_ISA_SIZE])
{
    int n = 0;
    kernels[n++] = (close_kernel){vectors_in_c, close_functions[k].vectors};
    tl_map_func *seen =
        tl_unary_kernel(&(tl_exec){.isa = TL_ISA_C}, close_functions[k].func, TL_FLOAT);
    TL_ISA_EACH_USABLE (isa) {
        const tl_exec exec = {.isa = isa};
        tl_map_func *const func = tl_unary_kernel(&exec, close_functions[k].func, TL_FLOAT);
        if (func != seen)
            kernels[n++] = (close_kernel){tl_isa_name(isa), func};
        seen = func;
    }
    return n;
}

/** One unit in the last place of a float near x, at least that of 2^-126, at most that of 2^127. */
static double ulp_of(double x)
{
    const double magnitude = fmin(fmax(fabs(x), 0x1p-126), 0x1p127);
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof(bits));
    bits &= 0x7ff0000000000000; // the power of two
    double power;
    memcpy(&power, &bits, sizeof(power));
    return power * 0x1p-23;
}

/** How far `got` is from the result, in units of its last place, if that is not below `min`. */
static double error_of(float got, double expected, double min)
{
    if (isnan(expected) || isnan(got))
        return isnan(expected) && isnan(got) ? 0 : INFINITY;
    if (isinf(expected) || (isinf(got) && fabs(expected) >= 0x1.ffffffp127))
        return (float)expected == got ? 0 : INFINITY;
    const double error = fabs((double)got - expected);
    return fabs(expected) < min ? (error <= min ? 0 : INFINITY) : error / ulp_of(expected);
}

/** The max error_of for close_functions[k] of x. */
static double bound_of(int k, double x)
{
    double (*const growth)(double x) = close_functions[k].growth;
    return close_functions[k].ulp + (growth ? 5 * fabs(growth(x)) : 0);
}
