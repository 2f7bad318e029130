// SPDX-License-Identifier: Apache-2.0
// Activations of what a kernel has just written, in vectors: after a template's #include of
// tl_simd.h.

#ifndef TL_SIMD_ACT_H
#define TL_SIMD_ACT_H

#include "kernel/simd/tl_simd.h"
#include "tensorlight/tl_nn.h"

/** Applies `act` to y[0 .. n-1], n a multiple of TL_VF_LANES. Nothing to do for TL_ACT_NONE and
 *  TL_ACT_RELU: kernels keep their results between two numbers before they write them. */
static inline void tl_vf_activate(tl_act act, float slope, float *y, size_t n)
{
    if (act != TL_ACT_LRELU)
        return;
    const tl_vf k = tl_vf_set1(slope);
    for (size_t i = 0; i < n; i += TL_VF_LANES) {
        const tl_vf x = tl_vf_load(y + i);
        tl_vf_store(y + i, tl_vf_select(tl_vf_lt(x, tl_vf_zero()), tl_vf_mul(x, k), x));
    }
}

#endif
