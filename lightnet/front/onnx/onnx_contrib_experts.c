// SPDX-License-Identifier: Apache-2.0
// MoE and QMoE of com.microsoft: a mixture of experts. A router selects k experts for each token,
// and the output is the sum of their outputs, each times its weight. The weights of QMoE's layers
// are integers of few bits, with a scale for each row, or for each block of a row.
//
// Source: ContribOperators.md of ONNX Runtime.

#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_steps.h"

enum { SRC, ROUTER };
enum { FC1, FC2, FC3, N_LAYERS };

// The inputs of a layer; 0: none.
typedef struct layer_inputs {
    const char *name;
    int weight, bias, scale, zero;
} layer_inputs;

typedef struct mixture_inputs {
    layer_inputs layers[N_LAYERS];
    int router_weights; // the weights of selected experts, not from ROUTER; 0: none
} mixture_inputs;

static const mixture_inputs inputs_of_floats = {{{"fc1", 2, 3}, {"fc2", 4, 5}, {"fc3", 6, 7}}};
static const mixture_inputs inputs_of_integers = {
    {{"fc1", 2, 4, 3, 11}, {"fc2", 5, 7, 6, 12}, {"fc3", 8, 10, 9, 13}}, 14};

// T tokens of hidden size `size`; `inner`: the intermediate size of an expert.
typedef struct mixture {
    const mixture_inputs *inputs;
    int bits, block; // of integers: a scale for each `block` columns, or 0: for each row
    int tokens, size, inner, experts, k;
    int fusion;       // of swiglu: 0: gate FC1, linear FC3; 1: interleaved in FC1; 2: halves of FC1
    int is_swiglu;    // otherwise `func`
    const char *func; // "": none
    const char *index; // [T * k] TL_INT64: the selected experts of each token
    tl_dtype dtype;
} mixture;

static int is_quantized(const mixture *m)
{
    return m->bits > 0;
}

// The input of weights of selected experts; NULL: none.
static const char *given_weights(ln_onnx_node *n, const mixture *m)
{
    return m->inputs->router_weights ? ln_onnx_optional(n, m->inputs->router_weights) : NULL;
}

static int has_layer(ln_onnx_node *n, const mixture *m, int l)
{
    return ln_onnx_has_input(n, m->inputs->layers[l].weight);
}

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
        ln_onnx_in(n, m->inputs->layers[FC3].weight);
}

static void read_quantization(ln_onnx_node *n, mixture *m)
{
    static const ln_attr_word words[] = {{"int"}, {0}};
    static const char *const of_floats[] = {"fc1_global_scale",    "fc2_global_scale",
                                            "fc1_act_scale",       "fc2_act_scale",
                                            "fc1_act_block_scale", "fc2_act_block_scale"};
    ln_attr_choose(&n->emit, "quant_type", "int", words);
    if (ln_attr_int_in(&n->emit, "weights_prepacked", -1, -1, 1) == 1)
        ln_onnx_refuse_attr(n, "weights_prepacked", 0);
    m->bits = ln_onnx_bits(n, "expert_weight_bits");
    m->block = ln_attr_int_in(&n->emit, "block_size", 0, 0, INT_MAX / 2);
    if (m->block & (m->block - 1) || (m->block && m->block < 16))
        ln_emit_fail(&n->emit, "'block_size' is %d, expected a power of 2, at least 16", m->block);
    for (int i = 0; i < (int)(sizeof(of_floats) / sizeof(of_floats[0])); i++)
        ln_onnx_refuse_input(n, m->inputs->router_weights + 1 + i, of_floats[i]);
}

// Tokens are rows of the source [T, H] or [B, S, H]; only the size of the last axis but one may be
// unknown.
static void read_shapes(ln_onnx_node *n, mixture *m)
{
    const char *const src = ln_onnx_in(n, SRC);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    const tl_tensor *const router = ln_onnx_tensor_of(n, ln_onnx_in(n, ROUTER));
    const int input = m->inputs->layers[FC2].weight, per_byte = is_quantized(m) ? 8 / m->bits : 1;
    const tl_tensor *const fc2 = ln_onnx_tensor_of(n, ln_onnx_in(n, input));
    if (!ln_onnx_failed(n) && t->ndim != 2 && t->ndim != 3)
        ln_emit_fail(&n->emit, "input 0 has %d dimensions, expected 2 or 3", t->ndim);
    if (!ln_onnx_failed(n) && fc2->ndim != 3)
        ln_emit_fail(&n->emit, "input %d, 'fc2_experts_weights', has %d dimensions, expected 3",
                     input, fc2->ndim);
    if (!ln_onnx_failed(n) && fc2->dims[2] > INT_MAX / 8)
        ln_emit_fail(&n->emit,
                     "input %d, 'fc2_experts_weights', has axis 2 of %d, expected at most %d",
                     input, fc2->dims[2], INT_MAX / 8);
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
    m->inner = fc2->dims[2] * per_byte;
}

