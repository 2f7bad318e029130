// SPDX-License-Identifier: Apache-2.0
// Chains of multiply-adds in registers.
//
// A multiply-add has a latency of 4 or 5 cycles, and 1 to 4 start per cycle: only independent
// chains, at least as many as the product of the two, keep the units busy. All chains and two
// constants fit into the registers.

#include "kernel/peak_rates/peak_rates.h"

#include "kernel/simd/tl_simd.h"

#if defined(__AVX512F__) || defined(__aarch64__)
enum { CHAINS = 24 }; // of 32 registers
#else
enum { CHAINS = 12 }; // of 16
#endif

double SIMD(tl_peak)(size_t rounds, float factor, float addend, float *result)
{
    const tl_vf a = tl_vf_set1(factor), b = tl_vf_set1(addend);
    tl_vf x[CHAINS];
    TL_UNROLL
    for (int i = 0; i < CHAINS; i++)
        x[i] = tl_vf_set1((float)i);
    for (size_t r = 0; r < rounds; r++) {
        TL_UNROLL
        for (int i = 0; i < CHAINS; i++)
            x[i] = tl_vf_fma(x[i], a, b);
    }
    TL_UNROLL
    for (int i = 1; i < CHAINS; i++)
        x[0] = tl_vf_max(x[0], x[i]);
    *result = tl_vf_reduce_max(x[0]);
    return 2.0 * CHAINS * TL_VF_LANES * (double)rounds;
}
