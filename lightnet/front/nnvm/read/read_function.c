// SPDX-License-Identifier: Apache-2.0
// Operators that are a function of each element.

#include <float.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_steps.h"

// Functions

// `with`: a name of tl_unary_func.
static void translate_unary(ln_nnvm_node *n)
{
    ln_emit_unary(&n->emit, n->row->with, ln_nnvm_in(n, 0), 0);
}

static void translate_identity(ln_nnvm_node *n)
{
    ln_nnvm_alias(n, 0, ln_nnvm_in(n, 0));
}

static void translate_dropout(ln_nnvm_node *n)
{
    ln_attr_number(&n->emit, "rate", 0.5); // without effect
    translate_identity(n);
}

// sign(x) floor(|x| + h): halves go away from zero. With 1/2 itself as h, sums just below a whole
// number would be rounded up to it; with the number below it, they stay, and those of halves are
// rounded to the whole number, being halfway to it or closer.
static void translate_round(ln_nnvm_node *n)
{
    static const double steps[] = {[TL_FLOAT] = FLT_EPSILON,
                                   [TL_DOUBLE] = DBL_EPSILON,
                                   [TL_FLOAT16] = 0x1p-10,
                                   [TL_BFLOAT16] = 0x1p-7}; // from 1 to the next number
    const char *const src = ln_nnvm_in(n, 0);
    const tl_dtype dtype = ln_nnvm_tensor_of(n, src)->dtype;
    if (!tl_dtype_is_float(dtype)) {
        ln_nnvm_alias(n, 0, src);
        return;
    }
    const char *const size = ln_emit_unary(&n->emit, "TL_UNARY_ABS", src, LN_EMIT_TEMP);
    const char *const below_half = ln_nnvm_scalar_like(n, size, 0.5 - steps[dtype] / 4);
    const char *const sum =
        ln_emit_binary(&n->emit, "TL_BINARY_ADD", size, below_half, LN_EMIT_TEMP);
    const char *const rounded = ln_emit_unary(&n->emit, "TL_UNARY_FLOOR", sum, LN_EMIT_TEMP);
    ln_emit_binary(&n->emit, "TL_BINARY_MUL",
                   ln_emit_unary(&n->emit, "TL_UNARY_SIGN", src, LN_EMIT_TEMP), rounded, 0);
}

// Toward zero: the sign times the floor of the size.
static void translate_trunc(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const char *const size = ln_emit_unary(&n->emit, "TL_UNARY_ABS", src, LN_EMIT_TEMP);
    const char *const floor = ln_emit_unary(&n->emit, "TL_UNARY_FLOOR", size, LN_EMIT_TEMP);
    ln_emit_binary(&n->emit, "TL_BINARY_MUL",
                   ln_emit_unary(&n->emit, "TL_UNARY_SIGN", src, LN_EMIT_TEMP), floor, 0);
}

static void translate_square(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    ln_emit_binary(&n->emit, "TL_BINARY_MUL", src, src, 0);
}

// ELU for elements <= 0, accurate for small ones.
static const char *emit_expm1_below(ln_nnvm_node *n, const char *minus)
{
    const char *const below =
        ln_emit_unary(&n->emit, "TL_UNARY_NEG",
                      ln_emit_unary(&n->emit, "TL_UNARY_RELU", minus, LN_EMIT_TEMP), LN_EMIT_TEMP);
    return ln_emit_unary_with(&n->emit, "TL_UNARY_ELU", below, 1, 0, LN_EMIT_TEMP);
}

// e^x - 1 without cancellation: where x is positive, (1 - e^-x) e^x.
static void translate_expm1(ln_nnvm_node *n)
{
    const char *const x = ln_nnvm_in(n, 0);
    const char *const minus = ln_emit_unary(&n->emit, "TL_UNARY_NEG", x, LN_EMIT_TEMP);
    const char *const below = emit_expm1_below(n, minus), *const above = emit_expm1_below(n, x);
    const char *const positive = ln_emit_unary(&n->emit, "TL_UNARY_RELU", x, LN_EMIT_TEMP);
    const char *const factor = ln_emit_unary(&n->emit, "TL_UNARY_EXP", positive, LN_EMIT_TEMP);
    ln_emit_binary(&n->emit, "TL_BINARY_SUB", below,
                   ln_emit_binary(&n->emit, "TL_BINARY_MUL", above, factor, LN_EMIT_TEMP), 0);
}

