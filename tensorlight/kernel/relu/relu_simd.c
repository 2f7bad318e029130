// SPDX-License-Identifier: Apache-2.0
// The rectifier in vectors.

#include "kernel/relu/relu.h"

#include "kernel/simd/tl_simd.h"

void SIMD(tl_relu)(const void *src, void *dst, size_t len, const void *param)
{
    const float *const s = src;
    float *const d = dst;
    (void)param;
    size_t i = 0;
    for (; i + TL_VF_LANES <= len; i += TL_VF_LANES)
        tl_vf_store(d + i, tl_vf_max(tl_vf_zero(), tl_vf_load(s + i)));
    if (i < len)
        tl_vf_store_partial(d + i, tl_vf_max(tl_vf_zero(), tl_vf_load_partial(s + i, len - i)),
                            len - i);
}
