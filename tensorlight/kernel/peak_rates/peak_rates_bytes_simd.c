// SPDX-License-Identifier: Apache-2.0
// Dot products of bytes in registers: see peak_rates_simd.c.

#include "kernel/peak_rates/peak_rates.h"
#include "kernel/simd/tl_simd_dot.h"
#include "kernel/simd/tl_simd_small.h"

#if TL_SIMD_REGISTERS == 32
enum { CHAINS = 24 / TL_VS_REGISTERS };
#else
enum { CHAINS = (TL_VX_PARTS == 2 ? 10 : 12) / TL_VS_REGISTERS }; // two sources, two weights
#endif

// The four bytes at `src` in the order of tl_vx_load; in `buffer` if that order differs.
static const uint8_t *order_quad(const uint8_t *src, uint8_t *buffer)
{
    if (TL_VX_BYTES == 1)
        return src;
    for (int i = 0; i < 4; i++)
        buffer[i % 2 * 16 + i / 2 * 2] = src[i];
    return buffer;
}

double SIMD_OF(tl_peak_bytes_u8)(size_t rounds, const uint8_t *src, const int8_t *weight,
                                 float *result)
{
    static const uint32_t zeros[TL_VF_LANES];
    uint8_t buffer[32] = {0};
    const uint8_t *const four = order_quad(src, buffer);
    tl_vx x[TL_VX_PARTS];
    tl_vw w[TL_VX_PARTS];
    for (int part = 0; part < TL_VX_PARTS; part++) {
        x[part] = tl_vx_load(four, part);
        w[part] = tl_vw_load(weight, part);
    }
    tl_vs s[CHAINS];
    TL_UNROLL
    for (int i = 0; i < CHAINS; i++)
        s[i] = tl_vs_begin(zeros);
    for (size_t r = 0; r < rounds; r++) {
        TL_UNROLL
        for (int i = 0; i < TL_VX_PARTS * CHAINS; i++) {
            const int part = i / CHAINS;
            x[part] = tl_vx_opaque(x[part]); // products are not shared among chains
            s[i % CHAINS] = tl_vs_add(s[i % CHAINS], x[part], w[part]);
        }
    }
    tl_vf max = tl_vf_of_sums(s[0], zeros);
    TL_UNROLL
    for (int i = 1; i < CHAINS; i++)
        max = tl_vf_max(max, tl_vf_of_sums(s[i], zeros));
    *result = tl_vf_reduce_max(max);
    return 8.0 * CHAINS * TL_VF_LANES * (double)rounds;
}
