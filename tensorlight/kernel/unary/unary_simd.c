// SPDX-License-Identifier: Apache-2.0
// Unary element-wise functions in vectors. FORMULA(name, value) defines the kernel of
// `name`, with its value for the vector x and the parameters a and b.

#include "kernel/unary/unary.h"

#include <math.h>

#include "kernel/simd/tl_simd_math.h"
#include "kernel/simd/tl_simd_small.h"

#define KERNEL(function, value)                                                    \
    function(const void *src, void *dst, size_t len, const void *param)            \
    {                                                                              \
        const float *const s = src;                                                \
        float *const d = dst;                                                      \
        const tl_vf a = tl_vf_set1((float)((const tl_unary_param *)param)->alpha); \
        const tl_vf b = tl_vf_set1((float)((const tl_unary_param *)param)->beta);  \
        size_t i = 0;                                                              \
        (void)a, (void)b;                                                          \
        for (; i + TL_VF_LANES <= len; i += TL_VF_LANES) {                         \
            const tl_vf x = tl_vf_load(s + i);                                     \
            tl_vf_store(d + i, value);                                             \
        }                                                                          \
        if (i < len) {                                                             \
            const tl_vf x = tl_vf_load_partial(s + i, len - i);                    \
            tl_vf_store_partial(d + i, value, len - i);                            \
        }                                                                          \
    }
#define FORMULA(name, value) KERNEL(void SIMD(tl_unary_##name), value)

// The same bits as plain C

// The nearest whole number on one side: `x` rounded, and moved by `step` where that `is_past`.
TL_INLINE tl_vf round_to_side(tl_vf x, tl_vf rounded, tl_vm is_past, float step)
{
    const tl_vf moved = tl_vf_add(rounded, tl_vf_set1(step));
    return tl_vf_copysign(tl_vf_select(is_past, moved, rounded), x);
}

TL_INLINE tl_vf ceil_of(tl_vf x)
{
    const tl_vf rounded = tl_vf_round(x);
    return round_to_side(x, rounded, tl_vf_lt(rounded, x), 1);
}

TL_INLINE tl_vf floor_of(tl_vf x)
{
    const tl_vf rounded = tl_vf_round(x);
    return round_to_side(x, rounded, tl_vf_lt(x, rounded), -1);
}

// `below` where x < 0, x where not.
TL_INLINE tl_vf bent(tl_vf x, tl_vf below)
{
    return tl_vf_select(tl_vf_lt(x, tl_vf_zero()), below, x);
}

// 1 or -1 by the sign of x, x where it is 0 or NaN.
TL_INLINE tl_vf sign_of(tl_vf x)
{
    const tl_vm is_other = tl_vf_lt(tl_vf_zero(), tl_vf_abs(x));
    return tl_vf_select(is_other, tl_vf_copysign(tl_vf_set1(1), x), x);
}

// x moved by b towards 0, or 0 if it is between -a and a.
TL_INLINE tl_vf shrunk(tl_vf x, tl_vf a, tl_vf b)
{
    const tl_vf above = tl_vf_select(tl_vf_lt(a, x), tl_vf_sub(x, b), tl_vf_zero());
    return tl_vf_select(tl_vf_lt(x, tl_vf_neg(a)), tl_vf_add(x, b), above);
}

FORMULA(abs, tl_vf_abs(x))
FORMULA(neg, tl_vf_neg(x))
FORMULA(sign, sign_of(x))
FORMULA(affine, tl_vf_add(tl_vf_mul(a, x), b))
FORMULA(reciprocal, tl_vf_div(tl_vf_set1(1), x))
FORMULA(sqrt, tl_vf_sqrt(x))
FORMULA(ceil, ceil_of(x))
FORMULA(floor, floor_of(x))
FORMULA(round, tl_vf_round(x))
FORMULA(clip, tl_vf_min(b, tl_vf_max(a, x)))
FORMULA(hardsigmoid, tl_vf_hardsigmoid(x, a, b))
FORMULA(hardswish, tl_vf_hardswish(x, a, b))
FORMULA(softsign, tl_vf_div(x, tl_vf_add(tl_vf_set1(1), tl_vf_abs(x))))
FORMULA(relu, tl_vf_max(tl_vf_zero(), x))
FORMULA(thresholdedrelu, tl_vf_select(tl_vf_lt(a, x), x, tl_vf_zero()))
FORMULA(shrink, shrunk(x, a, b))
FORMULA(lrelu, bent(x, tl_vf_mul(a, x)))

