// SPDX-License-Identifier: Apache-2.0
// ONNX's recurrent networks: RNN, GRU, LSTM; and DynamicQuantizeLSTM of com.microsoft.
//
// Letters: D directions, T steps, B sequences, I input size, H hidden size, G gates. One matmul
// computes the contributions of the input for all steps; the operator `recurrent` does the rest.

#include <strings.h>

#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_steps.h"
#include "tensorlight/tl_recurrent.h"

// The tensors of a node, in LightNet's order and type.
typedef struct network {
    tl_cell cell;
    int is_batch_first;   // the layout of the node
    tl_dtype dtype, work; // of the node, and to compute in
    int directions, steps, rows, inputs, hidden, n_gates;
    int is_quantized; // DynamicQuantizeLSTM: weights are integers, with gates last
} network;

// Activations

const ln_onnx_activation ln_onnx_activations[] = {
    {"Affine", "TL_UNARY_AFFINE", 1, 1, 1, 0},
    {"Elu", "TL_UNARY_ELU", 1, 0, 1, 0},
    {"HardSigmoid", "TL_UNARY_HARDSIGMOID", 1, 1, 0.2, 0.5},
    {"LeakyRelu", "TL_UNARY_LRELU", 1, 0, 0.01, 0},
    {"Relu", "TL_UNARY_RELU", 0, 0, 0, 0},
    {"ScaledTanh", "TL_UNARY_SCALEDTANH", 1, 1, 1, 1},
    {"Sigmoid", "TL_UNARY_SIGMOID", 0, 0, 0, 0},
    {"Softplus", "TL_UNARY_SOFTPLUS", 0, 0, 0, 0},
    {"Softsign", "TL_UNARY_SOFTSIGN", 0, 0, 0, 0},
    {"Tanh", "TL_UNARY_TANH", 0, 0, 0, 0},
    {"ThresholdedRelu", "TL_UNARY_THRESHOLDEDRELU", 1, 0, 1, 0},
    {NULL},
};

static const ln_onnx_activation *find_activation(ln_onnx_node *n, const char *name)
{
    for (const ln_onnx_activation *a = ln_onnx_activations; name && a->name; a++)
        if (strcasecmp(a->name, name) == 0)
            return a;
    ln_emit_fail(&n->emit,
                 "activation '%s' is unknown, expected Affine, Elu, HardSigmoid, LeakyRelu, Relu, "
                 "ScaledTanh, Sigmoid, Softplus, Softsign, Tanh or ThresholdedRelu",
                 name ? name : "");
    return ln_onnx_activations;
}

enum { MAX_ACTS = TL_RECURRENT_DIRECTIONS * TL_RECURRENT_ACTS };

// The next of `values`, which only activations with such a parameter consume.
static double next(const float *values, int len, int *at, int has, double deflt)
{
    return has && *at < len ? (double)values[(*at)++] : deflt;
}

static void set_activations(ln_onnx_node *n, const network *net)
{
    static const char *const usual[TL_CELL_SIZE][TL_RECURRENT_ACTS] = {
        [TL_CELL_RNN] = {"Tanh"},
        [TL_CELL_GRU] = {"Sigmoid", "Tanh"},
        [TL_CELL_LSTM] = {"Sigmoid", "Tanh", "Tanh"}};
    const int n_acts = tl_cell_acts(net->cell), len = net->directions * n_acts;
    int n_alphas, n_betas, alpha_at = 0, beta_at = 0;
    const float *const alphas = ln_onnx_floats(n, "activation_alpha", &n_alphas);
    const float *const betas = ln_onnx_floats(n, "activation_beta", &n_betas);
    const char *funcs[MAX_ACTS];
    double alpha[MAX_ACTS], beta[MAX_ACTS];
    for (int k = 0; k < len; k++) {
        const char *const name = ln_attr_has(&n->emit, "activations")
                                     ? ln_onnx_string_at(n, "activations", k)
                                     : usual[net->cell][k % n_acts];
        const ln_onnx_activation *const act = find_activation(n, name);
        funcs[k] = act->func;
        alpha[k] = next(alphas, n_alphas, &alpha_at, act->has_alpha, act->alpha);
        beta[k] = next(betas, n_betas, &beta_at, act->has_beta, act->beta);
    }
    ln_emit_set(&n->emit, LN_TEXTS("acts", len, funcs));
    ln_emit_set(&n->emit, LN_NUMBERS("alpha", len, alpha));
    ln_emit_set(&n->emit, LN_NUMBERS("beta", len, beta));
}

