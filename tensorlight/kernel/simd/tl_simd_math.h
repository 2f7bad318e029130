// SPDX-License-Identifier: Apache-2.0
// Functions of floats in vectors, for every instruction set. Include after tl_simd.h in a template.
//
// A bound "n ULP" is the max error in units of the last place of the exact result, verified for all
// floats (kernel/unary/unary_sweep.c) and in unary_test.c. It applies to results of at least 2^-126
// in magnitude; to products with x (swish, mish, gelu), whose other factor may be 0 below about
// 2^-126, from 2^-119 on. The absolute error of smaller results is at most that limit. All return
// NaN for NaN.
//
// Method, unless noted: the argument is reduced to a short interval (Cody & Waite,
// Software Manual for the Elementary Functions, 1980), a polynomial is evaluated there by Horner's
// rule. The polynomials have the least largest relative error (Remez' exchange algorithm); their
// coefficients were rounded to float one by one, lowest first, and the later ones fitted again.

#pragma once

#include <math.h>

#include "kernel/simd/tl_simd.h"

/** a * x + the constant b. */
TL_INLINE tl_vf tl_vf_horner(tl_vf a, tl_vf x, float b)
{
    return tl_vf_fma(a, x, tl_vf_set1(b));
}

/** x clamped; NaN stays. */
TL_INLINE tl_vf tl_vf_keep_between(tl_vf x, float low, float high)
{
    return tl_vf_min(tl_vf_set1(high), tl_vf_max(tl_vf_set1(low), x));
}

/** a * 2^n for integers n in -252 .. 254, rounded once. */
TL_INLINE tl_vf tl_vf_scale_far(tl_vf a, tl_vf n)
{
#if TL_SIMD_LANES == 16
    return tl_vf_scale(a, n);
#else
    const tl_vf max = tl_vf_keep_between(n, -126, 127);
    return tl_vf_scale(tl_vf_scale(a, tl_vf_sub(n, max)), max);
#endif
}

/** ln 2, in two parts of which the larger has 10 bits. */
#define TL_LN2_HIGH 0x1.63p-1f
#define TL_LN2_LOW  (-0x1.bd0106p-13f)

// Exponentials

/** The n of the reduction x = n ln 2 + r, |r| <= ln(2) / 2. */
TL_INLINE tl_vf tl_vf_exp_n(tl_vf x)
{
    return tl_vf_round(tl_vf_mul(x, tl_vf_set1(0x1.715476p+0f)));
}

/** Its r: n times the first constant, of 10 bits, is exact; |n| < 2^14. */
TL_INLINE tl_vf tl_vf_exp_r(tl_vf x, tl_vf n)
{
    x = tl_vf_fnma(n, tl_vf_set1(TL_LN2_HIGH), x);
    return tl_vf_fnma(n, tl_vf_set1(TL_LN2_LOW), x);
}

/** The r of the exact product x y: a rounding error of it would be the relative error of e^r. */
TL_INLINE tl_vf tl_vf_exp_r_product(tl_vf x, tl_vf y, tl_vf n)
{
    x = tl_vf_fma_once(x, y, tl_vf_mul(n, tl_vf_set1(-TL_LN2_HIGH)));
    return tl_vf_fnma(n, tl_vf_set1(TL_LN2_LOW), x);
}

/** e^r - 1 for |r| <= ln(2) / 2: the polynomial's relative error is 2^-26. */
TL_INLINE tl_vf tl_vf_exp_poly(tl_vf r)
{
    tl_vf p = tl_vf_set1(0x1.6acfaap-10f);
    p = tl_vf_horner(p, r, 0x1.122beap-7f);
    p = tl_vf_horner(p, r, 0x1.555796p-5f);
    p = tl_vf_horner(p, r, 0x1.5554aap-3f);
    p = tl_vf_horner(p, r, 0x1.fffffep-2f);
    return tl_vf_fma(tl_vf_mul(r, r), p, r);
}

// Some processors take 100 cycles and more for a vector where a result is subnormal, or is rounded
// to 0. So exponentials far from 0 are not computed on the way to a result of another size.

