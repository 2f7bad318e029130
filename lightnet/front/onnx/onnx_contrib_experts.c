// SPDX-License-Identifier: Apache-2.0
// MoE of com.microsoft: a mixture of experts. A router selects k experts for each token, and the
// output is the sum of their outputs, each times its weight.
//
// Source: ContribOperators.md of ONNX Runtime.

#include <limits.h>
#include <math.h>

#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_steps.h"

enum { SRC, ROUTER, FC1, FC1_BIAS, FC2, FC2_BIAS, FC3, FC3_BIAS };

// T tokens of hidden size `size`; `inner`: the intermediate size of an expert.
typedef struct mixture {
    int tokens, size, inner, experts, k;
    int fusion;       // of swiglu: 0: gate FC1, linear FC3; 1: interleaved in FC1; 2: halves of FC1
    int is_swiglu;    // otherwise `func`
    const char *func; // "": none
    const char *index; // [T * k] TL_INT64: the selected experts of each token
    tl_dtype dtype;
} mixture;

// Attributes and shapes

static void read_activation(ln_onnx_node *n, mixture *m)
{
    static const ln_attr_word words[] = {
        {"relu", "TL_UNARY_RELU"}, {"gelu", LN_ORT_FAST_GELU}, {"silu", "TL_UNARY_SWISH"},
        {"swiglu", "swiglu"},      {"identity", ""},           {0},
    };
    m->func = ln_attr_choose(&n->emit, "activation_type", "relu", words);
    m->is_swiglu = ln_streq(m->func, "swiglu");
    m->fusion = ln_attr_int_in(&n->emit, "swiglu_fusion", 0, 0, 2);
    if (!m->is_swiglu)
        m->fusion = 0;
    if (m->is_swiglu && !m->fusion)
        ln_onnx_in(n, FC3);
}

// Tokens are rows of the source [T, H] or [B, S, H]; only the size of the last axis but one may be
// unknown.
static void read_shapes(ln_onnx_node *n, mixture *m)
{
    const char *const src = ln_onnx_in(n, SRC);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    const tl_tensor *const router = ln_onnx_tensor_of(n, ln_onnx_in(n, ROUTER));
    const tl_tensor *const fc2 = ln_onnx_tensor_of(n, ln_onnx_in(n, FC2));
    if (!ln_onnx_failed(n) && t->ndim != 2 && t->ndim != 3)
        ln_emit_fail(&n->emit, "input 0 has %d dimensions, expected 2 or 3", t->ndim);
    if (!ln_onnx_failed(n) && (fc2->ndim != 3 || fc2->dims[2] > INT_MAX / 2))
        ln_emit_fail(&n->emit, "input %d, 'fc2_experts_weights', has %d dimensions, expected 3",
                     FC2, fc2->ndim);
    if (!ln_onnx_failed(n) && router->ndim != 2)
        ln_emit_fail(&n->emit, "input 1 has %d dimensions, expected 2", router->ndim);
    if (ln_onnx_failed(n))
        return;
    if (t->ndim == 3)
        ln_onnx_want_fixed_axis(n, src, 0);
    ln_onnx_want_fixed_axis(n, src, t->ndim - 1);
    m->dtype = t->dtype;
    m->size = t->dims[t->ndim - 1];
    m->tokens = m->size ? t->len / m->size : 0;
    m->experts = fc2->dims[0];
    m->inner = fc2->dims[2];
}

static void want_weights(ln_onnx_node *n, const mixture *m, int i, const char *name, int rows,
                         int cols)
{
    ln_onnx_want_shape(n, i, name, 3, (int[]){m->experts, rows, cols});
    if (ln_onnx_has_input(n, i + 1))
        ln_onnx_want_shape(n, i + 1, "bias", 2, (int[]){m->experts, rows});
}

