// SPDX-License-Identifier: Apache-2.0
// Activations of a kernel's results, in vectors. Include after tl_simd.h in a template.

#pragma once

#include "kernel/simd/tl_simd.h"
#include "kernel/unary/unary.h"
#include "tensorlight/tl_nn.h"

// Entries of the tables below: no function for activations that tl_act_bounds clamps.
#define TL_ACT_ROW(arg, NAME, FUNC, name, alpha, way) TL_ACT_##way(NAME, name)
#define TL_ACT_CLAMPED(NAME, name)
#define TL_ACT_APPLIED(NAME, name)                      [TL_ACT_##NAME] = SIMD_(tl_unary_##name, TL_SIMD_FLOATS),
#define TL_ACT_ALPHA(arg, NAME, FUNC, name, alpha, way) alpha,

/** Applies `act` to y[0 .. n-1], with the same bits as tl_exec_act on this instruction set. Does
 * nothing for TL_ACT_NONE, TL_ACT_RELU and TL_ACT_CLIP: kernels clamp their results to the bounds
 * of tl_act_bounds before they write them. */
static inline void tl_vf_activate(tl_activation act, float *y, size_t n)
{
    static tl_map_func *const funcs[TL_ACT_SIZE] = {TL_ACTS(TL_ACT_ROW, )};
    static const float alphas[TL_ACT_SIZE] = {0, TL_ACTS(TL_ACT_ALPHA, )};
    const float alpha = alphas[act.act] != 0 ? alphas[act.act] : act.alpha;
    if (funcs[act.act])
        funcs[act.act](y, y, n, &(tl_unary_param){(double)alpha, (double)act.beta});
}