// Shapes

// Input `i` has these dimensions.
static void check_dims(ln_onnx_node *n, int i, const char *name, const int *dims)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, ln_onnx_in(n, i));
    char text[TL_SHAPE_TEXT_SIZE], expected[TL_SHAPE_TEXT_SIZE];
    if (!ln_onnx_failed(n) && (t->ndim != 3 || memcmp(t->dims, dims, 3 * sizeof(*dims)) != 0))
        ln_emit_fail(&n->emit, "'%s' has shape %s, expected %s", name,
                     tl_shape_text(text, t->ndim, t->dims), tl_shape_text(expected, 3, dims));
}

// Input `i` has weights from `len` elements to the gates.
static void check_weights(ln_onnx_node *n, const network *net, int i, const char *name, int gates,
                          int len)
{
    check_dims(n, i, name,
               net->is_quantized ? (int[]){net->directions, len, gates}
                                 : (int[]){net->directions, gates, len});
}

// -1 after a failure.
static int find_shape(ln_onnx_node *n, network *net)
{
    const tl_tensor *const x = ln_onnx_tensor_of(n, ln_onnx_in(n, 0));
    const tl_tensor *const r = ln_onnx_tensor_of(n, ln_onnx_in(n, 2));
    if (!ln_onnx_failed(n) && (x->ndim != 3 || r->ndim != 3))
        ln_emit_fail(&n->emit, "'X' has %d dimensions and 'R' %d, expected 3", x->ndim, r->ndim);
    if (ln_onnx_failed(n))
        return -1;
    net->n_gates = tl_cell_gates(net->cell);
    net->is_batch_first = !net->is_quantized && ln_attr_bool(&n->emit, "layout", 0);
    net->dtype = x->dtype;
    net->work = tl_size_of(x->dtype) == 2 ? TL_FLOAT : x->dtype;
    net->directions =
        strcasecmp(ln_attr_text(&n->emit, "direction", "forward"), "bidirectional") == 0 ? 2 : 1;
    net->steps = x->dims[net->is_batch_first];
    net->rows = x->dims[!net->is_batch_first];
    net->inputs = x->dims[2];
    net->hidden = r->dims[net->is_quantized ? 1 : 2];
    const int64_t hidden = ln_attr_int(&n->emit, "hidden_size", net->hidden);
    if (hidden != net->hidden)
        ln_emit_fail(&n->emit, "attribute 'hidden_size' is %lld, expected that of 'R', %d",
                     (long long)hidden, net->hidden);
    if (net->hidden > INT32_MAX / 8)
        ln_emit_fail(&n->emit, "'R' has hidden size %d, expected at most %d", net->hidden,
                     INT32_MAX / 8);
    const int gates = ln_onnx_failed(n) ? 0 : net->n_gates * net->hidden;
    check_weights(n, net, 1, "W", gates, net->inputs);
    check_weights(n, net, 2, "R", gates, net->hidden);
    return ln_onnx_failed(n) ? -1 : 0;
}

// Tensors

// Input `i` in the type to compute in; NULL when it is left out.
static const char *input(ln_onnx_node *n, const network *net, int i)
{
    const char *const src = ln_onnx_optional(n, i);
    return src ? ln_emit_cast(&n->emit, src, net->work, LN_EMIT_TEMP) : NULL;
}

// X or a state, with its first two axes in LightNet's order.
static const char *sequences(ln_onnx_node *n, const network *net, int i)
{
    const char *const src = input(n, net, i);
    if (!src || !net->is_batch_first || ln_onnx_tensor_of(n, src)->ndim != 3)
        return src;
    return ln_emit_transpose(&n->emit, src, (int[]){1, 0, 2}, LN_EMIT_TEMP);
}

