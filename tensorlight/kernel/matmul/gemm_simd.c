// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication of floats, see gemm.h.

#include "kernel/matmul/gemm.h"

#define BLOCK_FUNC                        SIMD(tl_gemm_block)
#define MULTIPLY_ADD(a, b, c)             tl_vf_fma(a, b, c)
#define PACK_PANEL(src, len, cols, panel) SIMD(tl_gemm_pack)(src, len, cols, panel)
#define TILES_FILE                        "kernel/matmul/gemm_registers_simd.inc.h"
#include "kernel/matmul/gemm_block_simd.inc.h"

// Packing

// Transposes `n_lines` lines of `len` floats, both at most TL_VF_LANES, to `len` lines of
// TL_VF_LANES floats, padded with 0.
static void transpose(const float *src, size_t src_step, size_t n_lines, size_t len, float *dst,
                      size_t dst_step)
{
    tl_vf v[TL_VF_LANES];
    if (n_lines == TL_VF_LANES && len == TL_VF_LANES) {
        TL_UNROLL
        for (int i = 0; i < TL_VF_LANES; i++)
            v[i] = tl_vf_load(src + i * src_step);
        tl_vf_transpose(v);
        TL_UNROLL
        for (int i = 0; i < TL_VF_LANES; i++)
            tl_vf_store(dst + i * dst_step, v[i]);
        return;
    }
    for (size_t i = 0; i < TL_VF_LANES; i++)
        v[i] = i >= n_lines         ? tl_vf_zero()
               : len == TL_VF_LANES ? tl_vf_load(src + i * src_step)
                                    : tl_vf_load_partial(src + i * src_step, len);
    tl_vf_transpose(v);
    for (size_t i = 0; i < len; i++)
        tl_vf_store(dst + i * dst_step, v[i]);
}

// Packs contiguous rows to all panels, row by row.
static void pack_rows(const float *src, size_t row_step, size_t len, size_t cols, float *panels)
{
    const size_t whole = cols - cols % TL_GEMM_PANEL, panel_step = len * TL_GEMM_PANEL;
    for (size_t k = 0; k < len; k++, src += row_step) {
        float *panel = panels + k * TL_GEMM_PANEL;
        for (size_t j = 0; j < whole; j += TL_GEMM_PANEL, panel += panel_step) {
            if (k + AHEAD < len)
                prefetch_floats(src + AHEAD * row_step + j, TL_GEMM_PANEL);
            TL_UNROLL
            for (int v = 0; v < TL_GEMM_PANEL; v += TL_VF_LANES)
                tl_vf_store(panel + v, tl_vf_load(src + j + v));
        }
        if (whole < cols) {
            memset(panel, 0, TL_GEMM_PANEL * sizeof(*panel));
            copy_line(panel, src + whole, cols - whole);
        }
    }
}

// Packs contiguous columns to a panel.
static void pack_columns(const float *src, size_t col_step, size_t len, size_t cols, float *panel)
{
    for (size_t k = 0; k < len; k += TL_VF_LANES)
        for (size_t j = 0; j < TL_GEMM_PANEL; j += TL_VF_LANES)
            transpose(j < cols ? src + j * col_step + k : src, col_step,
                      j < cols ? tl_min_size(cols - j, TL_VF_LANES) : 0,
                      tl_min_size(len - k, TL_VF_LANES), panel + k * TL_GEMM_PANEL + j,
                      TL_GEMM_PANEL);
}

void SIMD(tl_gemm_pack)(const tl_gemm_matrix *src, size_t len, size_t cols, float *panels)
{
    if (src->col == 1 || cols == 1) {
        pack_rows(src->data, src->row, len, cols, panels);
        return;
    }
    for (size_t j = 0; j < cols; j += TL_GEMM_PANEL, panels += len * TL_GEMM_PANEL) {
        const size_t n = tl_min_size(cols - j, TL_GEMM_PANEL);
        pack_columns(src->data + j * src->col, src->col, len, n, panels);
    }
}

#ifdef TL_SIMD_HEADER // plain C has no kernel of few rows
#include "kernel/matmul/gemm_few_simd.inc.h"
#endif
