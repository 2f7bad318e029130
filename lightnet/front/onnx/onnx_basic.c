// SPDX-License-Identifier: Apache-2.0
// ONNX operators that only name or hold tensors.

#include "front/onnx/ln_onnx_rows.h"

static void translate_identity(ln_onnx_node *n)
{
    ln_onnx_alias(n, 0, ln_onnx_in(n, 0));
}

const ln_onnx_row ln_onnx_rows_basic[] = {
    {"Identity", 1, translate_identity},
    {NULL},
};