/** e^x: 1.1 ULP. Infinite from 88.73 on, subnormal below -87.34, 0 below -103.98. */
TL_INLINE tl_vf tl_vf_exp(tl_vf x)
{
    const tl_vm is_zero = tl_vf_lt(x, tl_vf_set1(-104));
    x = tl_vf_keep_between(x, -105, 90);
    const tl_vf n = tl_vf_exp_n(x);
    const tl_vf q = tl_vf_exp_poly(tl_vf_exp_r(x, n));
    const tl_vf power = tl_vf_add(tl_vf_set1(1), q);
    return tl_vf_scale_far(tl_vf_select(is_zero, tl_vf_zero(), power), n);
}

/** e^x as an addend of 1: 1.1 ULP, and e^-20 below -20, where the sum is 1. */
TL_INLINE tl_vf tl_vf_exp_addend(tl_vf x)
{
    x = tl_vf_keep_between(x, -20, 90);
    const tl_vf n = tl_vf_exp_n(x);
    const tl_vf q = tl_vf_exp_poly(tl_vf_exp_r(x, n));
    return tl_vf_scale_far(tl_vf_add(tl_vf_set1(1), q), n);
}

/** e^x for x <= 20, as a weight or factor: 1.1 ULP, and 0 where e^x is subnormal. */
TL_INLINE tl_vf tl_vf_exp_weight(tl_vf x)
{
    const tl_vf lowest = tl_vf_set1(-0x1.5d589ep+6f); // -126 ln 2, rounded up
    const tl_vf y = tl_vf_max(lowest, x);             // NaN stays
    const tl_vf n = tl_vf_exp_n(y);
    const tl_vf q = tl_vf_exp_poly(tl_vf_exp_r(y, n));
    const tl_vf weight = tl_vf_scale(tl_vf_add(tl_vf_set1(1), q), n);
    return tl_vf_select(tl_vf_lt(x, lowest), tl_vf_zero(), weight);
}

/** e^x - 1 for x <= 0: 1.5 ULP. */
TL_INLINE tl_vf tl_vf_expm1(tl_vf x)
{
    x = tl_vf_keep_between(x, -20, 0);
    const tl_vf n = tl_vf_exp_n(x), one = tl_vf_set1(1);
    const tl_vf q = tl_vf_exp_poly(tl_vf_exp_r(x, n));
    const tl_vf power = tl_vf_scale(one, n);
    return tl_vf_fma(power, q, tl_vf_sub(power, one));
}

/** tanh(x), for positive x (1 - e^-2x) / (1 + e^-2x), halves of both: 2 ULP. */
TL_INLINE tl_vf tl_vf_tanh(tl_vf x)
{
    const tl_vf y = tl_vf_max(tl_vf_set1(-20), tl_vf_mul(tl_vf_abs(x), tl_vf_set1(-2)));
    const tl_vf n = tl_vf_exp_n(y);
    const tl_vf q = tl_vf_exp_poly(tl_vf_exp_r(y, n));
    const tl_vf half = tl_vf_set1(0.5f), power = tl_vf_scale(half, n);
    const tl_vf less = tl_vf_fma(power, q, tl_vf_sub(power, half));
    const tl_vf more = tl_vf_fma(power, q, tl_vf_add(power, half));
    return tl_vf_copysign(tl_vf_div(less, more), x);
}

/** 1 / (1 + e^-x): 2.5 ULP; 0 below -88.72, where e^-x is infinite. */
TL_INLINE tl_vf tl_vf_sigmoid(tl_vf x)
{
    return tl_vf_div(tl_vf_set1(1), tl_vf_add(tl_vf_set1(1), tl_vf_exp_addend(tl_vf_neg(x))));
}

/** x / (1 + e^(-a x)), a sigmoid of ax as a gate: 2.5 ULP where ax is exact. NaN for -infinity. */
TL_INLINE tl_vf tl_vf_swish(tl_vf x, tl_vf a)
{
    const tl_vf e = tl_vf_exp_addend(tl_vf_neg(tl_vf_mul(a, x)));
    return tl_vf_div(x, tl_vf_add(tl_vf_set1(1), e));
}

/** x / (1 + e^-x), also named SiLU. */
TL_INLINE tl_vf tl_vf_silu(tl_vf x)
{
    return tl_vf_swish(x, tl_vf_set1(1));
}

/** x tanh(ln(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2): 4 ULP. */
TL_INLINE tl_vf tl_vf_mish(tl_vf x)
{
    // From 20 on, n / (n + 2) is 1, and its square stays finite.
    const tl_vf e = tl_vf_exp_weight(tl_vf_min(tl_vf_set1(20), x));
    const tl_vf n = tl_vf_fma(e, e, tl_vf_add(e, e));
    return tl_vf_mul(x, tl_vf_div(n, tl_vf_add(n, tl_vf_set1(2))));
}

