// SPDX-License-Identifier: Apache-2.0
// ONNX operators of linear algebra: products of matrices, determinants.

#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_steps.h"

// A product of the operators `optype`, with zero points where they are given.
static void emit_product(ln_onnx_node *n, const char *optype, const char *zero1, const char *zero2)
{
    const ln_onnx_operands m = ln_onnx_operands_of(n, 0, 1);
    const char *const dst =
        LN_EMIT(&n->emit, ln_onnx_product_output(&m), optype, LN_ARG("src1", m.rows),
                LN_ARG("src2", m.cols), LN_ARG("zero1", zero1), LN_ARG("zero2", zero2));
    ln_onnx_drop_axes(n, dst, &m);
}

static void translate_matmul(ln_onnx_node *n)
{
    emit_product(n, LN_OP_MATMUL, NULL, NULL);
}

// The zero point of the first operand, when a vector, has an element for each row.
static void translate_matmul_integer(ln_onnx_node *n)
{
    const char *zero1 = ln_onnx_optional(n, 2);
    const char *const zero2 = ln_onnx_zero_point(n, 3, ln_onnx_in(n, 1), 1);
    if (zero1 && ln_onnx_tensor_of(n, zero1)->len != 1)
        zero1 = ln_onnx_as_matrix(n, zero1, 1);
    emit_product(n, LN_OP_MATMUL_INT, zero1, zero2);
}

const char *ln_onnx_emit_gemm(ln_onnx_node *n, int i)
{
    const double beta = ln_attr_number(&n->emit, "beta", 1);
    return LN_ONNX_FORM_OF(n, "Gemm", i, LN_ARG("bias", beta != 0 ? ln_onnx_optional(n, 2) : NULL));
}

static void translate_gemm(ln_onnx_node *n)
{
    ln_onnx_emit_gemm(n, 0);
}

const ln_onnx_row ln_onnx_rows_matmul[] = {
    {"Gemm", 1, translate_gemm},
    {"MatMul", 1, translate_matmul},
    {"MatMulInteger", 10, translate_matmul_integer},
    {NULL},
};