// Close to it, see tl_simd_math.h

// a * (e^(x / c) - 1) where x < 0, c > 0; NaN stays.
TL_INLINE tl_vf elu_of(tl_vf x, tl_vf a, tl_vf c)
{
    return bent(x, tl_vf_mul(a, tl_vf_expm1(tl_vf_div(x, c))));
}

// The same for c = a < 0, where the power y is positive: e^y - 1 is (1 - e^-y) / e^-y, without the
// difference of two numbers near 1 that the left side is near 0. Twice the time.
TL_INLINE tl_vf steep_celu(tl_vf x, tl_vf a)
{
    const tl_vf y = tl_vf_div(x, a), one = tl_vf_set1(1);
    const tl_vf m = tl_vf_expm1(tl_vf_neg(y));
    const tl_vf near = tl_vf_div(tl_vf_neg(m), tl_vf_add(one, m));
    const tl_vf far = tl_vf_sub(tl_vf_exp(y), one);
    return bent(x, tl_vf_mul(a, tl_vf_select(tl_vf_lt(y, one), near, far)));
}

#define FORMULA_OF(name) FORMULA(name, tl_vf_##name(x))
TL_VF_MATH(FORMULA_OF)
FORMULA(scaledtanh, tl_vf_mul(a, tl_vf_tanh(tl_vf_mul(b, x))))
FORMULA(swish, tl_vf_swish(x, a))
FORMULA(elu, elu_of(x, a, tl_vf_set1(1)))
FORMULA(celu, ((const tl_unary_param *)param)->alpha < 0 ? steep_celu(x, a) : elu_of(x, a, a))
FORMULA(selu, tl_vf_mul(b, elu_of(x, a, tl_vf_set1(1))))

// Sine and cosine, beyond TL_FAR_ANGLE in plain C

static int is_far(float x)
{
    return fabsf(x) > TL_FAR_ANGLE;
}

static int has_far(const float *x, size_t len)
{
    int n = 0;
    for (size_t i = 0; i < len; i++)
        n |= is_far(x[i]);
    return n;
}

#define ANGLES(name, plain)                                                               \
    KERNEL(static void near_##name, tl_vf_##name(x))                                      \
    static void each_##name(const float *s, float *d, size_t len, const void *param)      \
    {                                                                                     \
        for (size_t i = 0; i < len; i++)                                                  \
            if (is_far(s[i]))                                                             \
                d[i] = plain(s[i]);                                                       \
            else                                                                          \
                near_##name(s + i, d + i, 1, param);                                      \
    }                                                                                     \
    void SIMD(tl_unary_##name)(const void *src, void *dst, size_t len, const void *param) \
    {                                                                                     \
        enum { BLOCK = 256 };                                                             \
        const float *s = src;                                                             \
        float *d = dst;                                                                   \
        for (size_t n; len; len -= n, s += n, d += n) {                                   \
            n = tl_min_size(len, BLOCK);                                                  \
            if (has_far(s, n))                                                            \
                each_##name(s, d, n, param);                                              \
            else                                                                          \
                near_##name(s, d, n, param);                                              \
        }                                                                                 \
    }
ANGLES(sin, sinf)
ANGLES(cos, cosf)

// Of bools: a loop of which compilers make vectors
void SIMD_OF(tl_unary_not_b8)(const void *src, void *dst, size_t len, const void *param)
{
    const uint8_t *const s = src;
    uint8_t *const d = dst;
    (void)param;
    for (size_t i = 0; i < len; i++)
        d[i] = s[i] == 0;
}