// Logarithms

/** ln(m 2^n) for m in 1 .. 2 and an integer n, as n ln 2 + f - f^2 / 2 + f^3 p(f) with f = m - 1,
 *  after m was halved, and n increased, if m > sqrt(2). */
TL_INLINE tl_vf tl_vf_log_of(tl_vf m, tl_vf n)
{
    const tl_vm is_upper = tl_vf_lt(tl_vf_set1(0x1.6a09e6p+0f), m); // sqrt(2)
    m = tl_vf_select(is_upper, tl_vf_mul(m, tl_vf_set1(0.5f)), m);
    n = tl_vf_select(is_upper, tl_vf_add(n, tl_vf_set1(1)), n);
    const tl_vf f = tl_vf_sub(m, tl_vf_set1(1)), z = tl_vf_mul(f, f);
    tl_vf p = tl_vf_set1(-0x1.38fb82p-4f);
    p = tl_vf_horner(p, f, 0x1.057122p-3f);
    p = tl_vf_horner(p, f, -0x1.0d81ecp-3f);
    p = tl_vf_horner(p, f, 0x1.22d684p-3f);
    p = tl_vf_horner(p, f, -0x1.547234p-3f);
    p = tl_vf_horner(p, f, 0x1.99a034p-3f);
    p = tl_vf_horner(p, f, -0x1.000228p-2f);
    p = tl_vf_horner(p, f, 0x1.555554p-2f);
    // The small terms first; n ln 2 has two parts, the larger one exact.
    p = tl_vf_mul(tl_vf_mul(p, f), z);
    p = tl_vf_fma(n, tl_vf_set1(TL_LN2_LOW), p);
    p = tl_vf_fnma(z, tl_vf_set1(0.5f), p);
    return tl_vf_fma(n, tl_vf_set1(TL_LN2_HIGH), tl_vf_add(p, f));
}

/** ln(x): 1 ULP. -infinity for 0, NaN below. */
TL_INLINE tl_vf tl_vf_log(tl_vf x)
{
    const tl_vm is_tiny = tl_vf_lt(x, tl_vf_set1(0x1p-126f));
    const tl_vf normal = tl_vf_select(is_tiny, tl_vf_mul(x, tl_vf_set1(0x1p23f)), x);
    const tl_vf shift = tl_vf_select(is_tiny, tl_vf_set1(23), tl_vf_zero());
    tl_vf y = tl_vf_log_of(tl_vf_mantissa(normal), tl_vf_sub(tl_vf_exponent(normal), shift));
    y = tl_vf_select(tl_vf_lt(x, tl_vf_set1(INFINITY)), y, x);
    y = tl_vf_select(tl_vf_lt(x, tl_vf_zero()), tl_vf_set1(NAN), y);
    return tl_vf_select(tl_vf_eq(x, tl_vf_zero()), tl_vf_set1(-INFINITY), y);
}

/** ln(1 + e^x), as max(x, 0) + ln(1 + u) with u = e^-|x|: 3 ULP. The logarithm is
 *  2 artanh(u / (2 + u)). */
TL_INLINE tl_vf tl_vf_softplus(tl_vf x)
{
    // -|x|, but at least -20 for positive x: from 20 on, the result is x.
    const tl_vf u = tl_vf_exp_weight(tl_vf_min(x, tl_vf_max(tl_vf_set1(-20), tl_vf_neg(x))));
    const tl_vf s = tl_vf_div(u, tl_vf_add(u, tl_vf_set1(2))), z = tl_vf_mul(s, s);
    tl_vf p = tl_vf_set1(0x1.1eca16p-2f);
    p = tl_vf_horner(p, z, 0x1.1ec040p-2f);
    p = tl_vf_horner(p, z, 0x1.99d1ccp-2f);
    p = tl_vf_horner(p, z, 0x1.555502p-1f);
    p = tl_vf_fma(tl_vf_mul(p, z), s, tl_vf_add(s, s));
    return tl_vf_add(tl_vf_max(tl_vf_zero(), x), p);
}

// The normal distribution