// Integers [D, L, G * H] of DynamicQuantizeLSTM as floats. The scales in input `scale`, and the
// zero points after them, are one for each direction, or one for each of its columns.
static const char *dequantized(ln_onnx_node *n, const network *net, int i, int scale)
{
    const char *const src = ln_onnx_in(n, i);
    const char *scales = ln_onnx_in(n, scale), *zeros = ln_onnx_optional(n, scale + 1);
    const int ndim = ln_onnx_tensor_of(n, scales)->ndim, len = ln_onnx_tensor_of(n, src)->dims[1];
    const int each[] = {net->directions, 1, net->n_gates * net->hidden};
    ln_onnx_want_shape(n, scale, "scale", ndim == 2 ? 2 : 1, (int[]){each[0], each[2]});
    if (zeros)
        ln_onnx_want_shape(n, scale + 1, "zero point", ndim == 2 ? 2 : 1,
                           (int[]){each[0], each[2]});
    const int is_by_column = ndim == 2 && len > 0;
    if (is_by_column && !ln_onnx_failed(n)) {
        scales = ln_emit_reshape(&n->emit, scales, 3, each, LN_EMIT_TEMP);
        zeros = zeros ? ln_emit_reshape(&n->emit, zeros, 3, each, LN_EMIT_TEMP) : NULL;
    }
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_DEQUANTIZE, LN_ARG("src", src),
                   LN_ARG("scale", scales), LN_ARG("zero", zeros), LN_INT("axis", is_by_column),
                   LN_INT("block", is_by_column ? len : 0));
}

// W as [D, I, G * H]. Constant weights are transposed once, when the model is loaded.
static const char *input_weights(ln_onnx_node *n, const network *net)
{
    if (net->is_quantized)
        return dequantized(n, net, 1, 8);
    return ln_emit_transpose(&n->emit, input(n, net, 1), (int[]){0, 2, 1}, LN_EMIT_TEMP);
}

// The contribution of the input to the gates: [1, T * B, I] x [D, I, G * H] as [D, T, B, G * H].
static const char *project(ln_onnx_node *n, const network *net)
{
    const char *const all = sequences(n, net, 0);
    ln_dim x_dims[3];
    ln_emit_dims(&n->emit, all, x_dims);
    const ln_dim lines[] = {ln_dim_constant(1), ln_emit_product(&n->emit, x_dims, 2), x_dims[2]};
    const char *const x = ln_emit_reshape_dims(&n->emit, all, 3, lines, LN_EMIT_TEMP);
    const char *const dst = LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_MATMUL, LN_ARG("src1", x),
                                    LN_ARG("src2", input_weights(n, net)));
    const ln_dim gates = ln_onnx_axis_size(n, dst, 2);
    const ln_dim dims[] = {ln_dim_constant(net->directions), x_dims[0], x_dims[1], gates};
    return ln_emit_reshape_dims(&n->emit, dst, 4, dims, LN_EMIT_TEMP);
}

// R [D, G * H, H], or with gates last [D, H, G * H], as [D, G, H, H], from the state to the gates.
static const char *recurrence(ln_onnx_node *n, const network *net)
{
    const char *const src = net->is_quantized ? dequantized(n, net, 2, 10) : input(n, net, 2);
    const ln_dim d = ln_dim_constant(net->directions), g = ln_dim_constant(net->n_gates);
    const ln_dim hidden = ln_onnx_axis_size(n, src, net->is_quantized ? 1 : 2);
    const ln_dim first[] = {d, g, hidden, hidden}, last[] = {d, hidden, g, hidden};
    const char *const gates =
        ln_emit_reshape_dims(&n->emit, src, 4, net->is_quantized ? last : first, LN_EMIT_TEMP);
    return ln_emit_transpose(&n->emit, gates,
                             net->is_quantized ? (int[]){0, 2, 1, 3} : (int[]){0, 1, 3, 2},
                             LN_EMIT_TEMP);
}

// Output `i` in the layout and the type of the node.
static void put_output(ln_onnx_node *n, const network *net, const char *src, int i)
{
    if (net->is_batch_first) {
        const int states[] = {1, 0, 2}, all[] = {2, 0, 1, 3};
        src = ln_emit_transpose(&n->emit, src, i == 0 ? all : states,
                                net->work == net->dtype ? i : LN_EMIT_TEMP);
    }
    if (net->work != net->dtype)
        ln_emit_cast(&n->emit, src, net->dtype, i);
}