// The node fails unless its input `i`, if it has it, is "LAYER_ROLE" of the shape, which has one
// dimension less if `cols` is negative.
static void want(ln_onnx_node *n, const mixture *m, int l, int i, const char *role, int rows,
                 int cols)
{
    char name[64];
    snprintf(name, sizeof(name), "%s_%s", m->inputs->layers[l].name, role);
    if (i && ln_onnx_has_input(n, i))
        ln_onnx_want_shape(n, i, name, cols < 0 ? 2 : 3, (int[]){m->experts, rows, cols});
}

static void want_type(ln_onnx_node *n, const mixture *m, int l, int i, const char *role)
{
    const char *const src = i ? ln_onnx_optional(n, i) : NULL;
    const tl_dtype dtype = ln_onnx_tensor_of(n, src)->dtype;
    if (src && dtype != TL_UINT8)
        ln_emit_fail(&n->emit, "input %d, '%s_%s', has type %s, expected TL_UINT8", i,
                     m->inputs->layers[l].name, role, tl_dtype_name(dtype));
}

static int ceil_div(int a, int b)
{
    return a / b + (a % b != 0);
}

// Integers of rows whose lengths are whole numbers of bytes, with scales of rows or blocks.
static void want_integers(ln_onnx_node *n, const mixture *m, int l, int rows, int cols)
{
    const layer_inputs *const in = &m->inputs->layers[l];
    const int per_byte = 8 / m->bits, blocks = m->block ? ceil_div(cols, m->block) : -1;
    ln_onnx_in(n, in->scale);
    want_type(n, m, l, in->weight, "experts_weights");
    want_type(n, m, l, in->zero, "zero_points");
    if (cols % per_byte != 0)
        ln_emit_fail(&n->emit,
                     "input %d, '%s_experts_weights', has rows of %d elements, expected a "
                     "multiple of %d",
                     in->weight, in->name, cols, per_byte);
    want(n, m, l, in->weight, "experts_weights", rows, cols / per_byte);
    want(n, m, l, in->scale, "scales", rows, blocks);
    want(n, m, l, in->zero, "zero_points", m->block ? rows : ceil_div(rows, per_byte),
         m->block ? ceil_div(blocks, per_byte) : -1);
    if ((double)m->experts * rows * (cols ? cols : 1) > INT_MAX)
        ln_emit_fail(&n->emit,
                     "input %d, '%s_experts_weights', has %.0f elements, expected at most %d",
                     in->weight, in->name, (double)m->experts * rows * cols, INT_MAX);
}

static void want_layer(ln_onnx_node *n, const mixture *m, int l, int rows, int cols)
{
    const layer_inputs *const in = &m->inputs->layers[l];
    ln_onnx_in(n, in->weight);
    if (is_quantized(m))
        want_integers(n, m, l, rows, cols);
    else
        want(n, m, l, in->weight, "experts_weights", rows, cols);
    want(n, m, l, in->bias, "experts_bias", rows, -1);
}

static void want_shapes(ln_onnx_node *n, const mixture *m)
{
    const int weights[] = {m->tokens, m->experts};
    ln_onnx_want_shape(n, ROUTER, "router_probs", 2, weights);
    if (given_weights(n, m))
        ln_onnx_want_shape(n, m->inputs->router_weights, "router_weights", 2, weights);
    want_layer(n, m, FC1, (m->fusion ? 2 : 1) * m->inner, m->size);
    want_layer(n, m, FC2, m->size, m->inner);
    if (!has_layer(n, m, FC3))
        return;
    want_layer(n, m, FC3, m->inner, m->size);
    if (m->fusion)
        ln_emit_fail(&n->emit,
                     "attribute 'swiglu_fusion' is %d, expected 0 with input %d, "
                     "'fc3_experts_weights'",
                     m->fusion, m->inputs->layers[FC3].weight);
}

// Steps

// The k largest elements of each row [T, k]; sets their indices.
static const char *select_best(ln_onnx_node *n, const mixture *m, const char *src,
                               const char **indices)
{
    LN_EMIT_BEGIN(&n->emit, LN_OP_TOPK, LN_ARG("src", src), LN_INT("k", m->k), LN_INT("axis", 1));
    const char *const values = ln_emit_out(&n->emit, "values", LN_EMIT_TEMP);
    *indices = ln_emit_end(&n->emit, "indices", LN_EMIT_TEMP);
    return values;
}

// The weights [T, k] of selected experts: probabilities, or elements of an input.
static const char *router_weights(ln_onnx_node *n, const mixture *m, const char **indices)
{
    const char *const logits =
        ln_emit_cast(&n->emit, ln_onnx_in(n, ROUTER), TL_FLOAT, LN_EMIT_TEMP);
    const char *const given = given_weights(n, m);
    if (!given)
        return select_best(n, m,
                           LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_SOFTMAX, LN_ARG("src", logits),
                                   LN_INT("axis", 1)),
                           indices);
    select_best(n, m, logits, indices);
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_TAKE_ALONG,
                   LN_ARG("src", ln_emit_cast(&n->emit, given, TL_FLOAT, LN_EMIT_TEMP)),
                   LN_ARG("index", *indices), LN_INT("axis", 1));
}

