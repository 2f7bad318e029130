// SPDX-License-Identifier: Apache-2.0
// ONNX operators for values of any kind: Identity, and those of optional values, whose presence is
// known when the model is read.

#include "data/ln_onnx_tensor.h"
#include "front/onnx/ln_onnx_compound.h"
#include "front/onnx/ln_onnx_model.h"
#include "tensorlight/tl_type.h"

static void translate_identity(ln_onnx_node *n)
{
    ln_onnx_alias(n, 0, ln_onnx_any_in(n, 0));
}

static void emit_absent(ln_onnx_node *n)
{
    const LnOnnx__Type *type = ln_onnx_attr_type(n, "type");
    const LnOnnx__SequenceType *sequence = type ? type->sequence_type : NULL;
    const LnOnnx__TensorType *tensor = !type                 ? NULL
                                       : !sequence           ? type->tensor_type
                                       : sequence->elem_type ? sequence->elem_type->tensor_type
                                                             : NULL;
    const tl_dtype dtype = tensor ? ln_onnx_dtype(tensor->elem_type) : TL_DTYPE_INVALID;
    if (dtype == TL_DTYPE_INVALID)
        ln_emit_fail(&n->emit, "neither an input, nor an attribute 'type' with a supported type of "
                               "tensors, or of sequences of these");
    ln_onnx_alias(n, 0, ln_onnx_optional_absent(n, dtype, sequence != NULL));
}

static void translate_optional(ln_onnx_node *n)
{
    const char *element = ln_onnx_any_optional(n, 0);
    if (element)
        ln_onnx_alias(n, 0, ln_onnx_optional_of(n, element));
    else
        emit_absent(n);
}

// NULL: the value is a tensor or a sequence, which is its own element. The standard specifies this
// since operator set 18, but its own models did so before.
static const ln_onnx_compound *optional_of(const ln_onnx_node *n, const char *value)
{
    const ln_onnx_compound *c = value ? ln_onnx_compound_of(n->model, value) : NULL;
    return c && c->is_optional ? c : NULL;
}

static void translate_get_element(ln_onnx_node *n)
{
    const char *value = ln_onnx_any_in(n, 0);
    const ln_onnx_compound *c = optional_of(n, value);
    if (c && !c->len)
        ln_emit_fail(&n->emit,
                     "input 0, '%s', is an absent optional value, expected one with an "
                     "element",
                     n->proto->input[0]);
    else
        ln_onnx_alias(n, 0, c ? c->items[0] : value);
}

static void translate_has_element(ln_onnx_node *n)
{
    const char *value = n->opset < 18 ? ln_onnx_any_in(n, 0) : ln_onnx_any_optional(n, 0);
    const ln_onnx_compound *c = optional_of(n, value);
    ln_onnx_alias(n, 0, ln_emit_scalar(&n->emit, TL_BOOL, c ? c->len : value != NULL));
}

const ln_onnx_row ln_onnx_rows_optional[] = {
    {"Identity", 1, translate_identity},
    {"Optional", 15, translate_optional},
    {"OptionalGetElement", 15, translate_get_element},
    {"OptionalHasElement", 15, translate_has_element},
    {NULL},
};