static void want_shapes(ln_onnx_node *n, const mixture *m)
{
    ln_onnx_want_shape(n, ROUTER, "router_probs", 2, (int[]){m->tokens, m->experts});
    want_weights(n, m, FC1, "fc1_experts_weights", (m->fusion ? 2 : 1) * m->inner, m->size);
    want_weights(n, m, FC2, "fc2_experts_weights", m->size, m->inner);
    if (ln_onnx_has_input(n, FC3))
        want_weights(n, m, FC3, "fc3_experts_weights", m->inner, m->size);
    if (m->fusion && ln_onnx_has_input(n, FC3))
        ln_emit_fail(&n->emit,
                     "attribute 'swiglu_fusion' is %d, expected 0 with input %d, "
                     "'fc3_experts_weights'",
                     m->fusion, FC3);
}

// Steps

// The weights [T, k, 1] of the experts that the router selects, and their indices.
static const char *select_experts(ln_onnx_node *n, mixture *m)
{
    const char *const logits =
        ln_emit_cast(&n->emit, ln_onnx_in(n, ROUTER), TL_FLOAT, LN_EMIT_TEMP);
    const char *const probabilities =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_SOFTMAX, LN_ARG("src", logits), LN_INT("axis", 1));
    LN_EMIT_BEGIN(&n->emit, LN_OP_TOPK, LN_ARG("src", probabilities), LN_INT("k", m->k),
                  LN_INT("axis", 1));
    const char *values = ln_emit_out(&n->emit, "values", LN_EMIT_TEMP);
    const char *const indices = ln_emit_end(&n->emit, "indices", LN_EMIT_TEMP);
    if (ln_attr_bool(&n->emit, "normalize_routing_weights", 0))
        values = ln_emit_binary(
            &n->emit, "TL_BINARY_DIV", values,
            ln_emit_reduce(&n->emit, "TL_REDUCE_SUM", values, 1, (int[]){1}, 1, LN_EMIT_TEMP),
            LN_EMIT_TEMP);
    m->index = ln_emit_view(&n->emit, indices, 1, (int[]){-1}, LN_EMIT_TEMP);
    return ln_onnx_with_axes(n, ln_emit_cast(&n->emit, values, m->dtype, LN_EMIT_TEMP), 1,
                             (int[]){2});
}

// The rows of each token, once for each of its experts: [T * k, size].
static const char *repeat_tokens(ln_onnx_node *n, const mixture *m)
{
    const char *const rows =
        ln_emit_view(&n->emit, ln_onnx_in(n, SRC), 2, (int[]){-1, m->size}, LN_EMIT_TEMP);
    if (m->k == 1)
        return rows;
    const char *const same = ln_emit_filled(&n->emit, TL_INT64, 1, &m->k, 0);
    const char *const all = LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_TAKE,
                                    LN_ARG("src", ln_onnx_with_axes(n, rows, 1, (int[]){1})),
                                    LN_ARG("index", same), LN_INT("axis", 1));
    return ln_emit_view(&n->emit, all, 2, (int[]){-1, m->size}, LN_EMIT_TEMP);
}

// The layer of each row's expert: weights in input `i`, optional bias in the next one.
static const char *layer(ln_onnx_node *n, const mixture *m, const char *src, int i)
{
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_MATMUL_BY, LN_ARG("src", src),
                   LN_ARG("index", m->index), LN_ARG("weight", ln_onnx_in(n, i)),
                   LN_ARG("bias", ln_onnx_optional(n, i + 1)));
}

// Part 0 (gate) or 1 (linear), [R, inner], of a fused layer.
static const char *part_of(ln_onnx_node *n, const mixture *m, const char *src, int part)
{
    if (m->fusion == 2)
        return ln_onnx_slice(n, src, 1, part * m->inner, m->inner);
    const char *const pairs =
        ln_emit_view(&n->emit, src, 3, (int[]){-2, m->inner, 2}, LN_EMIT_TEMP);
    const char *const one = ln_onnx_slice(n, pairs, 2, part, 1);
    return ln_emit_view(&n->emit, one, 2, (int[]){-2, m->inner}, LN_EMIT_TEMP);
}

