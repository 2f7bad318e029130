// SPDX-License-Identifier: Apache-2.0
// LinearClassifier and LinearRegressor of the domain ai.onnx.ml.

#include "front/onnx/ln_onnx_steps.h"
#include "front/onnx/onnx_ml_post.h"

// Scores

// The type to compute in.
static tl_dtype linear_dtype(ln_onnx_node *n)
{
    return ln_onnx_tensor_of(n, ln_onnx_in(n, 0))->dtype == TL_FLOAT ? TL_FLOAT : TL_DOUBLE;
}

// A constant [rows, len / rows], or [len] without rows, of an attribute's floats.
static const char *constant_floats(ln_onnx_node *n, const float *values, int len, int rows,
                                   tl_dtype dtype)
{
    const int dims[] = {rows ? rows : len, rows ? len / rows : 0};
    const char *const all = ln_emit_constant(&n->emit, TL_FLOAT, rows ? 2 : 1, dims, values);
    return all ? ln_emit_cast(&n->emit, all, dtype, LN_EMIT_TEMP) : NULL;
}

// rows x coefficients^T + intercepts: [N, targets]. The number of targets is that of the
// intercepts if `targets` is 0; without these it follows from the coefficients. Coefficients beyond
// those of the targets are not used.
static const char *linear_scores(ln_onnx_node *n, int64_t targets)
{
    int n_coefficients, n_intercepts;
    const tl_dtype dtype = linear_dtype(n);
    const char *const rows = ln_onnx_ml_rows(n, 0, dtype);
    const int width = rows ? ln_onnx_tensor_of(n, rows)->dims[1] : 1;
    const float *const coefficients = ln_onnx_floats(n, "coefficients", &n_coefficients);
    const float *const intercepts = ln_onnx_floats(n, "intercepts", &n_intercepts);
    if (targets == 0 && width > 0)
        targets = n_intercepts ? n_intercepts : n_coefficients / width;
    if (targets < 1 || targets > n_coefficients || targets * width > n_coefficients)
        ln_emit_fail(&n->emit,
                     "attribute 'coefficients' has %d elements, expected %lld for each of %d "
                     "features",
                     n_coefficients, (long long)(targets < 1 ? 1 : targets), width);
    if (n_intercepts && n_intercepts != targets)
        ln_emit_fail(&n->emit, "attribute 'intercepts' has %d elements, expected %lld",
                     n_intercepts, (long long)targets);
    if (ln_onnx_failed(n))
        return NULL;
    if (targets * width < n_coefficients)
        ln_emit_warn(&n->emit, "attribute 'coefficients' has %d elements; the first %lld count",
                     n_coefficients, (long long)(targets * width));
    const char *const weight =
        constant_floats(n, coefficients, (int)targets * width, (int)targets, dtype);
    const char *const bias =
        n_intercepts ? constant_floats(n, intercepts, n_intercepts, 0, dtype) : NULL;
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_MATMUL, LN_ARG("src1", rows),
                   LN_ARG("src2", weight), LN_ARG("bias", bias), LN_BOOL("trans2", 1));
}

// Regression

static void translate_linear_regressor(ln_onnx_node *n)
{
    const int64_t targets = ln_attr_int(&n->emit, "targets", 1);
    if (targets < 1)
        ln_emit_fail(&n->emit, "attribute 'targets' is %lld, expected at least 1",
                     (long long)targets);
    const char *const scores = linear_scores(n, targets);
    const ln_onnx_ml_post post = ln_onnx_ml_post_of(n);
    ln_onnx_ml_emit_post(n, post, ln_emit_cast(&n->emit, scores, TL_FLOAT, LN_EMIT_TEMP), 0);
}

// Classification

// The labels of two classes, indices 0 and 1. Other than two labels do not name them: they are 0
// and 1 then.
static void emit_binary_labels(ln_onnx_node *n, const char *classes,
                               const ln_onnx_ml_labels *labels)
{
    if (labels->len == 2)
        ln_onnx_ml_emit_labels(n, classes, labels, 0);
    else if (labels->strings)
        LN_EMIT(&n->emit, 0, LN_OP_STRING_CAST, LN_ARG("src", classes),
                LN_DTYPE("dtype", TL_STRING));
    else
        ln_onnx_alias(n, 0, classes);
}

// One score for two classes: the second one, if the score is above 0. The columns are 1 - x and x;
// transformed, those of -x and x.
static void emit_binary_classes(ln_onnx_node *n, const char *score, const ln_onnx_ml_labels *labels)
{
    const int has_both = labels->len == 2;
    const ln_onnx_ml_post post = ln_onnx_ml_post_of(n);
    emit_binary_labels(n, ln_onnx_ml_above(n, score, 0), labels);
    score = ln_emit_cast(&n->emit, score, TL_FLOAT, LN_EMIT_TEMP);
    if (has_both)
        score = ln_onnx_ml_two_columns(n, score, post == LN_ONNX_ML_NONE);
    ln_onnx_ml_emit_post(n, post, score, 1);
}

static void translate_linear_classifier(ln_onnx_node *n)
{
    const ln_onnx_ml_labels labels =
        ln_onnx_ml_labels_of(n, "classlabels_ints", "classlabels_strings");
    ln_attr_int(&n->emit, "multi_class", 0); // decides how to train only
    const char *const scores = linear_scores(n, 0);
    if (ln_onnx_failed(n))
        return;
    const int targets = ln_onnx_tensor_of(n, scores)->dims[1];
    if (targets == 1) {
        emit_binary_classes(n, scores, &labels);
        return;
    }
    if (labels.len != targets)
        ln_emit_fail(&n->emit, "has %d labels, expected one for each of %d classes", labels.len,
                     targets);
    ln_onnx_ml_emit_labels(n, ln_onnx_ml_best(n, scores), &labels, 0);
    ln_onnx_ml_emit_post(n, ln_onnx_ml_post_of(n),
                         ln_emit_cast(&n->emit, scores, TL_FLOAT, LN_EMIT_TEMP), 1);
}

const ln_onnx_row ln_onnx_rows_ml_linear[] = {
    {"LinearClassifier", 1, translate_linear_classifier},
    {"LinearRegressor", 1, translate_linear_regressor},
    {NULL},
};
