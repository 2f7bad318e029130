// SPDX-License-Identifier: Apache-2.0
// Activations of a kernel's results, in vectors. Include after tl_simd.h in a
// template.

#ifndef TL_SIMD_ACT_H
#define TL_SIMD_ACT_H

#include "kernel/simd/tl_simd.h"
#include "kernel/unary/unary.h"
#include "tensorlight/tl_nn.h"

/** Applies `act` to y[0 .. n-1], with the same bits as tl_exec_act on this instruction set. Does
 * nothing for TL_ACT_NONE, TL_ACT_RELU and TL_ACT_CLIP: kernels clamp their results to the bounds
 * of tl_act_bounds before they write them. */
static inline void tl_vf_activate(tl_activation act, float *y, size_t n)
{
    static tl_map_func *const funcs[TL_ACT_SIZE] = {
        [TL_ACT_LRELU] = SIMD_(tl_unary_lrelu, TL_SIMD_FLOATS),
        [TL_ACT_SIGMOID] = SIMD_(tl_unary_sigmoid, TL_SIMD_FLOATS),
        [TL_ACT_TANH] = SIMD_(tl_unary_tanh, TL_SIMD_FLOATS),
        [TL_ACT_SILU] = SIMD_(tl_unary_swish, TL_SIMD_FLOATS),
        [TL_ACT_GELU] = SIMD_(tl_unary_gelu, TL_SIMD_FLOATS),
        [TL_ACT_GELU_TANH] = SIMD_(tl_unary_gelu_tanh, TL_SIMD_FLOATS),
        [TL_ACT_HARDSIGMOID] = SIMD_(tl_unary_hardsigmoid, TL_SIMD_FLOATS),
        [TL_ACT_HARDSWISH] = SIMD_(tl_unary_hardswish, TL_SIMD_FLOATS),
    };
    const double alpha = act.act == TL_ACT_SILU ? 1 : (double)act.alpha;
    if (funcs[act.act])
        funcs[act.act](y, y, n, &(tl_unary_param){alpha, (double)act.beta});
}

#endif