// log(1 + x) without cancellation: 2 artanh(x / (2 + x)) where x is small.
static void translate_log1p(ln_nnvm_node *n)
{
    ln_emit *const e = &n->emit;
    const char *const x = ln_nnvm_in(n, 0);
    const char *const sum =
        ln_emit_binary(e, "TL_BINARY_ADD", x, ln_nnvm_scalar_like(n, x, 2), LN_EMIT_TEMP);
    const char *const ratio = ln_emit_binary(e, "TL_BINARY_DIV", x, sum, LN_EMIT_TEMP);
    const char *const half = ln_emit_unary(e, "TL_UNARY_ATANH", ratio, LN_EMIT_TEMP);
    const char *const near = ln_emit_binary(e, "TL_BINARY_ADD", half, half, LN_EMIT_TEMP);
    const char *const more =
        ln_emit_binary(e, "TL_BINARY_ADD", x, ln_nnvm_scalar_like(n, x, 1), LN_EMIT_TEMP);
    const char *const far = ln_emit_unary(e, "TL_UNARY_LOG", more, LN_EMIT_TEMP);
    const char *const size = ln_emit_unary(e, "TL_UNARY_ABS", x, LN_EMIT_TEMP);
    const char *const is_small =
        ln_emit_compare(&n->emit, "TL_COMPARE_LESS", size, ln_nnvm_scalar_like(n, x, 0.5));
    ln_emit_where(&n->emit, is_small, near, far, 0);
}

// The cube root keeps the sign: sign(x) |x|^(1/3).
static void translate_cbrt(ln_nnvm_node *n)
{
    const int is_inverse = !strcmp(n->row->with, "inverse");
    const char *const src = ln_nnvm_in(n, 0);
    const char *const size = ln_emit_unary(&n->emit, "TL_UNARY_ABS", src, LN_EMIT_TEMP);
    const char *const root = ln_emit_binary(&n->emit, "TL_BINARY_POW", size,
                                            ln_nnvm_scalar_like(n, size, 1.0 / 3), LN_EMIT_TEMP);
    const char *const sign = ln_emit_unary(&n->emit, "TL_UNARY_SIGN", src, LN_EMIT_TEMP);
    const char *const x =
        ln_emit_binary(&n->emit, "TL_BINARY_MUL", sign, root, is_inverse ? LN_EMIT_TEMP : 0);
    if (is_inverse)
        ln_emit_unary(&n->emit, "TL_UNARY_RECIPROCAL", x, 0);
}

static void translate_not(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const char *const truth =
        ln_emit_compare(&n->emit, "TL_COMPARE_EQUAL", src, ln_nnvm_scalar_like(n, src, 0));
    ln_emit_cast(&n->emit, truth, ln_nnvm_tensor_of(n, src)->dtype, 0);
}

// Activations

static void translate_leaky_relu(ln_nnvm_node *n)
{
    ln_emit_unary_with(&n->emit, "TL_UNARY_LRELU", ln_nnvm_in(n, 0),
                       ln_attr_number(&n->emit, "alpha", 0.25), 0, 0);
}

// x > 0 ? x : slope x, with a slope for each index along an axis, or one for all.
static void translate_prelu(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    const int ndim = t->ndim, is_own_axis = ndim == 1 && ln_nnvm_was_mxnet(n);
    const int axis = is_own_axis ? 0 : ln_attr_axis(&n->emit, "axis", 1, ndim);
    int dims[LN_MAXDIM], channels = t->ndim ? t->dims[axis] : 1;
    const char *slope = ln_nnvm_weight(n, 1, "alpha", 1, &channels);
    const int len = ln_nnvm_tensor_of(n, slope)->len;
    if (len != 1 && len != channels)
        ln_emit_fail(&n->emit, "%d slopes, expected 1 or %d", len, channels);
    for (int i = 0; i < ndim; i++)
        dims[i] = i == axis ? len : 1;
    slope = ln_emit_reshape(&n->emit, slope, ndim, dims, LN_EMIT_TEMP);
    ln_emit_binary(&n->emit, "TL_BINARY_PRELU", src, slope, 0);
}

// LightNet's own, which MXNet's functions are rewritten to.
static void translate_own_function(ln_nnvm_node *n)
{
    const double alpha = ln_attr_number(&n->emit, "alpha", 1),
                 beta = ln_attr_number(&n->emit, "beta", 0);
    ln_emit_unary_with(&n->emit, ln_attr_text(&n->emit, "func", ""), ln_nnvm_in(n, 0), alpha, beta,
                       0);
}

static void translate_clip(ln_nnvm_node *n)
{
    ln_attr_require(&n->emit, "a_min");
    ln_attr_require(&n->emit, "a_max");
    const double min = ln_attr_number(&n->emit, "a_min", 0),
                 max = ln_attr_number(&n->emit, "a_max", 0);
    ln_nnvm_clip(n, ln_nnvm_in(n, 0), min, max, 0);
}

