// SPDX-License-Identifier: Apache-2.0
// Functions of floats in vectors, for every instruction set: behind a template's #include of
// tl_simd.h.
//
// A bound "n ULP" is the largest error in units of the last place of the exact result;
// kernel/unary/unary_test.c holds the functions to it. It is for results that are not below 2^-126
// in magnitude, of products with x (swish, mish, gelu) 2^-119, since an exponential on the way may
// be subnormal: those are off by no more than that number. NaN gives NaN, with no further word.
//
// Method, where nothing else is said: the argument is reduced to a short interval (Cody & Waite,
// Software Manual for the Elementary Functions, 1980), a polynomial is evaluated there by Horner's
// rule. The polynomials have the least largest relative error (Remez' exchange algorithm); their
// coefficients were rounded to float one after the other, lowest first, those behind fitted anew.

#ifndef TL_SIMD_MATH_H
#define TL_SIMD_MATH_H

#include <math.h>

#include "kernel/simd/tl_simd.h"

/** a * x + the constant b. */
TL_INLINE tl_vf tl_vf_horner(tl_vf a, tl_vf x, float b)
{
    return tl_vf_fma(a, x, tl_vf_set1(b));
}

/** x kept between two numbers; NaN stays. */
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
    const tl_vf most = tl_vf_keep_between(n, -126, 127);
    return tl_vf_scale(tl_vf_scale(a, tl_vf_sub(n, most)), most);
#endif
}

/* ---- exponentials ---- */

/** The n of the reduction x = n ln 2 + r, |r| <= ln(2) / 2. */
TL_INLINE tl_vf tl_vf_exp_n(tl_vf x)
{
    return tl_vf_round(tl_vf_mul(x, tl_vf_set1(0x1.715476p+0f)));
}

/** Its r: n times the first constant, of 10 bits, is exact; |n| < 2^14. */
TL_INLINE tl_vf tl_vf_exp_r(tl_vf x, tl_vf n)
{
    x = tl_vf_fnma(n, tl_vf_set1(0x1.63p-1f), x);
    return tl_vf_fnma(n, tl_vf_set1(-0x1.bd0106p-13f), x);
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

/** e^(x + more) for a sum that a float cannot hold, |more| < 0.01. */
TL_INLINE tl_vf tl_vf_exp_sum(tl_vf x, tl_vf more)
{
    x = tl_vf_keep_between(x, -105, 90);
    const tl_vf n = tl_vf_exp_n(x);
    const tl_vf q = tl_vf_exp_poly(tl_vf_add(tl_vf_exp_r(x, n), more));
    return tl_vf_scale_far(tl_vf_add(tl_vf_set1(1), q), n);
}

/** e^x: 1.1 ULP. Infinite from 88.73 on, subnormal below -87.33, 0 below -103.98. */
TL_INLINE tl_vf tl_vf_exp(tl_vf x)
{
    return tl_vf_exp_sum(x, tl_vf_zero());
}

/** e^x - 1: 1.5 ULP. */
TL_INLINE tl_vf tl_vf_expm1(tl_vf x)
{
    x = tl_vf_keep_between(x, -20, 90);
    const tl_vf n = tl_vf_exp_n(x);
    const tl_vf q = tl_vf_exp_poly(tl_vf_exp_r(x, n));
    // 2^n itself would be infinite for the largest n.
    const tl_vf half = tl_vf_scale(tl_vf_set1(0.5f), n);
    const tl_vf y = tl_vf_fma(half, q, tl_vf_sub(half, tl_vf_set1(0.5f)));
    return tl_vf_add(y, y);
}

/** tanh(x) = (e^2x - 1) / (e^2x + 1): 2.5 ULP. */
TL_INLINE tl_vf tl_vf_tanh(tl_vf x)
{
    const tl_vf magnitude = tl_vf_min(tl_vf_set1(10), tl_vf_abs(x));
    const tl_vf e = tl_vf_expm1(tl_vf_add(magnitude, magnitude));
    return tl_vf_copysign(tl_vf_div(e, tl_vf_add(e, tl_vf_set1(2))), x);
}

/** 1 / (1 + e^-x): 2.5 ULP; 0 below -88.72, where e^-x is infinite. */
TL_INLINE tl_vf tl_vf_sigmoid(tl_vf x)
{
    return tl_vf_div(tl_vf_set1(1), tl_vf_add(tl_vf_set1(1), tl_vf_exp(tl_vf_neg(x))));
}

/** x / (1 + e^(-a x)), a sigmoid of ax as a gate: 2.5 ULP where ax is exact. NaN for -infinity. */
TL_INLINE tl_vf tl_vf_swish(tl_vf x, tl_vf a)
{
    return tl_vf_div(x, tl_vf_add(tl_vf_set1(1), tl_vf_exp(tl_vf_neg(tl_vf_mul(a, x)))));
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
    const tl_vf e = tl_vf_exp(tl_vf_min(tl_vf_set1(20), x));
    const tl_vf n = tl_vf_mul(e, tl_vf_add(e, tl_vf_set1(2)));
    return tl_vf_mul(x, tl_vf_div(n, tl_vf_add(n, tl_vf_set1(2))));
}

/* ---- logarithms ---- */

/** ln(m) for m in 1 .. 2 and an integer n: ln(m 2^n). */
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
    // From the small terms to the large: n ln 2 comes in two parts, the larger one exact.
    p = tl_vf_mul(tl_vf_mul(p, f), z);
    p = tl_vf_fma(n, tl_vf_set1(-0x1.bd0106p-13f), p);
    p = tl_vf_fnma(z, tl_vf_set1(0.5f), p);
    return tl_vf_fma(n, tl_vf_set1(0x1.63p-1f), tl_vf_add(p, f));
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
    const tl_vf u = tl_vf_exp(tl_vf_neg(tl_vf_abs(x)));
    const tl_vf s = tl_vf_div(u, tl_vf_add(u, tl_vf_set1(2))), z = tl_vf_mul(s, s);
    tl_vf p = tl_vf_set1(0x1.1eca16p-2f);
    p = tl_vf_horner(p, z, 0x1.1ec040p-2f);
    p = tl_vf_horner(p, z, 0x1.99d1ccp-2f);
    p = tl_vf_horner(p, z, 0x1.555502p-1f);
    p = tl_vf_fma(tl_vf_mul(p, z), s, tl_vf_add(s, s));
    return tl_vf_add(tl_vf_max(tl_vf_zero(), x), p);
}

