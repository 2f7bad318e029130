// SPDX-License-Identifier: Apache-2.0
// Vectors of AVX-512 with BF16: those of AVX-512, and pairs of bfloat16. See tl_simd.h.

#pragma once

#include <string.h>

#include "kernel/simd/tl_simd_avx512.h"

static inline tl_vf tl_vf_to_pairs(tl_vf low, tl_vf high)
{
    const __m512bh pairs = _mm512_cvtne2ps_pbh(high, low);
    tl_vf bits;
    memcpy(&bits, &pairs, sizeof(bits));
    return bits;
}

static inline void tl_vf_store_rounded(uint16_t *p, tl_vf v)
{
    const __m256bh halves = _mm512_cvtneps_pbh(v);
    memcpy(p, &halves, sizeof(halves));
}

static inline tl_vf tl_vf_fma_pairs(tl_vf a, tl_vf b, tl_vf c)
{
    __m512bh x, y;
    memcpy(&x, &a, sizeof(x));
    memcpy(&y, &b, sizeof(y));
    return _mm512_dpbf16_ps(c, x, y);
}
