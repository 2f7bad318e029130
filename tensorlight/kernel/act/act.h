// SPDX-License-Identifier: Apache-2.0
// Activations fused into other kernels.

#pragma once

#include "tensorlight/tl_nn.h"

/** -1 with a reason: `act` is not a tl_act. */
int tl_act_check(tl_activation act);

/** The bounds to which a kernel clamps its results before tl_vf_activate (tl_simd_act.h): those of
 * TL_ACT_RELU and TL_ACT_CLIP, otherwise infinite. */
void tl_act_bounds(tl_activation act, float *low, float *high);

/** Whether those bounds are all of the activation. */
static inline int tl_act_is_bounds(tl_activation act)
{
    return act.act == TL_ACT_NONE || act.act == TL_ACT_RELU || act.act == TL_ACT_CLIP;
}

/** tl_parallel over `n` units of `func`, each of which writes the next dst->len / n elements of
 * `dst`; then applies the activation to these while they are in the cache. */
void tl_act_parallel(const tl_exec *exec, size_t n, size_t grain, tl_range_func func, void *arg,
                     const tl_tensor *dst, tl_activation act);
