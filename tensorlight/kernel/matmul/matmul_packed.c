// SPDX-License-Identifier: Apache-2.0
// Products with a matrix that was packed before.

#include <assert.h>

#include "kernel/matmul/gemm.h"

int tl_matmul_panels(int n)
{
    return n / TL_MATMUL_PANEL + (n % TL_MATMUL_PANEL != 0);
}

int tl_exec_matmul_pack(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int trans)
{
    assert(src->dtype == TL_FLOAT && src->ndim == 2 && dst->dtype == TL_FLOAT && dst->ndim == 3);
    const size_t rows = (size_t)src->dims[0], cols = (size_t)src->dims[1];
    assert(dst->dims[0] == tl_matmul_panels(src->dims[trans ? 0 : 1]) &&
           dst->dims[1] == src->dims[trans ? 1 : 0] && dst->dims[2] == TL_MATMUL_PANEL);
    const tl_gemm_matrix matrix = {src->data, trans ? 1 : cols, trans ? cols : 1};
    tl_gemm_pack(exec, &matrix, trans ? cols : rows, trans ? rows : cols, dst->data);
    return 0;
}

/** src2 is not looked at. */
static tl_matmul_plan plan_of(const tl_tensor *src1, const tl_tensor *bias, const tl_tensor *add,
                              const tl_tensor *dst, const tl_matmul_param *param)
{
    const tl_matmul_tensors tensors = {.src1 = src1, .bias = bias, .add = add, .dst = dst};
    tl_matmul_plan p = tl_matmul_plan_of(&tensors, param->trans1, 0);
    p.alpha = param->alpha;
    p.beta = param->beta;
    return p;
}

size_t tl_matmul_packed_scratch(const tl_tensor *src1, const tl_tensor *bias, const tl_tensor *dst,
                                const tl_matmul_param *param, int threads)
{
    if (dst->len == 0)
        return 0;
    const tl_matmul_plan p = plan_of(src1, bias, NULL, dst, param);
    return tl_gemm_scratch(&p, 1, threads);
}

int tl_exec_matmul_packed(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                          const tl_tensor *bias, const tl_tensor *add, tl_tensor *dst,
                          const tl_matmul_param *param, tl_activation act)
{
    assert(src1->dtype == TL_FLOAT && src2->dtype == TL_FLOAT && dst->dtype == TL_FLOAT);
    assert(src1->ndim == dst->ndim && src2->dims[0] == tl_matmul_panels(dst->dims[dst->ndim - 1]) &&
           src2->dims[1] == src1->dims[src1->ndim - (param->trans1 ? 2 : 1)]);
    if (dst->len == 0)
        return 0;
    const tl_matmul_plan p = plan_of(src1, bias, add, dst, param);
    tl_gemm_run(exec, &p, src2->data, act);
    return 0;
}