// Divided by their sums; weights of an input may all be 0, and stay so.
static const char *normalized(ln_onnx_node *n, const mixture *m, const char *weights)
{
    const char *sums =
        ln_emit_reduce(&n->emit, "TL_REDUCE_SUM", weights, 1, (int[]){1}, 1, LN_EMIT_TEMP);
    if (given_weights(n, m)) {
        const char *const zero = ln_emit_scalar(&n->emit, TL_FLOAT, 0);
        sums = ln_emit_where(&n->emit, ln_emit_compare(&n->emit, "TL_COMPARE_EQUAL", sums, zero),
                             ln_emit_scalar(&n->emit, TL_FLOAT, 1), sums, LN_EMIT_TEMP);
    }
    return ln_emit_binary(&n->emit, "TL_BINARY_DIV", weights, sums, LN_EMIT_TEMP);
}

// The weights [T, k, 1] of the experts that the router selects, and their indices.
static const char *select_experts(ln_onnx_node *n, mixture *m)
{
    const char *indices, *values = router_weights(n, m, &indices);
    if (ln_attr_bool(&n->emit, "normalize_routing_weights", 0))
        values = normalized(n, m, values);
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

// Integers [experts, rows, bytes] as floats [experts, rows, cols]. Without zero points, these are
// half of the range.
static const char *dequantize(ln_onnx_node *n, const mixture *m, const layer_inputs *in)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, ln_onnx_in(n, in->weight));
    const int experts = t->dims[0], rows = t->dims[1], all = experts * rows;
    const int cols = t->dims[2] * (8 / m->bits), blocks = m->block ? ceil_div(cols, m->block) : 1;
    const int each[] = {all, blocks}, ndim = m->block ? 2 : 1;
    const char *const bytes = ln_onnx_in(n, in->weight), *zeros = ln_onnx_optional(n, in->zero);
    const char *const elements = zeros ? ln_onnx_unpack_bits(n, m->bits, bytes, TL_UINT8, all, cols)
                                       : ln_onnx_unpack_around_half(n, m->bits, bytes, all, cols);
    if (zeros) // packed along rows, or along the blocks of each row
        zeros = ln_onnx_unpack_bits(n, m->bits, zeros, TL_UINT8, m->block ? all : experts,
                                    m->block ? blocks : rows);
    const char *const floats = LN_EMIT(
        &n->emit, LN_EMIT_TEMP, LN_OP_DEQUANTIZE, LN_ARG("src", elements),
        LN_ARG("scale",
               ln_emit_reshape(&n->emit, ln_onnx_in(n, in->scale), ndim, each, LN_EMIT_TEMP)),
        LN_ARG("zero", zeros ? ln_emit_reshape(&n->emit, zeros, ndim, each, LN_EMIT_TEMP) : NULL),
        LN_INT("axis", m->block ? 1 : 0), LN_INT("block", m->block));
    return ln_emit_reshape(&n->emit, ln_emit_cast(&n->emit, floats, m->dtype, LN_EMIT_TEMP), 3,
                           (int[]){experts, rows, cols}, LN_EMIT_TEMP);
}

// Layer `l` of each row's expert.
static const char *layer(ln_onnx_node *n, const mixture *m, const char *src, int l)
{
    const layer_inputs *const in = &m->inputs->layers[l];
    if (ln_onnx_failed(n))
        return src;
    const char *const weights = is_quantized(m) ? dequantize(n, m, in) : ln_onnx_in(n, in->weight);
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_MATMUL_BY, LN_ARG("src", src),
                   LN_ARG("index", m->index), LN_ARG("weight", weights),
                   LN_ARG("bias", ln_onnx_optional(n, in->bias)));
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
    const char *const third = has_layer(n, m, FC3) ? layer(n, m, rows, FC3) : NULL;
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

static void translate(ln_onnx_node *n, mixture *m)
{
    m->k = ln_attr_int_in(&n->emit, "k", 1, 1, INT_MAX);
    ln_onnx_refuse_attr(n, "use_sparse_mixer", 0);
    read_activation(n, m);
    read_shapes(n, m);
    if (ln_onnx_failed(n))
        return;
    want_shapes(n, m);
    if (m->k > m->experts)
        ln_emit_fail(&n->emit, "attribute 'k' is %d, expected at most %d, the number of experts",
                     m->k, m->experts);
    if (ln_onnx_failed(n))
        return;
    const char *const weights = select_experts(n, m);
    const char *const inner = hidden_layer(n, m, repeat_tokens(n, m));
    put_sum(n, m, layer(n, m, inner, FC2), weights);
}

static void translate_moe(ln_onnx_node *n)
{
    translate(n, &(mixture){.inputs = &inputs_of_floats});
}

static void translate_qmoe(ln_onnx_node *n)
{
    mixture m = {.inputs = &inputs_of_integers};
    read_quantization(n, &m);
    translate(n, &m);
}

const ln_onnx_row ln_onnx_rows_contrib_experts[] = {
    {"MoE", 1, translate_moe},
    {"QMoE", 1, translate_qmoe},
    {NULL},
};
