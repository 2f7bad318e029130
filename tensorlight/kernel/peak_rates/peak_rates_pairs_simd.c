// SPDX-License-Identifier: Apache-2.0
// Products of pairs of bfloat16 in registers: see peak_rates_simd.c.

#include "kernel/peak_rates/peak_rates.h"
#include "kernel/simd/tl_simd.h"

#if TL_SIMD_REGISTERS == 32
enum { CHAINS = 24 };
#else
enum { CHAINS = 12 };
#endif

double SIMD(tl_peak_pairs)(size_t rounds, float factor1, float factor2, float *result)
{
    const tl_vf f1 = tl_vf_set1(factor1), f2 = tl_vf_set1(factor2);
    const tl_vf a = tl_vf_opaque(tl_vf_to_pairs(f1, f1)), b = tl_vf_opaque(tl_vf_to_pairs(f2, f2));
    tl_vf sum[CHAINS];
    TL_UNROLL
    for (int i = 0; i < CHAINS; i++)
        sum[i] = tl_vf_set1((float)i);
    for (size_t r = 0; r < rounds; r++) {
        TL_UNROLL
        for (int i = 0; i < CHAINS; i++)
            sum[i] = tl_vf_fma_pairs(a, b, sum[i]);
    }
    TL_UNROLL
    for (int i = 1; i < CHAINS; i++)
        sum[0] = tl_vf_max(sum[0], sum[i]);
    *result = tl_vf_reduce_max(sum[0]);
    return 4.0 * CHAINS * TL_VF_LANES * (double)rounds;
}
