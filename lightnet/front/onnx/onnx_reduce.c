// SPDX-License-Identifier: Apache-2.0
// ONNX operators that reduce axes: reductions, TopK, and losses.

#include "front/onnx/ln_onnx.h"

// Reductions

// No axes mean all, unless the node has `noop_with_empty_axes`.
static void emit_reduce(ln_onnx_node *n, const int64_t *given, int len)
{
    const char *const src = ln_onnx_in(n, 0);
    const int ndim = ln_onnx_tensor_of(n, src)->ndim;
    const int is_all = len == 0 && !ln_attr_bool(&n->emit, "noop_with_empty_axes", 0);
    int axes[TL_MAXDIM], n_axes = 0, is_reduced[TL_MAXDIM] = {0};
    for (int i = 0; i < len; i++)
        is_reduced[ln_attr_to_axis(&n->emit, given[i], ndim)] = 1;
    for (int i = 0; i < ndim; i++)
        if (is_all || is_reduced[i])
            axes[n_axes++] = i;
    ln_emit_reduce(&n->emit, n->row->with, src, n_axes, axes, ln_attr_bool(&n->emit, "keepdims", 1),
                   0);
}

// The axes are an attribute, in ReduceSum since 13 and in the others since 18 an input.
static void translate_reduce(ln_onnx_node *n)
{
    int len;
    const int64_t *const axes = ln_attr_has(&n->emit, "axes") ? ln_attr_ints(&n->emit, "axes", &len)
                                                              : ln_onnx_ints_in(n, 1, &len);
    emit_reduce(n, axes, len);
}

// TopK, losses

static void translate_topk(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    const int axis = ln_attr_axis(&n->emit, "axis", -1, t->ndim);
    if (n->opset < 10)
        ln_attr_require(&n->emit, "k");
    ln_attr_bool(&n->emit, "sorted", 1); // without it any order will do, also the sorted one
    if (ln_onnx_failed(n))
        return;
    const char *const k_now = n->opset < 10 ? NULL : ln_onnx_runtime_input(n, 1);
    const int64_t k = k_now           ? t->dims[axis]
                      : n->opset < 10 ? ln_attr_int(&n->emit, "k", 1)
                                      : ln_onnx_required_int(n, 1);
    LN_EMIT_BEGIN(&n->emit, LN_OP_TOPK, LN_ARG("src", src), LN_ARG("k_now", k_now), LN_INT("k", k),
                  LN_INT("axis", axis),
                  LN_BOOL("is_smallest", !ln_attr_bool(&n->emit, "largest", 1)));
    ln_emit_out(&n->emit, "values", ln_onnx_wants(n, 0) ? 0 : LN_EMIT_TEMP);
    ln_emit_end(&n->emit, "indices", ln_onnx_wants(n, 1) ? 1 : LN_EMIT_TEMP);
}

static void emit_nllloss(ln_onnx_node *n, const char *log_prob)
{
    const int ignores = ln_attr_has(&n->emit, "ignore_index");
    LN_ONNX_FORM_OF(
        n, "NegativeLogLikelihoodLoss", 0, LN_ARG("src", log_prob),
        LN_ONLY_IF(ignores, LN_BOOL("is_ignoring", 1)),
        LN_ONLY_IF(ignores, LN_INT("ignored", ln_attr_int(&n->emit, "ignore_index", 0))));
}

static void translate_nll(ln_onnx_node *n)
{
    emit_nllloss(n, ln_onnx_in(n, 0));
}

static void translate_softmax_cross_entropy(ln_onnx_node *n)
{
    const int i = ln_onnx_wants(n, 1) ? 1 : LN_EMIT_TEMP;
    emit_nllloss(n, LN_EMIT(&n->emit, i, LN_OP_LOGSOFTMAX, LN_ARG("src", ln_onnx_in(n, 0)),
                            LN_INT("axis", 1)));
}

const ln_onnx_row ln_onnx_rows_reduce[] = {
    {"ReduceL1", 1, translate_reduce, "TL_REDUCE_L1"},
    {"ReduceL2", 1, translate_reduce, "TL_REDUCE_L2"},
    {"ReduceLogSum", 1, translate_reduce, "TL_REDUCE_LOG_SUM"},
    {"ReduceLogSumExp", 1, translate_reduce, "TL_REDUCE_LOG_SUM_EXP"},
    {"ReduceMax", 1, translate_reduce, "TL_REDUCE_MAX"},
    {"ReduceMean", 1, translate_reduce, "TL_REDUCE_MEAN"},
    {"ReduceMin", 1, translate_reduce, "TL_REDUCE_MIN"},
    {"ReduceProd", 1, translate_reduce, "TL_REDUCE_PROD"},
    {"ReduceSum", 1, translate_reduce, "TL_REDUCE_SUM"},
    {"ReduceSumSquare", 1, translate_reduce, "TL_REDUCE_SUM_SQUARE"},
    {"TopK", 1, translate_topk},
    {"TopK", 10, translate_topk},
    {"NegativeLogLikelihoodLoss", 12, translate_nll},
    {"SoftmaxCrossEntropyLoss", 12, translate_softmax_cross_entropy},
    {NULL},
};