/** erfc(x / sqrt(2)) / 2 for x >= 0, the upper tail of the normal distribution. For its error see
 *  the bounds of gelu and erf.
 *
 *  As g(x) e^(-x^2 / 2), where g decreases from 1/2 to about 1 / (sqrt(2 pi) x). g = u / (a x u +
 * w) with polynomials u and w, and `a` near sqrt(2 pi). All coefficients are positive, so that
 * nothing is lost to cancellation; far from 0, where w is small compared with a x u, errors of u
 * cancel instead. At 0, u and w are below a power of 2, where floats are finest. */
TL_INLINE tl_vf tl_vf_normal_tail(tl_vf x)
{
    const tl_vf max = tl_vf_set1(12.8125f); // beyond, x times the result is below 2^-119
    const tl_vm is_zero = tl_vf_lt(max, x);
    x = tl_vf_min(max, x);
    tl_vf u = tl_vf_set1(0x1.020fe4p-7f);
    u = tl_vf_horner(u, x, 0x1.2f1d86p-4f);
    u = tl_vf_horner(u, x, 0x1.491028p-2f);
    u = tl_vf_horner(u, x, 0x1.7ce7a6p-1f);
    u = tl_vf_horner(u, x, 0.8125f);
    tl_vf w = tl_vf_set1(0x1.424aa4p-6f);
    w = tl_vf_horner(w, x, 0x1.7f15eep-3f);
    w = tl_vf_horner(w, x, 0x1.7ee3f4p-1f);
    w = tl_vf_horner(w, x, 1.625f);
    const tl_vf ax = tl_vf_mul(x, tl_vf_set1(0x1.40d962p+1f));
    const tl_vf g = tl_vf_div(u, tl_vf_fma(ax, u, w));
    const tl_vf half = tl_vf_mul(x, tl_vf_set1(-0.5f));
    const tl_vf n = tl_vf_exp_n(tl_vf_mul(half, x));
    const tl_vf q = tl_vf_exp_poly(tl_vf_exp_r_product(half, x, n));
    return tl_vf_scale(tl_vf_select(is_zero, tl_vf_zero(), tl_vf_fma(g, q, g)), n);
}

/** x (1 + erf(x / sqrt(2))) / 2 (D. Hendrycks, K. Gimpel, arXiv:1606.08415): 4.5 ULP, also far
 *  below 0. NaN for -infinity. */
TL_INLINE tl_vf tl_vf_gelu(tl_vf x)
{
    const tl_vf tail = tl_vf_normal_tail(tl_vf_abs(x));
    const tl_vm is_negative = tl_vf_lt(x, tl_vf_zero());
    return tl_vf_mul(x, tl_vf_select(is_negative, tail, tl_vf_sub(tl_vf_set1(1), tail)));
}

/** x (1 + tanh(u)) / 2, u = sqrt(2 / pi) (x + 0.044715 x^3), as x / (1 + e^-2u) (as above, section
 *  2): 3 + 5 |u| ULP, since the rounding of u counts below 0. NaN for -infinity. */
TL_INLINE tl_vf tl_vf_gelu_tanh(tl_vf x)
{
    // Below -10.5 the result is 0, from 6 on it is x. -2u is y times -sqrt(8 / pi) (1 + 0.044715
    // y^2).
    const tl_vf one = tl_vf_set1(1), y = tl_vf_keep_between(x, -10.5f, 6);
    const tl_vf factor =
        tl_vf_horner(tl_vf_set1(-0.0713548162726f), tl_vf_mul(y, y), -1.59576912160573f);
    const tl_vf n = tl_vf_exp_n(tl_vf_mul(y, factor));
    const tl_vf q = tl_vf_exp_poly(tl_vf_exp_r_product(y, factor, n));
    return tl_vf_div(x, tl_vf_add(one, tl_vf_scale_far(tl_vf_add(one, q), n)));
}

