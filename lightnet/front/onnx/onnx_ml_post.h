// SPDX-License-Identifier: Apache-2.0
// Steps that the classifiers and regressors of the domain ai.onnx.ml share: their input as a matrix
// of rows, the attribute post_transform, and labels.
//
//     const char *const rows = ln_onnx_ml_rows(n, 0, TL_FLOAT);
//     const char *const scores = ...; // [N, C]
//     ln_onnx_ml_emit_labels(n, ln_onnx_ml_best(n, scores), &labels, 0);
//     ln_onnx_ml_emit_post(n, ln_onnx_ml_post_of(n), scores, 1);

#pragma once

#include "front/onnx/ln_onnx.h"

/** The attribute post_transform. */
typedef enum ln_onnx_ml_post {
    LN_ONNX_ML_NONE,
    LN_ONNX_ML_SOFTMAX,
    LN_ONNX_ML_LOGISTIC,
    LN_ONNX_ML_SOFTMAX_ZERO,
    LN_ONNX_ML_PROBIT,
} ln_onnx_ml_post;

/** LN_ONNX_ML_NONE by default; another word is a failure. */
ln_onnx_ml_post ln_onnx_ml_post_of(ln_onnx_node *n);

/** Input `i`, [N, C], or [C] as [1, C], in this type. Others are a failure; returns NULL then. */
const char *ln_onnx_ml_rows(ln_onnx_node *n, int i, tl_dtype dtype);

/** Scores [N, C] of a floating-point type, transformed row by row; output `i` of the node, or
 *  LN_EMIT_TEMP:
 *
 *      SOFTMAX       exp(x - m) / sum(exp(x - m)), m: the max of the row
 *      LOGISTIC      1 / (1 + exp(-x))
 *      SOFTMAX_ZERO  as SOFTMAX, but scores from -1e-7 to 1e-7 do not count in the sum, and become
 *                    x exp(-m) / sum; a row of zeros becomes NaN, as in ONNX Runtime
 *      PROBIT        TL_UNARY_PROBIT */
const char *ln_onnx_ml_emit_post(ln_onnx_node *n, ln_onnx_ml_post post, const char *scores, int i);

/** The scores [N, 1] of the second of two classes as [N, 2], a step: after 1 - x if is_complement,
 *  else after -x. */
const char *ln_onnx_ml_two_columns(ln_onnx_node *n, const char *score, int is_complement);

/** The index of the max of each row of [N, C], the first one: TL_INT64 [N], a step. */
const char *ln_onnx_ml_best(ln_onnx_node *n, const char *scores);

/** 1 where the score [N, 1] is greater than `threshold`, else 0: TL_INT64 [N], a step. */
const char *ln_onnx_ml_above(ln_onnx_node *n, const char *score, double threshold);

/** The labels of a classifier's classes. */
typedef struct ln_onnx_ml_labels {
    const char *strings; // the labels as a constant [len] of TL_STRING, or NULL
    const int64_t *ints; // the labels, borrowed, or NULL
    int len;
} ln_onnx_ml_labels;

/** The attribute that the node has, `ints` or `strings`. Neither or both are a failure. */
ln_onnx_ml_labels ln_onnx_ml_labels_of(ln_onnx_node *n, const char *ints, const char *strings);

/** The labels of these classes, indices TL_INT64 [N] below labels->len: output `i` of the node. */
void ln_onnx_ml_emit_labels(ln_onnx_node *n, const char *classes, const ln_onnx_ml_labels *labels,
                            int i);
