// SPDX-License-Identifier: Apache-2.0
// ONNX losses.

#include "front/onnx/ln_onnx_rows.h"

static const ln_onnx_choice reductions[] = {
    {"none", "TL_LOSS_NONE", 0},
    {"sum", "TL_LOSS_SUM", 0},
    {"mean", "TL_LOSS_MEAN", 0},
    {0},
};

static void emit_nllloss(ln_onnx_node *n, const char *log_prob)
{
    ln_emit_begin(&n->emit, "nllloss");
    ln_emit_arg(&n->emit, "src", log_prob);
    ln_emit_arg(&n->emit, "target", ln_onnx_in(n, 1));
    ln_emit_arg(&n->emit, "weight", ln_onnx_optional(n, 2));
    ln_emit_set(&n->emit, LN_TEXT("reduction", ln_onnx_choose(n, "reduction", "mean", reductions)));
    if (ln_onnx_has_attr(n, "ignore_index")) {
        ln_emit_set(&n->emit, LN_BOOL("is_ignoring", 1));
        ln_emit_set(&n->emit, LN_INT("ignored", ln_onnx_int(n, "ignore_index", 0)));
    }
    ln_emit_end(&n->emit, "dst", 0);
}

static void translate_nll(ln_onnx_node *n)
{
    emit_nllloss(n, ln_onnx_in(n, 0));
}

static void translate_softmax_cross_entropy(ln_onnx_node *n)
{
    ln_emit_begin(&n->emit, "logsoftmax");
    ln_emit_arg(&n->emit, "src", ln_onnx_in(n, 0));
    ln_emit_set(&n->emit, LN_INT("axis", 1));
    emit_nllloss(n, ln_emit_end(&n->emit, "dst", ln_onnx_wants(n, 1) ? 1 : LN_EMIT_TEMP));
}

const ln_onnx_row ln_onnx_rows_loss[] = {
    {"NegativeLogLikelihoodLoss", 12, translate_nll},
    {"SoftmaxCrossEntropyLoss", 12, translate_softmax_cross_entropy},
    {NULL},
};
