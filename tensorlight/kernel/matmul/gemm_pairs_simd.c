// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication of pairs of bfloat16, see gemm.h.

#include "kernel/matmul/gemm.h"

#define BLOCK_FUNC            SIMD(tl_gemm_pairs)
#define MULTIPLY_ADD(a, b, c) tl_vf_fma_pairs(a, b, c)
#define TILES_FILE            "kernel/matmul/gemm_registers_simd.inc.h"
#include "kernel/matmul/gemm_block_simd.inc.h"

void SIMD(tl_gemm_to_pairs)(const float *src, size_t n, float *dst)
{
    enum { STEP = 2 * TL_VF_LANES };
    float rest[STEP] = {0};
    for (; n >= STEP; n -= STEP, src += STEP, dst += TL_VF_LANES)
        tl_vf_store(dst, tl_vf_to_pairs(tl_vf_load(src), tl_vf_load(src + TL_VF_LANES)));
    if (n == 0)
        return;
    memcpy(rest, src, n * sizeof(*src));
    const tl_vf pairs = tl_vf_to_pairs(tl_vf_load(rest), tl_vf_load(rest + TL_VF_LANES));
    float words[TL_VF_LANES];
    tl_vf_store(words, pairs);
    memcpy(dst, words, (n + 1) / 2 * sizeof(*dst));
}
