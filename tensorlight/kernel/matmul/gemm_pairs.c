// SPDX-License-Identifier: Apache-2.0
// Matrices of pairs of bfloat16, and of their parts: see gemm.h.

#include "kernel/matmul/gemm.h"

TL_KERNEL_TABLE(pick_to_pairs, tl_gemm_to_pairs_func, TL_GEMM_TO_PAIRS_KERNELS)

enum { MIN_WORK = 100000 }; // elements of a unit

typedef struct pairs_job {
    tl_gemm_to_pairs_func *to_pairs;
    const float *src;
    size_t k, n; // of src2: rows, columns
    size_t row, col;
    int is_split;
    float *dst;
    uint16_t *panels;
} pairs_job;

// Panels

static void pack_panel(const pairs_job *j, size_t first)
{
    const size_t cols = tl_min_size(TL_GEMM_PANEL, j->n - first);
    const size_t words = tl_gemm_words(j->k, j->is_split);
    uint16_t *const to = j->panels + first * words * 2;
    const float *const src = j->src + first * j->col;
    memset(to, 0, words * TL_GEMM_PANEL * sizeof(float));
    for (size_t k = 0; k < j->k; k++)
        for (size_t c = 0; c < cols; c++) {
            const float x = src[k * j->row + c * j->col];
            if (j->is_split)
                tl_gemm_split(x, to + tl_gemm_panel_index(k, c), TL_GEMM_PANEL_PART);
            else
                to[k / 2 * 2 * TL_GEMM_PANEL + 2 * c + k % 2] = tl_bfloat_from_float(x);
        }
}

static void pack_panels(void *arg, size_t begin, size_t end)
{
    for (size_t u = begin; u < end; u++)
        pack_panel(arg, u * TL_GEMM_PANEL);
}

void tl_gemm_pack_pairs(const tl_exec *exec, const tl_gemm_matrix *src, size_t k, size_t n,
                        int is_split, uint16_t *panels)
{
    pairs_job j = {.src = src->data,
                   .k = k,
                   .n = n,
                   .row = src->row,
                   .col = src->col,
                   .is_split = is_split,
                   .panels = panels};
    tl_parallel(exec, tl_ceil_div(n, TL_GEMM_PANEL), MIN_WORK / (TL_GEMM_PANEL * (k + 1)) + 1,
                pack_panels, &j);
}

void tl_gemm_unpack(const uint16_t *panel, size_t begin, size_t len, float *to)
{
    for (size_t k = begin; k < begin + len; k += 2, to += 2 * TL_GEMM_PANEL)
        tl_gemm_join_rows(panel, k, to);
}

// Rows

size_t tl_gemm_pairs_row(size_t k, int is_split)
{
    enum { LINE = 16, CONFLICT = 1024 }; // rows must not map to the same sets of a cache
    const size_t row = tl_ceil_div(tl_gemm_words(k, is_split), LINE) * LINE;
    return row % CONFLICT == 0 ? row + LINE : row;
}

static void rows_to_pairs(void *arg, size_t begin, size_t end)
{
    const pairs_job *const j = arg;
    for (size_t row = begin; row < end; row++)
        j->to_pairs(j->src + row * j->k, j->k, j->dst + row * j->row);
}

void tl_gemm_to_pairs(const tl_exec *exec, const float *src, size_t rows, size_t k, int is_split,
                      float *dst)
{
    pairs_job j = {.to_pairs = pick_to_pairs(exec, is_split ? TL_FLOAT : TL_BFLOAT16),
                   .src = src,
                   .k = k,
                   .row = tl_gemm_pairs_row(k, is_split),
                   .dst = dst};
    tl_parallel(exec, rows, MIN_WORK / (k + 1) + 1, rows_to_pairs, &j);
}
