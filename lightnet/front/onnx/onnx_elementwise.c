// SPDX-License-Identifier: Apache-2.0
// ONNX operators on the elements of tensors that are broadcast: arithmetic, logic, comparisons,
// choice.

#include "front/onnx/ln_onnx_steps.h"
#include "tensorlight/tl_elementwise.h"

// Operands

const char *ln_onnx_second_operand(ln_onnx_node *n)
{
    const char *const src1 = ln_onnx_in(n, 0), *const src2 = ln_onnx_in(n, 1);
    if (n->opset >= 7 || !ln_attr_has(&n->emit, "axis"))
        return src2;
    const tl_tensor *const t = ln_onnx_tensor_of(n, src2);
    const int ndim = ln_onnx_tensor_of(n, src1)->ndim;
    const int axis = ln_attr_axis(&n->emit, "axis", 0, ndim);
    if (t->ndim > ndim - axis)
        ln_emit_fail(&n->emit, "input 1 has %d dimensions, expected at most %d from axis %d on",
                     t->ndim, ndim - axis, axis);
    if (ln_onnx_failed(n) || t->ndim == ndim - axis)
        return src2;
    int dims[TL_MAXDIM];
    for (int i = 0; i < ndim - axis; i++)
        dims[i] = i < t->ndim ? t->dims[i] : 1;
    return ln_emit_reshape(&n->emit, src2, ndim - axis, dims, LN_EMIT_TEMP);
}

// Two operands: `with` is the operation

static void translate_mod(ln_onnx_node *n)
{
    const int is_c = ln_attr_bool(&n->emit, "fmod", 0);
    ln_emit_binary(&n->emit, is_c ? "TL_BINARY_FMOD" : "TL_BINARY_MOD", ln_onnx_in(n, 0),
                   ln_onnx_in(n, 1), 0);
}

// The type that computes a power of these.
static tl_dtype power_dtype(tl_dtype base, tl_dtype exponent)
{
    if (base == exponent)
        return base;
    if (!tl_dtype_is_float(base))
        return tl_dtype_is_float(exponent) ? TL_DOUBLE : TL_INT64;
    return base == TL_DOUBLE || exponent == TL_DOUBLE ? TL_DOUBLE : TL_FLOAT;
}

// The result has the type of the base.
static void translate_pow(ln_onnx_node *n)
{
    const char *const src1 = ln_onnx_in(n, 0), *const src2 = ln_onnx_second_operand(n);
    const tl_dtype dtype = ln_onnx_tensor_of(n, src1)->dtype;
    const tl_dtype wide = power_dtype(dtype, ln_onnx_tensor_of(n, src2)->dtype);
    const char *const base = ln_emit_cast(&n->emit, src1, wide, LN_EMIT_TEMP);
    const char *const exponent = ln_emit_cast(&n->emit, src2, wide, LN_EMIT_TEMP);
    const int is_last = wide == dtype;
    const char *const power =
        ln_emit_binary(&n->emit, "TL_BINARY_POW", base, exponent, is_last ? 0 : LN_EMIT_TEMP);
    if (!is_last)
        ln_emit_cast(&n->emit, power, dtype, 0);
}

static void translate_prelu(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0), *slope = ln_onnx_in(n, 1);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src), *s = ln_onnx_tensor_of(n, slope);
    // Up to opset 6 a slope for each channel is at axis 1.
    if (n->opset < 7 && s->ndim == 1 && s->len != 1 && t->ndim >= 3)
        slope = ln_emit_reshape(&n->emit, slope, t->ndim - 1,
                                (int[TL_MAXDIM]){s->dims[0], 1, 1, 1, 1, 1, 1, 1}, LN_EMIT_TEMP);
    s = ln_onnx_tensor_of(n, slope);
    const char *const dst = ln_emit_binary(&n->emit, "TL_BINARY_PRELU", src, slope, 0);
    char text[TL_SHAPE_TEXT_SIZE], slope_text[TL_SHAPE_TEXT_SIZE];
    if (dst && !tl_tensor_issameshape(ln_onnx_tensor_of(n, dst), t))
        ln_emit_fail(
            &n->emit, "the slope has shape %s, expected one that broadcasts to that of X, %s",
            tl_shape_text(slope_text, s->ndim, s->dims), tl_shape_text(text, t->ndim, t->dims));
}

// Any number of operands

// All inputs joined by `op`, as the node's output `i`.
static const char *join(ln_onnx_node *n, const char *op, int i)
{
    const int last = ln_onnx_num_inputs(n) - 1;
    const char *joined = ln_onnx_in(n, 0);
    for (int k = 1; k <= last && !ln_onnx_failed(n); k++)
        joined =
            ln_emit_binary(&n->emit, op, joined, ln_onnx_in(n, k), k == last ? i : LN_EMIT_TEMP);
    ln_onnx_alias(n, i, joined);
    return joined;
}

static void translate_join(ln_onnx_node *n)
{
    join(n, n->row->with, 0);
}

static void translate_mean(ln_onnx_node *n)
{
    const int inputs = ln_onnx_num_inputs(n);
    if (inputs == 1) {
        translate_join(n);
        return;
    }
    const char *const sum = join(n, n->row->with, LN_EMIT_TEMP);
    const tl_dtype dtype = ln_onnx_tensor_of(n, sum)->dtype;
    ln_emit_binary(&n->emit, "TL_BINARY_DIV", sum, ln_emit_scalar(&n->emit, dtype, inputs), 0);
}

static void translate_swiglu(ln_onnx_node *n)
{
    const char *const gate = ln_onnx_in(n, 0), *const value = ln_onnx_in(n, 1);
    const tl_tensor *const g = ln_onnx_tensor_of(n, gate), *const v = ln_onnx_tensor_of(n, value);
    char text[2][TL_SHAPE_TEXT_SIZE];
    if (!tl_tensor_issameshape(g, v))
        ln_emit_fail(&n->emit, "inputs 0 and 1 have shapes %s and %s, expected equal ones",
                     tl_shape_text(text[0], g->ndim, g->dims),
                     tl_shape_text(text[1], v->ndim, v->dims));
    const char *const open = ln_emit_unary_with(
        &n->emit, "TL_UNARY_SWISH", gate, ln_attr_number(&n->emit, "alpha", 1), 0, LN_EMIT_TEMP);
    ln_emit_binary(&n->emit, "TL_BINARY_MUL", open, value, 0);
}

const ln_onnx_row ln_onnx_rows_elementwise[] = {
    {"Max", 1, translate_join, "TL_BINARY_MAX"},
    {"Mean", 1, translate_mean, "TL_BINARY_ADD"},
    {"Min", 1, translate_join, "TL_BINARY_MIN"},
    {"Mod", 10, translate_mod},
    {"PRelu", 1, translate_prelu},
    {"Pow", 1, translate_pow},
    {"Sum", 1, translate_join, "TL_BINARY_ADD"},
    {"SwiGLU", 28, translate_swiglu},
    {NULL},
};
