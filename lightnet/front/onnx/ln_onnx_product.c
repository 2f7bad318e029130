// SPDX-License-Identifier: Apache-2.0
// Vectors as operands of matrix products.

#include "front/onnx/ln_onnx_product.h"

const char *ln_onnx_as_matrix(ln_onnx_node *n, const char *tensor, int is_column)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, tensor);
    if (t->ndim != 1)
        return tensor;
    const int row[] = {1, t->dims[0]}, column[] = {t->dims[0], 1};
    return ln_emit_reshape(&n->emit, tensor, 2, is_column ? column : row, LN_EMIT_TEMP);
}

ln_onnx_operands ln_onnx_operands_of(ln_onnx_node *n, int input1, int input2)
{
    const char *const src1 = ln_onnx_in(n, input1), *const src2 = ln_onnx_in(n, input2);
    return (ln_onnx_operands){.rows = ln_onnx_as_matrix(n, src1, 0),
                              .cols = ln_onnx_as_matrix(n, src2, 1),
                              .has_row = ln_onnx_tensor_of(n, src1)->ndim != 1,
                              .has_col = ln_onnx_tensor_of(n, src2)->ndim != 1};
}

int ln_onnx_product_output(const ln_onnx_operands *m)
{
    return m->has_row && m->has_col ? 0 : LN_EMIT_TEMP;
}

void ln_onnx_drop_axes(ln_onnx_node *n, const char *dst, const ln_onnx_operands *m)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, dst);
    if (m->has_row && m->has_col)
        return;
    int dims[TL_MAXDIM], ndim = 0;
    for (int i = 0; i < t->ndim; i++)
        if (!(i == t->ndim - 2 && !m->has_row) && !(i == t->ndim - 1 && !m->has_col))
            dims[ndim++] = t->dims[i];
    ln_emit_reshape(&n->emit, dst, ndim, dims, 0);
}
