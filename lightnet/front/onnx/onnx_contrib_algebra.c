// SPDX-License-Identifier: Apache-2.0
// Linear algebra of com.microsoft: inverse matrices, distances, products with sparse matrices.
//
// Source: ContribOperators.md of ONNX Runtime.

#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_steps.h"

// Between the rows of two matrices; the columns of a constant one are made at load.
static void translate_cdist(ln_onnx_node *n)
{
    static const ln_attr_word metrics[] = {{"sqeuclidean", "squared"}, {"euclidean", ""}, {0}};
    const char *const metric = ln_attr_choose(&n->emit, "metric", "sqeuclidean", metrics);
    const char *const rows = ln_onnx_in(n, 0), *const others = ln_onnx_in_of(n, 1, 2);
    const char *const columns = ln_emit_transpose(&n->emit, others, (int[]){1, 0}, LN_EMIT_TEMP);
    LN_EMIT(&n->emit, 0, LN_OP_DISTANCE, LN_ARG("src1", rows), LN_ARG("src2", columns),
            LN_BOOL("is_squared", *metric != '\0'));
}

// alpha * A x B. A sparse constant is a matrix with zeros by now (ln_onnx_sparse).
static void translate_sparse_matmul(ln_onnx_node *n)
{
    const char *const sparse = ln_onnx_in_of(n, 0, 2), *const dense = ln_onnx_in_of(n, 1, 2);
    LN_ONNX_FORM_OF(n, "Gemm", 0, LN_ARG("src1", sparse), LN_ARG("src2", dense),
                    LN_ARG("bias", NULL));
}

const ln_onnx_row ln_onnx_rows_contrib_algebra[] = {
    {"CDist", 1, translate_cdist},
    {"SparseToDenseMatMul", 1, translate_sparse_matmul},
    {NULL},
};