static const char *clip(ln_onnx_node *n, const char *src, double min, double max)
{
    return isfinite(max)
               ? ln_emit_unary_with(&n->emit, "TL_UNARY_CLIP", src, min, max, LN_EMIT_TEMP)
               : src;
}

// g sigmoid(alpha g) (l + beta), of clipped g (gate) and l (linear).
static const char *swiglu(ln_onnx_node *n, const char *g, const char *l)
{
    const double alpha = ln_attr_number(&n->emit, "activation_alpha", 1);
    const double beta = ln_attr_number(&n->emit, "activation_beta", 0);
    const double limit = ln_attr_number(&n->emit, "swiglu_limit", INFINITY);
    const char *const gate = ln_emit_unary_with(
        &n->emit, "TL_UNARY_SWISH", clip(n, g, -INFINITY, limit), alpha, 0, LN_EMIT_TEMP);
    const char *linear = clip(n, l, -limit, limit);
    if (beta != 0)
        linear = ln_emit_unary_with(&n->emit, "TL_UNARY_AFFINE", linear, 1, beta, LN_EMIT_TEMP);
    return ln_emit_binary(&n->emit, "TL_BINARY_MUL", gate, linear, LN_EMIT_TEMP);
}

// The activated first layer of the experts, [R, inner].
static const char *hidden_layer(ln_onnx_node *n, const mixture *m, const char *rows)
{
    const char *const first = layer(n, m, rows, FC1);
    if (m->fusion)
        return swiglu(n, part_of(n, m, first, 0), part_of(n, m, first, 1));
    const char *const third = ln_onnx_has_input(n, FC3) ? layer(n, m, rows, FC3) : NULL;
    if (m->is_swiglu)
        return swiglu(n, first, third);
    const char *const act =
        *m->func ? ln_emit_unary_with(&n->emit, m->func, first, 1, 0, LN_EMIT_TEMP) : first;
    return third ? ln_emit_binary(&n->emit, "TL_BINARY_MUL", act, third, LN_EMIT_TEMP) : act;
}

// The sum over the experts of each token, in the shape of the source.
static void put_sum(ln_onnx_node *n, const mixture *m, const char *rows, const char *weights)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, ln_onnx_in(n, SRC));
    const int is_flat = t->ndim == 2, batch = t->dims[0];
    const char *const by_token =
        ln_emit_view(&n->emit, rows, 3, (int[]){-1, m->k, m->size}, LN_EMIT_TEMP);
    const char *const weighted =
        ln_emit_binary(&n->emit, "TL_BINARY_MUL", by_token, weights, LN_EMIT_TEMP);
    const char *const sum = ln_emit_reduce(&n->emit, "TL_REDUCE_SUM", weighted, 1, (int[]){1}, 0,
                                           is_flat ? 0 : LN_EMIT_TEMP);
    if (!is_flat)
        ln_emit_view(&n->emit, sum, 3, (int[]){batch, -1, m->size}, 0);
}

static void translate_moe(ln_onnx_node *n)
{
    mixture m = {.k = ln_attr_int_in(&n->emit, "k", 1, 1, INT_MAX)};
    ln_onnx_refuse_attr(n, "use_sparse_mixer", 0);
    read_activation(n, &m);
    read_shapes(n, &m);
    if (ln_onnx_failed(n))
        return;
    want_shapes(n, &m);
    if (m.k > m.experts)
        ln_emit_fail(&n->emit, "attribute 'k' is %d, expected at most %d, the number of experts",
                     m.k, m.experts);
    if (ln_onnx_failed(n))
        return;
    const char *const weights = select_experts(n, &m);
    const char *const inner = hidden_layer(n, &m, repeat_tokens(n, &m));
    put_sum(n, &m, layer(n, &m, inner, FC2), weights);
}

const ln_onnx_row ln_onnx_rows_contrib_experts[] = {
    {"MoE", 1, translate_moe},
    {NULL},
};
