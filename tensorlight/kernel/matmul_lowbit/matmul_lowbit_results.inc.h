// SPDX-License-Identifier: Apache-2.0
// Scales and results of products with weights of few bits, in vectors: see matmul_lowbit.h.

#include "kernel/matmul_lowbit/matmul_lowbit.h"
#include "kernel/simd/tl_simd_small.h"

// Scales of a vector of columns.
TL_INLINE tl_vf load_scales(const tl_lowbit_job *job, const uint8_t *scales, size_t col)
{
    return job->has_halves ? tl_vf_load_f16((const uint16_t *)(const void *)scales + col)
                           : tl_vf_load((const float *)(const void *)scales + col);
}

// Row `row` of results: its totals, plus the bias, if not NULL.
static void write_row(const float *total, const tl_lowbit_cols *cols, size_t row)
{
    const float *const bias = cols->bias;
    float *const dst = cols->dst + row;
    for (size_t c = 0; c < cols->n; c += TL_VF_LANES) {
        const size_t n = cols->n - c;
        const int is_whole = n >= TL_VF_LANES;
        tl_vf v = tl_vf_load(total + c);
        if (bias)
            v = tl_vf_add(v, is_whole ? tl_vf_load(bias + c) : tl_vf_load_partial(bias + c, n));
        if (is_whole)
            tl_vf_store(dst + c, v);
        else
            tl_vf_store_partial(dst + c, v, n);
    }
}