/* ---- the normal distribution ---- */

/** erfc(x / sqrt(2)) / 2 for x >= 0, the part of a normal distribution beyond x: the bounds of
 *  gelu and erf say how exactly.
 *
 *  As e^(-x^2 / 2) g(x), where g decreases slowly: a polynomial in t = 1 / (1 + 0.3 x), times t
 *  (C. Hastings, Approximations for Digital Computers, 1955, sheet 61, has the form). The square is
 *  taken in two parts, lest its rounding be all that is left of far numbers. */
TL_INLINE tl_vf tl_vf_normal_tail(tl_vf x)
{
    x = tl_vf_min(tl_vf_set1(14.5f), x);
    const tl_vf one = tl_vf_set1(1), half = tl_vf_mul(x, tl_vf_set1(-0.5f));
    const tl_vf square = tl_vf_mul(half, x), rest = tl_vf_rest(half, x);
    const tl_vf t = tl_vf_div(one, tl_vf_fma(x, tl_vf_set1(0x1.333334p-2f), one));
    tl_vf p = tl_vf_set1(-0x1.51e500p-6f);
    p = tl_vf_horner(p, t, 0x1.cc8922p-4f);
    p = tl_vf_horner(p, t, -0x1.d36174p-3f);
    p = tl_vf_horner(p, t, 0x1.88c60ep-3f);
    p = tl_vf_horner(p, t, -0x1.455124p-4f);
    p = tl_vf_horner(p, t, 0x1.89db8ap-4f);
    p = tl_vf_horner(p, t, 0x1.411590p-4f);
    p = tl_vf_horner(p, t, 0x1.c38638p-4f);
    p = tl_vf_horner(p, t, 0x1.e9c424p-4f);
    p = tl_vf_horner(p, t, 0x1.ea3c98p-4f);
    return tl_vf_mul(tl_vf_exp_sum(square, rest), tl_vf_mul(p, t));
}

/** x (1 + erf(x / sqrt(2))) / 2 (D. Hendrycks, K. Gimpel, arXiv:1606.08415): 7.5 ULP, also far
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
    // -2u, as x times -sqrt(8 / pi) (1 + 0.044715 x^2).
    const tl_vf square = tl_vf_mul(x, x);
    const tl_vf v =
        tl_vf_mul(x, tl_vf_horner(tl_vf_set1(-0.0713548162726f), square, -1.59576912160573f));
    return tl_vf_div(x, tl_vf_add(tl_vf_set1(1), tl_vf_exp(v)));
}

/** erf(x): 2 ULP. Near 0 an odd polynomial, beyond 1 - erfc(|x|). */
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

/* ---- made of straight lines: rounded as the plain C functions are, operation by operation ---- */

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

#endif
