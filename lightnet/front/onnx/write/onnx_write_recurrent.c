// SPDX-License-Identifier: Apache-2.0
// Writing recurrent networks.
//
// ONNX nodes multiply by the input weights; in LightNet that is a separate operator, which the
// writer finds. Otherwise the weights are the identity.

#include <string.h>

#include "front/onnx/ln_onnx_steps.h"
#include "front/onnx/write/ln_onnx_write.h"
#include "tensorlight/tl_recurrent.h"

// D directions, T steps, batch B, hidden size H, G gates.
typedef struct network {
    tl_cell cell;
    int directions, steps, batch, gates, hidden;
    const char *x, *weights;
} network;

static network read_network(ln_onnx_op *n)
{
    const int *const dims = ln_onnx_op_tensor(n, "src")->dims;
    network net = {.cell = tl_cell_from_str(ln_op_string(n->op, "cell")),
                   .directions = dims[0],
                   .steps = dims[1],
                   .batch = dims[2],
                   .hidden = ln_onnx_op_tensor(n, "recurrence")->dims[3]};
    net.gates = tl_cell_gates(net.cell);
    return net;
}

// The input

static const ln_op *producer(const ln_onnx_op *n, const ln_op *op, const char *arg)
{
    const char *const tensor = ln_op_input_name(op, arg);
    return tensor ? ln_context_creater(n->level->ctx, tensor) : NULL;
}

// The MatMul [1, T * B, I] x [D, I, G * H] that src is a view of; NULL: another producer.
static const ln_op *find_product(const ln_onnx_op *n, const network *net)
{
    const ln_op *const view = producer(n, n->op, "src");
    const int is_view = ln_op_is(view, LN_OP_RESHAPE) || ln_op_is(view, LN_OP_VIEW);
    const ln_op *const op = is_view ? producer(n, view, "src") : NULL;
    if (!ln_op_is(op, LN_OP_MATMUL) || ln_op_num_in(op) != 2 ||
        !ln_op_has_bool(op, "trans1", LN_FALSE) || !ln_op_has_bool(op, "trans2", LN_FALSE) ||
        !ln_op_has_number(op, "alpha", 1))
        return NULL;
    const tl_tensor *const x = ln_op_input(op, "src1")->tensor;
    const tl_tensor *const w = ln_op_input(op, "src2")->tensor;
    const int fits = x->ndim == 3 && w->ndim == 3 && x->dims[0] == 1 &&
                     (int64_t)x->dims[1] == (int64_t)net->steps * net->batch &&
                     w->dims[0] == net->directions && w->dims[2] == net->gates * net->hidden;
    return fits ? op : NULL;
}

static void use_product(ln_onnx_op *n, network *net, const ln_op *product)
{
    static const int axes[] = {0, 2, 1};
    const tl_tensor *const x = ln_op_input(product, "src1")->tensor;
    const char *const input = ln_onnx_op_value(n, ln_op_input_name(product, "src1"));
    const char *const weights = ln_onnx_op_value(n, ln_op_input_name(product, "src2"));
    net->x = ln_onnx_put_reshape(n, input, 3, (int[]){net->steps, net->batch, x->dims[2]});
    net->weights = ln_onnx_put_transpose(n, weights, 3, axes);
}

// A matrix that selects the gates of a direction from those of all.
static const char *identity(ln_onnx_op *n, const network *net, int direction)
{
    const int gates = net->gates * net->hidden, dims[] = {gates, net->directions * gates};
    const char *const like = ln_onnx_put_filled(n, ln_onnx_op_tensor(n, "src")->dtype, 2, dims, 0);
    const char *const matrix =
        LN_ONNX_PUT(n, "EyeLike", LN_ONNX_SRC(like), LN_INT("k", direction * gates));
    return ln_onnx_put_pair(n, "Unsqueeze", matrix, ln_onnx_put_int(n, 0));
}

// Writes `src` as the input, with identity matrices as its weights.
static void use_gates(ln_onnx_op *n, network *net)
{
    static const int axes[] = {1, 2, 0, 3};
    const int gates = net->gates * net->hidden;
    const int dims[] = {net->steps, net->batch, net->directions * gates};
    const char *const src = ln_onnx_put_transpose(n, ln_onnx_op_in(n, "src"), 4, axes);
    net->x = ln_onnx_put_reshape(n, src, 3, dims);
    net->weights = identity(n, net, 0);
    if (net->directions == 2)
        net->weights = LN_ONNX_PUT(n, "Concat", LN_ONNX_SRC(net->weights),
                                   LN_ONNX_SRC(identity(n, net, 1)), LN_INT("axis", 0));
}

