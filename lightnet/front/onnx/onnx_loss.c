// SPDX-License-Identifier: Apache-2.0
// ONNX losses.

#include "front/onnx/ln_onnx_rows.h"

static const char *reduction_of(ln_onnx_node *n)
{
    static const char *const names[][2] = {
        {"none", "TL_LOSS_NONE"}, {"sum", "TL_LOSS_SUM"}, {"mean", "TL_LOSS_MEAN"}};
    const char *const name = ln_onnx_string(n, "reduction", "mean");
    for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
        if (ln_streq(name, names[i][0]))
            return names[i][1];
    ln_onnx_fail(n, "attribute 'reduction' is '%s', expected none, sum or mean", name ? name : "");
    return names[0][1];
}

static void emit_nllloss(ln_onnx_node *n, const char *log_prob)
{
    ln_onnx_begin(n, "nllloss");
    ln_onnx_arg(n, "src", log_prob);
    ln_onnx_arg(n, "target", ln_onnx_in(n, 1));
    ln_onnx_arg(n, "weight", ln_onnx_optional(n, 2));
    ln_onnx_set_string(n, "reduction", reduction_of(n));
    if (ln_onnx_has_attr(n, "ignore_index")) {
        ln_onnx_set_bool(n, "is_ignoring", 1);
        ln_onnx_set_int(n, "ignored", ln_onnx_int(n, "ignore_index", 0));
    }
    ln_onnx_end(n, "dst", 0);
}

static void translate_nll(ln_onnx_node *n)
{
    emit_nllloss(n, ln_onnx_in(n, 0));
}

static void translate_softmax_cross_entropy(ln_onnx_node *n)
{
    ln_onnx_begin(n, "logsoftmax");
    ln_onnx_arg(n, "src", ln_onnx_in(n, 0));
    ln_onnx_set_int(n, "axis", 1);
    emit_nllloss(n, ln_onnx_end(n, "dst", ln_onnx_wants(n, 1) ? 1 : LN_ONNX_TEMP));
}

const ln_onnx_row ln_onnx_rows_loss[] = {
    {"NegativeLogLikelihoodLoss", 12, translate_nll},
    {"SoftmaxCrossEntropyLoss", 12, translate_softmax_cross_entropy},
    {NULL},
};