// The outputs that the node has; the operator is in the program by then.
static void put_outputs(ln_onnx_node *n, const network *net)
{
    static const char *const names[] = {"dst", "last_h", "last_c"};
    const int is_final = !net->is_batch_first && net->work == net->dtype;
    const char *outs[3] = {NULL};
    int last = -1;
    for (int i = 0; i < 3; i++)
        if (ln_onnx_wants(n, i))
            last = i;
    for (int i = 0; i < last; i++)
        if (ln_onnx_wants(n, i))
            outs[i] = ln_emit_out(&n->emit, names[i], is_final ? i : LN_EMIT_TEMP);
    outs[last] = ln_emit_end(&n->emit, names[last], is_final ? last : LN_EMIT_TEMP);
    for (int i = 0; i < 3 && !is_final; i++)
        if (outs[i])
            put_output(n, net, outs[i], i);
}

// The node

static void set_directions(ln_onnx_node *n, const network *net)
{
    const char *const direction = ln_attr_text(&n->emit, "direction", "forward");
    const int is_reverse = strcasecmp(direction, "reverse") == 0;
    if (net->directions == 1 && !is_reverse && strcasecmp(direction, "forward") != 0)
        ln_emit_fail(&n->emit,
                     "attribute 'direction' is '%s', expected forward, reverse or bidirectional",
                     direction);
    ln_emit_set(&n->emit, LN_BOOLS("reverse", net->directions, (int[]){is_reverse, 1}));
}

static void emit_recurrent(ln_onnx_node *n, tl_cell cell, int is_quantized)
{
    network net = {.cell = cell, .is_quantized = is_quantized};
    if (!ln_onnx_num_outputs(n) || find_shape(n, &net))
        return;
    const char *const src = project(n, &net), *const states = recurrence(n, &net);
    const char *const bias = input(n, &net, 3), *const lens = ln_onnx_optional(n, 4);
    const char *const initial_h = sequences(n, &net, 5);
    const char *const initial_c = cell == TL_CELL_LSTM ? sequences(n, &net, 6) : NULL;
    const char *const peephole = cell == TL_CELL_LSTM ? input(n, &net, 7) : NULL;
    LN_EMIT_BEGIN(&n->emit, LN_OP_RECURRENT, LN_ARG("src", src), LN_ARG("recurrence", states),
                  LN_ARG("bias", bias), LN_ARG("lens", lens), LN_ARG("initial_h", initial_h),
                  LN_ARG("initial_c", initial_c), LN_ARG("peephole", peephole),
                  LN_TEXT("cell", tl_cell_name(cell)));
    set_directions(n, &net);
    set_activations(n, &net);
    ln_emit_set(&n->emit, LN_NUMBER("clip", ln_attr_number(&n->emit, "clip", 0)));
    ln_emit_set(&n->emit, LN_BOOL("reset_after", ln_attr_bool(&n->emit, "linear_before_reset", 0)));
    ln_emit_set(&n->emit, LN_BOOL("coupled", ln_attr_bool(&n->emit, "input_forget", 0)));
    put_outputs(n, &net);
}

static void translate_recurrent(ln_onnx_node *n)
{
    emit_recurrent(n, tl_cell_from_str(n->row->with), 0);
}

static void translate_quantized_lstm(ln_onnx_node *n)
{
    emit_recurrent(n, TL_CELL_LSTM, 1);
}

const ln_onnx_row ln_onnx_rows_recurrent[] = {
    {"GRU", 1, translate_recurrent, "TL_CELL_GRU"},
    {"LSTM", 1, translate_recurrent, "TL_CELL_LSTM"},
    {"RNN", 1, translate_recurrent, "TL_CELL_RNN"},
    {NULL},
};

const ln_onnx_row ln_onnx_rows_contrib_recurrent[] = {
    {"DynamicQuantizeLSTM", 1, translate_quantized_lstm},
    {NULL},
};
