// SPDX-License-Identifier: Apache-2.0
// Dot products of bytes in registers: see peak_simd.c.

#include "kernel/peak/peak.h"
#include "kernel/simd/tl_simd_dot.h"
#include "kernel/simd/tl_simd_small.h"

#if TL_SIMD_REGISTERS == 32
enum { CHAINS = 24 / TL_VS_REGISTERS };
#else
enum { CHAINS = 12 / TL_VS_REGISTERS };
#endif

double SIMD_OF(tl_peak_bytes_u8)(size_t rounds, const uint8_t *src, const int8_t *weight,
                                 float *result)
{
    static const uint32_t zeros[TL_VF_LANES];
    tl_vx x = tl_vx_load(src);
    const tl_vw w = tl_vw_load(weight);
    tl_vs s[CHAINS];
    TL_UNROLL
    for (int i = 0; i < CHAINS; i++)
        s[i] = tl_vs_begin(zeros);
    for (size_t r = 0; r < rounds; r++) {
        TL_UNROLL
        for (int i = 0; i < CHAINS; i++) {
            x = tl_vx_keep(x); // products are not shared among chains
            s[i] = tl_vs_add(s[i], x, w);
        }
    }
    tl_vf most = tl_vf_of_sums(s[0], zeros);
    TL_UNROLL
    for (int i = 1; i < CHAINS; i++)
        most = tl_vf_max(most, tl_vf_of_sums(s[i], zeros));
    *result = tl_vf_largest(most);
    return 8.0 * CHAINS * TL_VF_LANES * (double)rounds;
}
