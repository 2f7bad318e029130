// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication with a packed src2.

#include <assert.h>
#include <limits.h>

#include "kernel/matmul/gemm.h"

int tl_matmul_panels(int n)
{
    return n / TL_MATMUL_PANEL + (n % TL_MATMUL_PANEL != 0);
}

// Rows of a packed matrix of `k` rows: with pairs, half as many.
static size_t packed_rows(size_t k, tl_dtype dtype, int is_split)
{
    return dtype == TL_BFLOAT16 ? tl_gemm_words(k, is_split) : k;
}

static int packed_panel(tl_dtype dtype)
{
    return dtype == TL_BFLOAT16 ? 2 * TL_MATMUL_PANEL : TL_MATMUL_PANEL;
}

static int is_packed_dtype(tl_dtype dtype)
{
    return dtype == TL_FLOAT || dtype == TL_BFLOAT16;
}

int tl_matmul_packed_dims(int k, int n, tl_dtype dtype, int dims[3])
{
    if (!is_packed_dtype(dtype))
        return tl_fail("'dtype' is %s, expected TL_FLOAT or TL_BFLOAT16", tl_dtype_name(dtype));
    dims[0] = tl_matmul_panels(n);
    dims[1] = (int)packed_rows((size_t)k, dtype, 0);
    dims[2] = packed_panel(dtype);
    return 0;
}

int tl_matmul_split_dims(int k, int n, int dims[3])
{
    const size_t rows = packed_rows((size_t)k, TL_BFLOAT16, 1);
    if (rows > INT_MAX)
        return tl_fail("a matrix in parts of bfloat16 has %d rows, expected at most %d", k,
                       INT_MAX / TL_GEMM_SPLIT * TL_GEMM_CHUNK);
    dims[0] = tl_matmul_panels(n);
    dims[1] = (int)rows;
    dims[2] = packed_panel(TL_BFLOAT16);
    return 0;
}

int tl_matmul_is_split(const tl_tensor *packed, int k)
{
    return packed->dtype == TL_BFLOAT16 && k > 0 &&
           (size_t)packed->dims[1] == packed_rows((size_t)k, TL_BFLOAT16, 1);
}

int tl_exec_matmul_pack(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int trans)
{
    assert(src->dtype == TL_FLOAT && src->ndim == 2 && is_packed_dtype(dst->dtype));
    const size_t rows = (size_t)src->dims[0], cols = (size_t)src->dims[1];
    const size_t k = trans ? cols : rows, n = trans ? rows : cols;
    const int is_split = tl_matmul_is_split(dst, (int)k);
    assert(dst->ndim == 3 && dst->dims[0] == tl_matmul_panels((int)n) &&
           (size_t)dst->dims[1] == packed_rows(k, dst->dtype, is_split) &&
           dst->dims[2] == packed_panel(dst->dtype));
    const tl_gemm_matrix matrix = {src->data, trans ? 1 : cols, trans ? cols : 1};
    if (dst->dtype == TL_BFLOAT16)
        tl_gemm_pack_pairs(exec, &matrix, k, n, is_split, dst->data);
    else
        tl_gemm_pack(exec, &matrix, k, n, dst->data);
    return 0;
}

// src2 is not read.
static tl_matmul_plan plan_of(const tl_tensor *src1, const tl_tensor *bias, const tl_tensor *add,
                              const tl_tensor *dst, const tl_matmul_param *param)
{
    const tl_matmul_tensors tensors = {.src1 = src1, .bias = bias, .add = add, .dst = dst};
    tl_matmul_plan p = tl_matmul_plan_of(&tensors, param->trans1, 0);
    p.alpha = param->alpha;
    p.beta = param->beta;
    return p;
}

// Pairs, or their parts: src1 is rounded to them at the start of the scratch memory

