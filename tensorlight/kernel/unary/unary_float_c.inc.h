// SPDX-License-Identifier: Apache-2.0
// Template: the functions of one number in plain C for one floating type.

FORMULA(abs, fabs(x))
FORMULA(neg, -x)
FORMULA(sign, x > 0 ? 1 : x < 0 ? -1 : x)
FORMULA(reciprocal, 1 / x)
FORMULA(affine, (a * x + b))
FORMULA(sqrt, sqrt(x))
FORMULA(exp, exp(x))
FORMULA(log, log(x))
FORMULA(ceil, ceil(x))
FORMULA(floor, floor(x))
FORMULA(round, rint(x))

FORMULA(sin, sin(x))
FORMULA(cos, cos(x))
FORMULA(tan, tan(x))
FORMULA(asin, asin(x))
FORMULA(acos, acos(x))
FORMULA(atan, atan(x))
FORMULA(sinh, sinh(x))
FORMULA(cosh, cosh(x))
FORMULA(tanh, tanh(x))
FORMULA(scaledtanh, (a * tanh(b * x)))
FORMULA(asinh, asinh(x))
FORMULA(acosh, acosh(x))
FORMULA(atanh, atanh(x))
FORMULA(erf, erf(x))

FORMULA(raised, x < a ? a : x)
FORMULA(lowered, x > a ? a : x)
FORMULA(clip, NAME(lowered, of)(NAME(raised, of)(x, a, 0), b, 0))
FORMULA(hardsigmoid, NAME(clip, of)(b + a * x, 0, 1))
FORMULA(hardswish, (x * NAME(hardsigmoid, of)(x, a, b)))
FORMULA(thresholdedrelu, x > a ? x : 0)
FORMULA(shrink, -a > x ? x + b : x > a ? x - b : 0)
FORMULA(softsign, x / (1 + fabs(x)))

// Far below 0, exp becomes infinite, and the quotient 0.
FORMULA(sigmoid, 1 / (1 + exp(-x)))
FORMULA(swish, x / (1 + exp(-(a * x))))

// No exponential above 1, so that nothing overflows, and no sum with 1 that would lose it.
FORMULA(softplus, (x < 0 ? 0 : x) + log1p(exp(-fabs(x))))
FORMULA(mish, (x * tanh(NAME(softplus, of)(x, 0, 0))))

// (1 + erf(t)) / 2 = erfc(-t) / 2 and (1 + tanh(t)) / 2 = 1 / (1 + e^-2t): without the difference
// of two numbers near 1 that the left sides are below 0.
FORMULA(gelu, (x * (erfc(x * (C)-0.70710678118654752440) / 2)))
FORMULA(gelu_tanh, x / (1 + exp((C)-1.59576912160573071176 * (x + (C)0.044715 * x * x * x))))

FORMULA(relu, x < 0 ? 0 : x)
FORMULA(lrelu, x < 0 ? a * x : x)
FORMULA(elu, x > 0 ? x : a * expm1(x))
FORMULA(celu, x > 0 ? x : a * expm1(x / a))
FORMULA(selu, (b * NAME(elu, of)(x, a, 0)))

TL_UNARY_FUNCS(KERNEL_OF, )
