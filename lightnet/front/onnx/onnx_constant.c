// SPDX-License-Identifier: Apache-2.0
// The ONNX operator Constant, in all its forms.

#include "front/onnx/ln_onnx_model.h"
#include "front/onnx/ln_onnx_rows.h"

static void constant_of_tensor(ln_onnx_node *n)
{
    ln_onnx_alias(n, 0, ln_onnx_attr_tensor(n, "value"));
}

static void constant_of_float(ln_onnx_node *n)
{
    const float value = (float)ln_onnx_float(n, "value_float", 0);
    ln_onnx_alias(n, 0, ln_emit_constant(&n->emit, TL_FLOAT, 0, NULL, &value));
}

static void constant_of_floats(ln_onnx_node *n)
{
    int len;
    const float *const values = ln_onnx_floats(n, "value_floats", &len);
    ln_onnx_alias(n, 0, ln_emit_constant(&n->emit, TL_FLOAT, 1, &len, values));
}

static void constant_of_int(ln_onnx_node *n)
{
    const int64_t value = ln_onnx_int(n, "value_int", 0);
    ln_onnx_alias(n, 0, ln_emit_constant(&n->emit, TL_INT64, 0, NULL, &value));
}

static void constant_of_ints(ln_onnx_node *n)
{
    int len;
    const int64_t *const values = ln_onnx_ints(n, "value_ints", &len);
    ln_onnx_alias(n, 0, ln_emit_int64s(&n->emit, len, values));
}

static void constant_of_sparse(ln_onnx_node *n)
{
    const LnOnnx__Attribute *const a = ln_onnx_find_attr(n->scope, n->proto, "sparse_value");
    if (a->sparse_tensor)
        ln_onnx_sparse(n, a->sparse_tensor, 0);
    else
        ln_emit_fail(&n->emit, "attribute 'sparse_value' has no tensor");
}

/** Exactly one of these attributes says what the constant is. */
static void translate_constant(ln_onnx_node *n)
{
    static const struct {
        const char *attr;
        ln_onnx_translate translate;
    } forms[] = {
        {"value", constant_of_tensor},        {"value_float", constant_of_float},
        {"value_floats", constant_of_floats}, {"value_int", constant_of_int},
        {"value_ints", constant_of_ints},     {"sparse_value", constant_of_sparse},
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (ln_onnx_has_attr(n, forms[i].attr)) {
            forms[i].translate(n);
            return;
        }
    ln_emit_fail(&n->emit, "there is no attribute with a number or a tensor of them");
}

const ln_onnx_row ln_onnx_rows_constant[] = {
    {"Constant", 1, translate_constant},
    {NULL},
};