// The same plan with src1 in `pairs`.
static tl_matmul_plan plan_of_pairs(const tl_matmul_plan *plan, const float *pairs, int is_split)
{
    tl_matmul_plan p = *plan;
    const size_t row = tl_gemm_pairs_row(p.k, is_split);
    for (int i = 0; i < p.n_batch && p.k > 0; i++)
        p.src1.batch[i] = p.src1.batch[i] / p.k * row;
    p.src1.data = (const char *)pairs;
    p.src1.row = p.src1.row ? row : 0;
    p.src1.col = 1;
    p.k = tl_gemm_words(p.k, is_split);
    return p;
}

static int columns_of(const tl_tensor *src1)
{
    return src1->dims[src1->ndim - 1];
}

static size_t rows_of(const tl_tensor *src1)
{
    const int k = columns_of(src1);
    return k == 0 ? 0 : (size_t)(src1->len / k);
}

// Bytes of the pairs of src1.
static size_t pairs_size(const tl_tensor *src1, int is_split)
{
    const size_t row = tl_gemm_pairs_row((size_t)columns_of(src1), is_split);
    return rows_of(src1) * row * sizeof(float);
}

static int run_pairs(const tl_exec *exec, const tl_matmul_plan *plan, const tl_tensor *src1,
                     const tl_tensor *src2, tl_activation act)
{
    const int is_split = tl_matmul_is_split(src2, columns_of(src1));
    const size_t size = pairs_size(src1, is_split);
    if (is_split && !tl_gemm_has_units(exec)) {
        tl_gemm_run_split(exec, plan, src2->data, act);
        return 0;
    }
    if (!exec || exec->scratch_size < size)
        return tl_fail("a product in TL_BFLOAT16 needs %zu bytes of scratch memory, got %zu", size,
                       exec ? exec->scratch_size : 0);
    float *const pairs = exec->scratch;
    tl_exec rest = *exec;
    rest.scratch = (char *)exec->scratch + size;
    rest.scratch_size -= size;
    tl_gemm_to_pairs(exec, src1->data, rows_of(src1), plan->k, is_split, pairs);
    const tl_matmul_plan p = plan_of_pairs(plan, pairs, is_split);
    if (is_split)
        tl_gemm_run_split(&rest, &p, src2->data, act);
    else
        tl_gemm_run(&rest, &p, src2->data, TL_BFLOAT16, act);
    return 0;
}

size_t tl_matmul_packed_scratch(const tl_tensor *src1, const tl_tensor *src2, const tl_tensor *bias,
                                const tl_tensor *dst, const tl_matmul_param *param, int threads)
{
    if (dst->len == 0)
        return 0;
    const tl_matmul_plan p = plan_of(src1, bias, NULL, dst, param);
    if (src2->dtype != TL_BFLOAT16)
        return tl_gemm_scratch(&p, 1, threads);
    const int is_split = tl_matmul_is_split(src2, columns_of(src1));
    const tl_matmul_plan pairs = plan_of_pairs(&p, NULL, is_split);
    return pairs_size(src1, is_split) + tl_gemm_scratch(&pairs, 1, threads);
}

int tl_exec_matmul_packed(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                          const tl_tensor *bias, const tl_tensor *add, tl_tensor *dst,
                          const tl_matmul_param *param, tl_activation act)
{
    assert(src1->dtype == TL_FLOAT && is_packed_dtype(src2->dtype) && dst->dtype == TL_FLOAT);
    assert(src2->dtype == TL_FLOAT || !param->trans1);
    assert(src1->ndim == dst->ndim && src2->dims[0] == tl_matmul_panels(dst->dims[dst->ndim - 1]) &&
           (size_t)src2->dims[1] ==
               packed_rows((size_t)src1->dims[src1->ndim - (param->trans1 ? 2 : 1)], src2->dtype,
                           tl_matmul_is_split(src2, columns_of(src1))));
    if (dst->len == 0)
        return 0;
    const tl_matmul_plan p = plan_of(src1, bias, add, dst, param);
    if (src2->dtype == TL_BFLOAT16)
        return run_pairs(exec, &p, src1, src2, act);
    tl_gemm_run(exec, &p, src2->data, TL_FLOAT, act);
    return 0;
}
