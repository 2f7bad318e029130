// SPDX-License-Identifier: Apache-2.0
// Operands of matrix products, vectors among them: NumPy's rule, which MatMul, MatMulInteger and
// QLinearMatMul share. A vector on the left counts as one row, on the right as one column, and the
// product loses that axis.
//
//     const ln_onnx_operands m = ln_onnx_operands_of(n, 0, 1);
//     ... an operator of m.rows and m.cols, whose output is ln_onnx_product_output(&m) ...
//     ln_onnx_drop_axes(n, dst, &m);

#ifndef LN_ONNX_PRODUCT_H
#define LN_ONNX_PRODUCT_H

#include "front/onnx/ln_onnx.h"

/** The operands as matrices, and whether each has that axis itself. */
typedef struct ln_onnx_operands {
    const char *rows, *cols;
    int has_row, has_col;
} ln_onnx_operands;

/** A vector as one row, or as one column; any other tensor as it is. */
const char *ln_onnx_as_matrix(ln_onnx_node *n, const char *tensor, int is_column);

/** Two inputs of the node. */
ln_onnx_operands ln_onnx_operands_of(ln_onnx_node *n, int input1, int input2);

/** Which output of the node the product of the matrices is: 0, or LN_EMIT_TEMP. */
int ln_onnx_product_output(const ln_onnx_operands *m);

/** Makes the node's output 0 of `dst`, the product, where an operand is a vector. */
void ln_onnx_drop_axes(ln_onnx_node *n, const char *dst, const ln_onnx_operands *m);

#endif
