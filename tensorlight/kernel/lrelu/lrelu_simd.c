// SPDX-License-Identifier: Apache-2.0
// The leaky rectifier in vectors.

#include "kernel/lrelu/lrelu.h"

#include "kernel/simd/tl_simd.h"

TL_INLINE tl_vf bent(tl_vf x, tl_vf slope)
{
    return tl_vf_select(tl_vf_le(tl_vf_zero(), x), x, tl_vf_mul(x, slope));
}

void SIMD(tl_lrelu)(const void *src, void *dst, size_t len, const void *param)
{
    const float *const s = src;
    float *const d = dst;
    const tl_vf slope = tl_vf_set1(*(const float *)param);
    size_t i = 0;
    for (; i + TL_VF_LANES <= len; i += TL_VF_LANES)
        tl_vf_store(d + i, bent(tl_vf_load(s + i), slope));
    if (i < len)
        tl_vf_store_partial(d + i, bent(tl_vf_load_partial(s + i, len - i), slope), len - i);
}
