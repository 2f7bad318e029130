// SPDX-License-Identifier: Apache-2.0
// Unary element-wise functions in plain C, for every type.
//
// FORMULA(name, value) defines the value of `name` for the element x, of type C, and the parameters
// a and b, of type P; the kernels call it. Floats have the codes of tl_functions.h.

#ifndef T // once

#include "kernel/unary/unary.h"

#include <inttypes.h>
#include <math.h>
#include <tgmath.h>

#include "tensor/tl_convert.h"

#define FORMULA(name, value)                      \
    static inline C NAME(name, of)(C x, P a, P b) \
    {                                             \
        (void)a, (void)b;                         \
        return value;                             \
    }

#define KERNEL(name)                                                                         \
    void NAME(tl_unary_##name, c)(const void *src, void *dst, size_t len, const void *param) \
    {                                                                                        \
        const T *const s = src;                                                              \
        T *const d = dst;                                                                    \
        const P a = (P)((const tl_unary_param *)param)->alpha;                               \
        const P b = (P)((const tl_unary_param *)param)->beta;                                \
        for (size_t i = 0; i < len; i++)                                                     \
            d[i] = STORE(NAME(name, of)(LOAD(s[i]), a, b));                                  \
    }
#define KERNEL_OF(arg, FUNC, name, types, ...) KERNEL_##types(name)

#define OF(name) NAME(name, of)
#define FORMULA_OF(arg, FUNC, name, types, cost, sets, ...) \
    FORMULA_##types(name, TL_CODE_OF(__VA_ARGS__))
#define FORMULA_ALL(name, code) FORMULA(name, (code))
#define FORMULA_FLT(name, code) FORMULA(name, (code))
#define FORMULA_NUM(name, code) FORMULA(name, (code))
#define FORMULA_WHOLE(name, code)

// Probit

static double horner(double x, const double *coefficients, int n)
{
    double sum = coefficients[0];
    for (int i = 1; i < n; i++)
        sum = sum * x + coefficients[i];
    return sum;
}

// The quantile for 0 < p <= 1/2, with a relative error of at most 1.15e-9. Source: P. J. Acklam,
// An algorithm for computing the inverse normal cumulative distribution function, 2003.
static double rough_quantile(double p)
{
    static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,
                               -2.759285104469687e+02, 1.383577518672690e+02,
                               -3.066479806614716e+01, 2.506628277459239e+00};
    static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02,
                               -1.556989798598866e+02, 6.680131188771972e+01,
                               -1.328068155288572e+01, 1};
    static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01,
                               -2.400758277161838e+00, -2.549732539343734e+00,
                               4.374664141464968e+00,  2.938163982698783e+00};
    static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                               3.754408661907416e+00, 1};
    const double q = p < 0.02425 ? sqrt(-2 * log(p)) : p - 0.5;
    if (p < 0.02425)
        return horner(q, c, 6) / horner(q, d, 5);
    return q * horner(q * q, a, 6) / horner(q * q, b, 6);
}

// The same, refined by a step of Halley's method; at 1/2 the distribution's difference from 1/2 is
// the accurate one.
static double lower_quantile(double p)
{
    const double x = rough_quantile(p);
    if (p < 1e-300) // exp(x^2 / 2) overflows, or p is subnormal
        return x;
    const double root_half = 0.70710678118654752440, root_two_pi = 2.50662827463100050242;
    const double rest =
        p < 0.02425 ? erfc(-x * root_half) / 2 - p : erf(x * root_half) / 2 - (p - 0.5);
    const double step = rest * root_two_pi * exp(x * x / 2);
    return x - step / (1 + x * step / 2);
}

static double quantile(double p)
{
    if (!(p > 0 && p < 1))
        return p == 0 ? -(double)INFINITY : p == 1 ? (double)INFINITY : (double)NAN;
    return p > 0.5 ? -lower_quantile(1 - p) : lower_quantile(p);
}

// Floats

#define P                C
#define KERNEL_ALL(name) KERNEL(name)
#define KERNEL_FLT(name) KERNEL(name)
#define KERNEL_NUM(name) KERNEL(name)
#define KERNEL_WHOLE(name)
#define TL_TEMPLATE "kernel/unary/unary_c.c"
#include "tensor/tl_each_float.inc.h"
#undef P
#undef KERNEL_FLT
#undef KERNEL_NUM
#undef KERNEL_WHOLE

// Integers

#define P double
#define KERNEL_FLT(name)
#define KERNEL_NUM(name)   KERNEL(name)
#define KERNEL_WHOLE(name) KERNEL(name)
#define INVERTED(x)        ((C) ~(x))
#include "tensor/tl_each_int.inc.h"
#undef KERNEL_NUM
#undef INVERTED

// Bool

#define KERNEL_NUM(name)
#define INVERTED(x) ((C) !(x))
#define TL_TAG      b8
#include "tensor/tl_one_type.inc.h"

#else // for each type

#if TL_IS_FLOAT

static inline C NAME(raise, of)(C x, C a)
{
    return x < a ? a : x;
}

static inline C NAME(lower, of)(C x, C b)
{
    return x > b ? b : x;
}

static inline C NAME(quantile, of)(C x)
{
    return (C)quantile(x);
}

static inline C NAME(clip, of)(C x, P a, P b);
TL_UNARY_FUNCS(FORMULA_OF, )

#else // integers and bool

FORMULA(neg, (C)(0 - (uint64_t)x))
FORMULA(abs, x > (C)0 ? x : (C)(0 - (uint64_t)x))
FORMULA(sign, (C)((x > (C)0) - !(x > (C)0 || x == 0)))
FORMULA(not, INVERTED(x))
FORMULA(relu, x > (C)0 ? x : (C)0)
FORMULA(lrelu, x > (C)0 ? x : NAME(tl, from_double)((double)x * a))

#endif

TL_UNARY_FUNCS(KERNEL_OF, )

#endif
