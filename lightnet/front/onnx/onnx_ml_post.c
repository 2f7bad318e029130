// SPDX-License-Identifier: Apache-2.0
// Rows, transformed scores, and labels of classifiers and regressors of the domain ai.onnx.ml.

#include "front/onnx/onnx_ml_post.h"

// Rows

const char *ln_onnx_ml_rows(ln_onnx_node *n, int i, tl_dtype dtype)
{
    const char *src = ln_onnx_in(n, i);
    const int ndim = ln_onnx_tensor_of(n, src)->ndim;
    if (ndim != 1 && ndim != 2)
        ln_emit_fail(&n->emit, "input %d has %d dimensions, expected 1 or 2", i, ndim);
    if (ln_onnx_failed(n))
        return NULL;
    src = ln_emit_cast(&n->emit, src, dtype, LN_EMIT_TEMP);
    return ndim == 2 ? src : ln_emit_view(&n->emit, src, 2, (int[]){1, -1}, LN_EMIT_TEMP);
}

// Post_transform

static const ln_attr_word posts[] = {
    {"NONE"}, {"SOFTMAX"}, {"LOGISTIC"}, {"SOFTMAX_ZERO"}, {"PROBIT"}, {0},
};

ln_onnx_ml_post ln_onnx_ml_post_of(ln_onnx_node *n)
{
    const char *const word = ln_attr_choose(&n->emit, "post_transform", "NONE", posts);
    int i = 0;
    while (posts[i].name && !ln_streq(posts[i].name, word))
        i++;
    return posts[i].name ? (ln_onnx_ml_post)i : LN_ONNX_ML_NONE;
}

// `op` along the columns: [N, C] to [N, 1].
static const char *reduce_rows(ln_onnx_node *n, const char *op, const char *src)
{
    return ln_emit_reduce(&n->emit, op, src, 1, (int[]){1}, 1, LN_EMIT_TEMP);
}

static const char *softmax_zero(ln_onnx_node *n, const char *x, int i)
{
    // The threshold is a float, also where scores are doubles.
    ln_emit *const e = &n->emit;
    const char *const max = reduce_rows(n, "TL_REDUCE_MAX", x);
    const char *const zero = ln_emit_scalar(e, ln_onnx_tensor_of(n, x)->dtype, 1e-7F);
    const char *const counted =
        ln_emit_formula(e, "abs(x) > b ? exp(x - a) : 0", x, max, zero, LN_EMIT_TEMP);
    const char *const all =
        ln_emit_formula(e, "abs(x) > b ? exp(x - a) : x * exp(-a)", x, max, zero, LN_EMIT_TEMP);
    return ln_emit_binary(e, "TL_BINARY_DIV", all, reduce_rows(n, "TL_REDUCE_SUM", counted), i);
}

// A row without elements has no max.
static int has_columns(const ln_onnx_node *n, const char *scores)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, scores);
    return t->ndim == 2 && t->dims[1] > 0;
}

const char *ln_onnx_ml_emit_post(ln_onnx_node *n, ln_onnx_ml_post post, const char *scores, int i)
{
    if (post == LN_ONNX_ML_SOFTMAX)
        return LN_EMIT(&n->emit, i, LN_OP_SOFTMAX, LN_ARG("src", scores), LN_INT("axis", 1));
    if (post == LN_ONNX_ML_LOGISTIC)
        return ln_emit_unary(&n->emit, "TL_UNARY_SIGMOID", scores, i);
    if (post == LN_ONNX_ML_SOFTMAX_ZERO && has_columns(n, scores))
        return softmax_zero(n, scores, i);
    if (post == LN_ONNX_ML_PROBIT)
        return ln_emit_unary(&n->emit, "TL_UNARY_PROBIT", scores, i);
    ln_onnx_alias(n, i, scores);
    return scores;
}

const char *ln_onnx_ml_two_columns(ln_onnx_node *n, const char *score, int is_complement)
{
    const char *const first = ln_emit_unary_with(&n->emit, "TL_UNARY_AFFINE", score, -1,
                                                 is_complement ? 1 : 0, LN_EMIT_TEMP);
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_JOIN, LN_ARG_AT("src", 0, first),
                   LN_ARG_AT("src", 1, score), LN_INT("axis", 1));
}

// Labels

const char *ln_onnx_ml_best(ln_onnx_node *n, const char *scores)
{
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_ARGREDUCE, LN_ARG("src", scores),
                   LN_INT("axis", 1), LN_BOOL("keepdims", 0));
}

const char *ln_onnx_ml_above(ln_onnx_node *n, const char *score, double threshold)
{
    const tl_dtype dtype = ln_onnx_tensor_of(n, score)->dtype;
    const char *const line = ln_emit_view(&n->emit, score, 1, (int[]){-1}, LN_EMIT_TEMP);
    const char *const is_above = ln_emit_compare(&n->emit, "TL_COMPARE_GREATER", line,
                                                 ln_emit_scalar(&n->emit, dtype, threshold));
    return ln_emit_cast(&n->emit, is_above, TL_INT64, LN_EMIT_TEMP);
}

ln_onnx_ml_labels ln_onnx_ml_labels_of(ln_onnx_node *n, const char *ints, const char *strings)
{
    ln_onnx_ml_labels labels = {0};
    labels.ints = ln_attr_ints(&n->emit, ints, &labels.len);
    const int has_strings = ln_onnx_string_at(n, strings, 0) != NULL;
    if (labels.len > 0 && has_strings)
        ln_emit_fail(&n->emit, "has both attributes '%s' and '%s', expected one of them", ints,
                     strings);
    else if (!has_strings && labels.len == 0)
        ln_emit_fail(&n->emit, "has no labels, expected them in attribute '%s' or '%s'", ints,
                     strings);
    if (has_strings && (labels.strings = ln_onnx_text_constant(n, strings)))
        labels.len = ln_onnx_tensor_of(n, labels.strings)->len;
    return labels;
}

void ln_onnx_ml_emit_labels(ln_onnx_node *n, const char *classes, const ln_onnx_ml_labels *labels,
                            int i)
{
    const char *const all =
        labels->strings ? labels->strings : ln_emit_int64s(&n->emit, labels->len, labels->ints);
    LN_EMIT(&n->emit, i, LN_OP_TAKE, LN_ARG("src", all), LN_ARG("index", classes),
            LN_INT("axis", 0));
}