static void translate_cast(ln_nnvm_node *n)
{
    ln_attr_require(&n->emit, "dtype");
    ln_emit_cast(&n->emit, ln_nnvm_in(n, 0), ln_attr_dtype(&n->emit, "dtype", TL_FLOAT), 0);
}

#define FUNCTION(op, dialects, translate, with)               \
    {                                                         \
        op, dialects, translate, with, 1, 1, .keeps_shape = 1 \
    }

const ln_nnvm_row ln_nnvm_rows_function[] = {
    FUNCTION("abs", LN_IN_CORE, translate_unary, "TL_UNARY_ABS"),
    FUNCTION("arccos", LN_IN_MXNET, translate_unary, "TL_UNARY_ACOS"),
    FUNCTION("arccosh", LN_IN_MXNET, translate_unary, "TL_UNARY_ACOSH"),
    FUNCTION("arcsin", LN_IN_MXNET, translate_unary, "TL_UNARY_ASIN"),
    FUNCTION("arcsinh", LN_IN_MXNET, translate_unary, "TL_UNARY_ASINH"),
    FUNCTION("arctan", LN_IN_MXNET, translate_unary, "TL_UNARY_ATAN"),
    FUNCTION("arctanh", LN_IN_MXNET, translate_unary, "TL_UNARY_ATANH"),
    FUNCTION("ceil", LN_IN_CORE, translate_unary, "TL_UNARY_CEIL"),
    FUNCTION("cos", LN_IN_MXNET, translate_unary, "TL_UNARY_COS"),
    FUNCTION("cosh", LN_IN_MXNET, translate_unary, "TL_UNARY_COSH"),
    FUNCTION("erf", LN_IN_MXNET, translate_unary, "TL_UNARY_ERF"),
    FUNCTION("exp", LN_IN_CORE, translate_unary, "TL_UNARY_EXP"),
    FUNCTION("floor", LN_IN_CORE, translate_unary, "TL_UNARY_FLOOR"),
    FUNCTION("log", LN_IN_CORE, translate_unary, "TL_UNARY_LOG"),
    FUNCTION("negative", LN_IN_CORE, translate_unary, "TL_UNARY_NEG"),
    FUNCTION("rint", LN_IN_MXNET, translate_unary, "TL_UNARY_ROUND"),
    FUNCTION("sin", LN_IN_MXNET, translate_unary, "TL_UNARY_SIN"),
    FUNCTION("sinh", LN_IN_MXNET, translate_unary, "TL_UNARY_SINH"),
    FUNCTION("sqrt", LN_IN_CORE, translate_unary, "TL_UNARY_SQRT"),
    FUNCTION("tan", LN_IN_MXNET, translate_unary, "TL_UNARY_TAN"),
    FUNCTION("tanh", LN_IN_CORE, translate_unary, "TL_UNARY_TANH"),
    FUNCTION("relu", LN_IN_CORE, translate_unary, "TL_UNARY_RELU"),
    FUNCTION("sigmoid", LN_IN_CORE, translate_unary, "TL_UNARY_SIGMOID"),
    FUNCTION("round", LN_IN_CORE, translate_round, NULL),
    FUNCTION("trunc", LN_IN_CORE, translate_trunc, NULL),
    FUNCTION("square", LN_IN_MXNET, translate_square, NULL),
    FUNCTION("expm1", LN_IN_MXNET, translate_expm1, NULL),
    FUNCTION("log1p", LN_IN_MXNET, translate_log1p, NULL),
    FUNCTION("cbrt", LN_IN_MXNET, translate_cbrt, ""),
    FUNCTION("rcbrt", LN_IN_MXNET, translate_cbrt, "inverse"),
    FUNCTION("logical_not", LN_IN_CORE, translate_not, NULL),
    FUNCTION("copy", LN_IN_CORE, translate_identity, NULL),
    FUNCTION("block_grad", LN_IN_CORE, translate_identity, NULL),
    {"dropout", LN_IN_CORE, translate_dropout, NULL, 1, 1, .keeps_shape = 1},
    {"leaky_relu", LN_IN_CORE, translate_leaky_relu, NULL, 1, 1, .keeps_shape = 1},
    FUNCTION("_unary", LN_NNVM_ADDED, translate_own_function, NULL),
    {"prelu", LN_IN_CORE, translate_prelu, NULL, 2, 2, .weights = 2},
    FUNCTION("clip", LN_IN_CORE, translate_clip, NULL),
    FUNCTION("cast", LN_IN_CORE, translate_cast, NULL),
    {NULL},
};