/** erf(x): 1.6 ULP. Near 0 an odd polynomial, beyond 1 - erfc(|x|). */
TL_INLINE tl_vf tl_vf_erf(tl_vf x)
{
    const tl_vf magnitude = tl_vf_abs(x), z = tl_vf_mul(x, x);
    tl_vf p = tl_vf_set1(-0x1.3a48e2p-11f);
    p = tl_vf_horner(p, z, 0x1.474a0ep-8f);
    p = tl_vf_horner(p, z, -0x1.b68e66p-6f);
    p = tl_vf_horner(p, z, 0x1.ce1ab4p-4f);
    p = tl_vf_horner(p, z, -0x1.8126e8p-2f);
    p = tl_vf_horner(p, z, 0x1.06eba6p-3f);
    const tl_vf tail = tl_vf_normal_tail(tl_vf_mul(magnitude, tl_vf_set1(0x1.6a09e6p+0f)));
    const tl_vf far = tl_vf_fnma(tl_vf_set1(2), tail, tl_vf_set1(1));
    return tl_vf_select(tl_vf_lt(magnitude, tl_vf_set1(0.921875f)), tl_vf_fma(x, p, x),
                        tl_vf_copysign(far, x));
}

// Sine and cosine

/** Beyond this magnitude, the reduction by multiples of pi loses digits. */
#define TL_FAR_ANGLE 0x1p16f

/** (-1)^k sin(x - n pi) for n = k or k + 1/2 and an integer k, |x - n pi| up to a little above pi /
 *  2. pi has three parts; the difference from n times the first one is exact, and n times the
 *  second one, which it may cancel, is rounded once with it. */
TL_INLINE tl_vf tl_vf_sin_of(tl_vf x, tl_vf n, tl_vf k)
{
    x = tl_vf_fma_once(n, tl_vf_set1(-0x1.921fb6p+1f), x);
    x = tl_vf_fma_once(n, tl_vf_set1(0x1.777a5cp-24f), x);
    x = tl_vf_fma(n, tl_vf_set1(0x1.ee59dap-49f), x);
    const tl_vf z = tl_vf_mul(x, x);
    tl_vf p = tl_vf_set1(-0x1.b623d6p-26f);
    p = tl_vf_horner(p, z, 0x1.72cddap-19f);
    p = tl_vf_horner(p, z, -0x1.a023ccp-13f);
    p = tl_vf_horner(p, z, 0x1.111136p-7f);
    p = tl_vf_horner(p, z, -0x1.555556p-3f);
    const tl_vf y = tl_vf_fma(tl_vf_mul(x, z), p, x);
    const tl_vf odd =
        tl_vf_sub(k, tl_vf_mul(tl_vf_set1(2), tl_vf_round(tl_vf_mul(k, tl_vf_set1(0.5f)))));
    return tl_vf_mul(y, tl_vf_sub(tl_vf_set1(1), tl_vf_mul(tl_vf_set1(2), tl_vf_abs(odd))));
}

/** sin(x) for |x| up to TL_FAR_ANGLE: 2.2 ULP. */
TL_INLINE tl_vf tl_vf_sin(tl_vf x)
{
    const tl_vf k = tl_vf_round(tl_vf_mul(x, tl_vf_set1(0x1.45f306p-2f)));
    return tl_vf_sin_of(x, k, k);
}

/** cos(x) = -(-1)^k sin(x - (k + 1/2) pi) for |x| up to TL_FAR_ANGLE: 2.2 ULP. */
TL_INLINE tl_vf tl_vf_cos(tl_vf x)
{
    const tl_vf half = tl_vf_set1(0.5f);
    const tl_vf k = tl_vf_round(tl_vf_sub(tl_vf_mul(x, tl_vf_set1(0x1.45f306p-2f)), half));
    return tl_vf_sin_of(x, tl_vf_add(k, half), tl_vf_add(k, tl_vf_set1(1)));
}

// Made of straight lines: rounded as the plain C functions are, operation by operation

/** a x + b, kept between 0 and 1. */
TL_INLINE tl_vf tl_vf_hardsigmoid(tl_vf x, tl_vf a, tl_vf b)
{
    return tl_vf_keep_between(tl_vf_add(b, tl_vf_mul(a, x)), 0, 1);
}

/** x times the hard sigmoid of x (A. Howard et al., arXiv:1905.02244, section 5.2). */
TL_INLINE tl_vf tl_vf_hardswish(tl_vf x, tl_vf a, tl_vf b)
{
    return tl_vf_mul(x, tl_vf_hardsigmoid(x, a, b));
}

/** The element-wise functions that are tl_vf_NAME(x). */
#define TL_VF_MATH(ROW) \
    ROW(exp)            \
    ROW(log)            \
    ROW(tanh)           \
    ROW(erf)            \
    ROW(sigmoid)        \
    ROW(softplus)       \
    ROW(mish)           \
    ROW(gelu)           \
    ROW(gelu_tanh)
