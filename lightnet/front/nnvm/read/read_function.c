// SPDX-License-Identifier: Apache-2.0
// Unary element-wise operators.

#include <float.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_steps.h"
#include "ir/ln_formula.h"

// Functions

// `with`: a name of tl_unary_func; NULL: that of the operator.
static void translate_unary(ln_nnvm_node *n)
{
    const char *const with = n->row->with;
    ln_emit_unary(&n->emit, with ? with : ln_function_named(n->vertex->op)->func, ln_nnvm_in(n, 0),
                  0);
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

// Rounds half away from zero: sign(x) floor(|x| + h), where h is the number below 1/2. With 1/2
// itself, sums just below an integer would be rounded up to it; with h, sums of halves still are.
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
    ln_emit_formula(&n->emit, "sign(x) * floor(abs(x) + a)", src,
                    ln_nnvm_scalar_like(n, src, 0.5 - steps[dtype] / 4), NULL, 0);
}

// `with`: a formula.
static void translate_formula(ln_nnvm_node *n)
{
    ln_emit_formula(&n->emit, n->row->with, ln_nnvm_in(n, 0), NULL, NULL, 0);
}

// Without cancellation: e^x - 1 by ELU, where x is positive as (1 - e^-x) e^x; log(1 + x) by
// 2 artanh(x / (2 + x)) where x is small.
#define EXPM1 "elu(-relu(-x)) - elu(-relu(x)) * exp(relu(x))"
#define LOG1P "abs(x) < 0.5 ? atanh(x / (x + 2)) + atanh(x / (x + 2)) : log(x + 1)"

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

// LightNet's operator _unary, to which MXNet's functions are rewritten.
static void translate_own_function(ln_nnvm_node *n)
{
    const double alpha = ln_attr_number(&n->emit, "alpha", 1),
                 beta = ln_attr_number(&n->emit, "beta", 0);
    ln_emit_unary_with(&n->emit, ln_attr_text(&n->emit, "func", ""), ln_nnvm_in(n, 0), alpha, beta,
                       0);
}

static void translate_clip(ln_nnvm_node *n)
{
    const double min = ln_attr_number(&n->emit, "a_min", 0),
                 max = ln_attr_number(&n->emit, "a_max", 0);
    ln_nnvm_clip(n, ln_nnvm_in(n, 0), min, max, 0);
}

static void translate_cast(ln_nnvm_node *n)
{
    ln_emit_cast(&n->emit, ln_nnvm_in(n, 0), ln_attr_dtype(&n->emit, "dtype", TL_FLOAT), 0);
}

#define FUNCTION(op, dialects, translate, with)               \
    {                                                         \
        op, dialects, translate, with, 1, 1, .keeps_shape = 1 \
    }

const ln_nnvm_row ln_nnvm_rows_function[] = {
    FUNCTION("abs ceil exp floor log sqrt tanh relu sigmoid", LN_IN_CORE, translate_unary, NULL),
    FUNCTION("cos cosh erf sin sinh tan", LN_IN_MXNET, translate_unary, NULL),
    FUNCTION("arccos", LN_IN_MXNET, translate_unary, "TL_UNARY_ACOS"),
    FUNCTION("arccosh", LN_IN_MXNET, translate_unary, "TL_UNARY_ACOSH"),
    FUNCTION("arcsin", LN_IN_MXNET, translate_unary, "TL_UNARY_ASIN"),
    FUNCTION("arcsinh", LN_IN_MXNET, translate_unary, "TL_UNARY_ASINH"),
    FUNCTION("arctan", LN_IN_MXNET, translate_unary, "TL_UNARY_ATAN"),
    FUNCTION("arctanh", LN_IN_MXNET, translate_unary, "TL_UNARY_ATANH"),
    FUNCTION("negative", LN_IN_CORE, translate_unary, "TL_UNARY_NEG"),
    FUNCTION("rint", LN_IN_MXNET, translate_unary, "TL_UNARY_ROUND"),
    FUNCTION("round", LN_IN_CORE, translate_round, NULL),
    FUNCTION("trunc", LN_IN_CORE, translate_formula, "sign(x) * floor(abs(x))"),
    FUNCTION("square", LN_IN_MXNET, translate_formula, "x * x"),
    FUNCTION("expm1", LN_IN_MXNET, translate_formula, EXPM1),
    FUNCTION("log1p", LN_IN_MXNET, translate_formula, LOG1P),
    FUNCTION("cbrt", LN_IN_MXNET, translate_formula, "sign(x) * pow(abs(x), 1 / 3)"),
    FUNCTION("rcbrt", LN_IN_MXNET, translate_formula, "reciprocal(sign(x) * pow(abs(x), 1 / 3))"),
    FUNCTION("logical_not", LN_IN_CORE, translate_not, NULL),
    FUNCTION("copy block_grad", LN_IN_CORE, translate_identity, NULL),
    {"dropout", LN_IN_CORE, translate_dropout, NULL, 1, 1, .keeps_shape = 1},
    {"leaky_relu", LN_IN_CORE, translate_leaky_relu, NULL, 1, 1, .keeps_shape = 1},
    FUNCTION("_unary", LN_NNVM_ADDED, translate_own_function, NULL),
    {"prelu", LN_IN_CORE, translate_prelu, NULL, 2, 2, .weights = 2},
    {"clip", LN_IN_CORE, translate_clip, NULL, 1, 1, .keeps_shape = 1, .needs = "a_min a_max"},
    {"cast", LN_IN_CORE, translate_cast, NULL, 1, 1, .keeps_shape = 1, .needs = "dtype"},
    {NULL},
};