// The recurrence weights: [D, G, H, H] as [D, G * H, H], transposed to (gate, state).
static const char *recurrence(ln_onnx_op *n, const network *net)
{
    static const int axes[] = {0, 1, 3, 2};
    const int dims[] = {net->directions, net->gates * net->hidden, net->hidden};
    return ln_onnx_put_reshape(n, ln_onnx_put_transpose(n, ln_onnx_op_in(n, "recurrence"), 4, axes),
                               3, dims);
}

// Attributes

static const ln_onnx_activation *find_activation(ln_onnx_op *n, const char *func)
{
    for (const ln_onnx_activation *a = ln_onnx_activations; a->name; a++)
        if (!strcmp(a->func, func))
            return a;
    ln_onnx_op_reject(n, "parameter 'acts' has %s, which ONNX lacks", func);
    return ln_onnx_activations;
}

enum { MAX_ACTS = TL_RECURRENT_DIRECTIONS * TL_RECURRENT_ACTS };

static void set_activations(ln_onnx_op *n, const network *net)
{
    const ln_param_entry *const acts = ln_op_param(n->op, "acts");
    const ln_param_entry *const alpha = ln_op_param(n->op, "alpha");
    const ln_param_entry *const beta = ln_op_param(n->op, "beta");
    const int len = net->directions * tl_cell_acts(net->cell);
    const char *names[MAX_ACTS];
    double alphas[MAX_ACTS], betas[MAX_ACTS];
    int n_alphas = 0, n_betas = 0;
    for (int i = 0; i < len; i++) {
        const ln_onnx_activation *const a = find_activation(n, acts->value_array_string[i]);
        names[i] = a->name;
        if (a->has_alpha)
            alphas[n_alphas++] = alpha->value_array_double[i];
        if (a->has_beta)
            betas[n_betas++] = beta->value_array_double[i];
    }
    ln_onnx_put_set(n, LN_TEXTS("activations", len, names));
    if (n_alphas)
        ln_onnx_put_set(n, LN_NUMBERS("activation_alpha", n_alphas, alphas));
    if (n_betas)
        ln_onnx_put_set(n, LN_NUMBERS("activation_beta", n_betas, betas));
}

static void set_direction(ln_onnx_op *n, const network *net)
{
    const ln_bool *const reverse = ln_op_param(n->op, "reverse")->value_array_bool;
    if (net->directions == 2 && (reverse[0] || !reverse[1]))
        ln_onnx_op_reject(n, "parameter 'reverse' has two directions, expected [false, true]");
    ln_onnx_put_set(n, LN_TEXT("direction", net->directions == 2 ? "bidirectional"
                                            : reverse[0]         ? "reverse"
                                                                 : "forward"));
}

static void set_flags(ln_onnx_op *n, const network *net)
{
    const double clip = ln_op_number(n->op, "clip");
    ln_onnx_put_set(n, LN_INT("hidden_size", net->hidden));
    if (clip > 0)
        ln_onnx_put_set(n, LN_NUMBER("clip", clip));
    if (net->cell == TL_CELL_GRU)
        ln_onnx_put_set(n, LN_INT("linear_before_reset", ln_op_bool(n->op, "reset_after")));
    if (net->cell == TL_CELL_LSTM)
        ln_onnx_put_set(n, LN_INT("input_forget", ln_op_bool(n->op, "coupled")));
}

static void write_recurrent(ln_onnx_op *n)
{
    static const char *const op_types[] = {
        [TL_CELL_RNN] = "RNN", [TL_CELL_GRU] = "GRU", [TL_CELL_LSTM] = "LSTM"};
    static const char *const states[] = {"bias", "lens", "initial_h", "initial_c", "peephole"};
    static const char *const results[] = {"dst", "last_h", "last_c"};
    network net = read_network(n);
    const ln_op *const product = find_product(n, &net);
    const char *srcs[8], *outs[3];
    if (ln_onnx_op_is_dynamic(n, "src"))
        ln_onnx_op_reject(n, "the size of 'src' is known only at run time");
    if (product)
        use_product(n, &net, product);
    else
        use_gates(n, &net);
    srcs[0] = net.x;
    srcs[1] = net.weights;
    srcs[2] = recurrence(n, &net);
    for (int i = 0; i < 5; i++)
        srcs[3 + i] = ln_onnx_op_optional(n, states[i]);
    for (int i = 0; i < 3; i++)
        outs[i] = ln_onnx_op_out(n, results[i]);
    ln_onnx_put_begin(n, op_types[net.cell]);
    ln_onnx_put_set(n, LN_ONNX_SRCS(8, srcs));
    set_direction(n, &net);
    set_activations(n, &net);
    set_flags(n, &net);
    ln_onnx_put_end(n, 3, outs);
}

const ln_onnx_op_row ln_onnx_write_rows_recurrent[] = {
    {LN_OP_RECURRENT, write_recurrent},
    {NULL},
};
