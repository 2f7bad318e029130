// SPDX-License-Identifier: Apache-2.0
// Activations by approximate instructions, whose errors are below the rounding to 16 bits.

#ifndef LN_CUDA_ACT_CUH
#define LN_CUDA_ACT_CUH

#include "arch/cuda/ln_cuda_acts.h"
#include "arch/cuda/ln_cuda_common.cuh"

/** exp(x) as 2^(x log2(e)). */
static __device__ __forceinline__ float ln_fast_exp(float x)
{
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(r) : "f"(x * 1.44269504088896340736f));
    return r;
}

static __device__ __forceinline__ float ln_fast_reciprocal(float x)
{
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;\n" : "=f"(r) : "f"(x));
    return r;
}

/** NaN if x or y is NaN, unlike fmaxf and fminf. */
static __device__ __forceinline__ float ln_max_of(float x, float y)
{
    float r;
    asm("max.NaN.f32 %0, %1, %2;\n" : "=f"(r) : "f"(x), "f"(y));
    return r;
}

static __device__ __forceinline__ float ln_min_of(float x, float y)
{
    float r;
    asm("min.NaN.f32 %0, %1, %2;\n" : "=f"(r) : "f"(x), "f"(y));
    return r;
}

static __device__ __forceinline__ float ln_fast_sigmoid(float x)
{
    return ln_fast_reciprocal(1 + ln_fast_exp(-x));
}

/** x erfc(-x / sqrt(2)) / 2, within 1e-7 x. For z >= 0, erfc(z) = (a1 t + .. + a5 t^5) exp(-z^2),
 *  where t = 1 / (1 + 0.3275911 z). Source: Abramowitz, Stegun: Handbook of Mathematical Functions,
 *  7.1.26. */
static __device__ __forceinline__ float ln_fast_gelu(float x)
{
    const float z = fabsf(x) * 0.70710678118654752440f;
    const float t = ln_fast_reciprocal(1 + 0.3275911f * z);
    float p = 0.5f * 1.061405429f;
    p = p * t - 0.5f * 1.453152027f;
    p = p * t + 0.5f * 1.421413741f;
    p = p * t - 0.5f * 0.284496736f;
    p = p * t + 0.5f * 0.254829592f;
    const float h = p * t * ln_fast_exp(-z * z); // erfc(z) / 2
    return x * (x < 0 ? h : 1 - h);
}

/* ln_fast_NAME(x, act) for each activation: the column `fast` of LN_CUDA_ACTS. */
#define LN_FAST_ACT(arg, NAME, mode, epilogue, fast)                                          \
    static __device__ __forceinline__ float ln_fast_##NAME(float x, const tl_activation &act) \
    {                                                                                         \
        (void)act;                                                                            \
        return fast;                                                                          \
    }
LN_CUDA_ACTS(LN_FAST_ACT, )

/** The activation of N elements in place, with one switch for all of them. */
template <int N>
static __device__ __forceinline__ void ln_fast_act_all(float (&x)[N], const tl_activation &act)
{
    switch (act.act) {
#define LN_CASE(arg, NAME, mode, epilogue, fast) \
    case TL_ACT_##NAME:                          \
        LN_EACH(ln_fast_##NAME(x[i], act))
        LN_CUDA_ACTS(LN_CASE, )
#undef LN_CASE
    default:
        break;
    }
}

#endif
