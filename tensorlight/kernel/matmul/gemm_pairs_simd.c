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

void SIMD(tl_gemm_to_parts)(const float *src, size_t n, float *dst)
{
    float rest[TL_GEMM_CHUNK] = {0};
    for (size_t k = 0; k < n; k += TL_GEMM_CHUNK, dst += TL_GEMM_SPLIT) {
        uint16_t parts[TL_GEMM_PARTS * TL_GEMM_CHUNK];
        const float *chunk = src + k;
        if (n - k < TL_GEMM_CHUNK)
            chunk = memcpy(rest, chunk, (n - k) * sizeof(*chunk));
        for (int i = 0; i < TL_GEMM_CHUNK; i++)
            tl_gemm_split(chunk[i], parts + i, TL_GEMM_CHUNK);
        memcpy(dst, parts, sizeof(parts));
    }
}
