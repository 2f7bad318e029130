// SPDX-License-Identifier: Apache-2.0
// Unary element-wise functions in plain C, for every type.
//
// FORMULA(name, value) defines the value of `name` for the element x, of type C, and the parameters
// a and b, of type P; the kernels call it.

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
#define KERNEL_OF(arg, func, name, types, grain, sets) KERNEL_##types(name)

/* ---- floats ---- */

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

/* ---- integers ---- */

#define P double
#define KERNEL_FLT(name)
#define KERNEL_NUM(name)   KERNEL(name)
#define KERNEL_WHOLE(name) KERNEL(name)
#define INVERTED(x)        ((C) ~(x))
#include "tensor/tl_each_int.inc.h"
#undef KERNEL_NUM
#undef INVERTED

/* ---- bool ---- */

#define KERNEL_NUM(name)
#define INVERTED(x) ((C) !(x))
#define TL_TAG      b8
#include "tensor/tl_one_type.inc.h"

#else // for each type

#if TL_IS_FLOAT

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
