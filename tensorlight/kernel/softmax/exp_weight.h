// SPDX-License-Identifier: Apache-2.0
// The weights of a softmax in plain C.

#pragma once

#include <math.h>

// e^x for x <= 0, as tl_vf_exp_weight: 0 where it is subnormal.
static inline float tl_exp_weight_float(float x)
{
    return x < -0x1.5d589ep+6f ? 0 : expf(x);
}

static inline double tl_exp_weight_double(double x)
{
    return x < -708.39 ? 0 : exp(x);
}

#define TL_EXP_WEIGHT(x) \
    _Generic((x), float : tl_exp_weight_float, double : tl_exp_weight_double)(x)
