// SPDX-License-Identifier: Apache-2.0
// Writing operators with bodies: each body is a graph within the node, which sees the values around
// it.

#include <limits.h>
#include <string.h>

#include "front/onnx/ln_onnx_model.h"
#include "front/onnx/write/ln_onnx_write.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_from_file.h"
#include "lightnet/ln_body.h"
#include "lightnet/ln_hash.h"

// A subgraph under construction.
typedef struct graph {
    ln_onnx_level level;
    ln_onnx_op at; // the operator, for nodes in the graph
    ln_onnx_list inputs;
    const ln_list *names; // the body's inputs that are not bound yet
} graph;

static const ln_context *find_body(ln_onnx_op *n, const char *param)
{
    const char *const name = ln_op_string(n->op, param);
    const ln_context *const ctx = n->writer->base.ctx;
    const ln_context *const body = ctx->body_names ? ln_hash_find(ctx->body_names, name) : NULL;
    if (!body)
        ln_onnx_op_reject(n, "parameter '%s' is '%.256s', expected a body", param, name);
    return body;
}

// 0: rejected, or after a failure; call end_graph in any case.
static int begin_graph(ln_onnx_op *n, graph *g, const ln_context *body)
{
    *g = (graph){.at = *n, .names = body->inputs};
    ln_onnx_level_init(n->writer, &g->level, n->level, body);
    g->at.level = &g->level;
    if (n->writer->depth++ >= LN_ONNX_MAX_DEPTH)
        ln_onnx_op_reject(n, "nested bodies, expected at most %d levels", LN_ONNX_MAX_DEPTH);
    return !ln_onnx_op_failed(n) && !n->is_rejected;
}

// Binds the body's next input to a value.
static void bind_input(graph *g, const char *value)
{
    if (!g->names)
        return;
    ln_onnx_level_set(g->at.writer, &g->level, g->names->data, value);
    g->names = g->names->next;
}

// An input of the graph, of this type and shape, with a new name.
static const char *add_input(graph *g, const char *what, const tl_tensor *like)
{
    const char *const name = ln_onnx_put_name(&g->at, what);
    ln_onnx_list_add(g->at.writer, &g->inputs, ln_onnx_put_info(g->at.writer, name, like, NULL));
    return name;
}

// The value of an output. Values from outside of the graph must pass through a node of it.
static const char *own_value(graph *g, const char *tensor)
{
    const char *const value = ln_onnx_op_value(&g->at, tensor);
    const ln_op *const op = ln_context_creater(g->level.ctx, tensor);
    const int is_own = op && !ln_produces_inputs(op->op_arg->optype) && !ln_is_placeholder(op);
    return is_own ? value : ln_onnx_put(&g->at, "Identity", value);
}

// The open sizes of outputs may differ in each run.
static void add_output(graph *g, const char *tensor)
{
    static const char *const open[LN_MAXDIM] = {"", "", "", "", "", "", "", ""};
    const ln_tensor_entry *const te = ln_tensor_table_find(g->level.ctx->tensor_table, tensor);
    const char *const value = own_value(g, tensor);
    if (!te || ln_onnx_op_failed(&g->at))
        return;
    for (size_t i = 0; i < g->level.outputs.len; i++)
        if (!strcmp(((LnOnnx__ValueInfo *)g->level.outputs.items[i])->name, value)) {
            ln_onnx_list_add(g->at.writer, &g->level.outputs,
                             ln_onnx_put_info(g->at.writer, ln_onnx_put(&g->at, "Identity", value),
                                              te->tensor, te->isdynamic ? open : NULL));
            return;
        }
    ln_onnx_list_add(
        g->at.writer, &g->level.outputs,
        ln_onnx_put_info(g->at.writer, value, te->tensor, te->isdynamic ? open : NULL));
}

static void write_body(graph *g)
{
    if (!g->at.is_rejected)
        ln_onnx_write_level(g->at.writer, &g->level);
    LN_FOREACH (const char *, name, g->level.ctx->outputs)
        add_output(g, name);
}

// NULL after a failure.
static LnOnnx__Graph *end_graph(ln_onnx_op *n, graph *g)
{
    LnOnnx__Graph *const message = ln_translation_alloc(&n->writer->base, sizeof(*message));
    const ln_onnx_list infos = ln_onnx_level_infos(n->writer, &g->level);
    if (message) {
        ln_onnx__graph__init(message);
        message->name = (char *)ln_body_name(g->level.ctx);
        message->node = (LnOnnx__Node **)g->level.nodes.items;
        message->n_node = g->level.nodes.len;
        message->value_info = (LnOnnx__ValueInfo **)infos.items;
        message->n_value_info = infos.len;
        message->input = (LnOnnx__ValueInfo **)g->inputs.items;
        message->n_input = g->inputs.len;
        message->output = (LnOnnx__ValueInfo **)g->level.outputs.items;
        message->n_output = g->level.outputs.len;
    }
    n->writer->depth--;
    ln_onnx_level_clear(&g->level);
    return message;
}

// Branches

static LnOnnx__Graph *branch_graph(ln_onnx_op *n, const char *param)
{
    const ln_context *const body = find_body(n, param);
    const int len = ln_onnx_op_num_in(n, "src");
    graph g;
    if (!body)
        return NULL;
    if (begin_graph(n, &g, body)) {
        for (int i = 0; i < len; i++)
            bind_input(&g, ln_onnx_op_in_at(n, "src", i));
        write_body(&g);
    }
    return end_graph(n, &g);
}

// Names of the outputs arg0, arg1, ..
static const char **out_names(ln_onnx_op *n, const char *arg, int len)
{
    const char **const outs =
        ln_translation_alloc(&n->writer->base, ((size_t)len + 1) * sizeof(*outs));
    for (int i = 0; i < len && outs; i++) {
        outs[i] = ln_onnx_op_out_at(n, arg, i);
    }
    return outs;
}

static void write_branch(ln_onnx_op *n)
{
    const char *const cond = ln_onnx_op_in(n, "cond");
    LnOnnx__Graph *const then_graph = branch_graph(n, "then_body");
    LnOnnx__Graph *const else_graph = branch_graph(n, "else_body");
    const int len = ln_onnx_op_num_out(n, "dst");
    const char **const outs = out_names(n, "dst", len);
    if (!then_graph || !else_graph || !outs)
        return;
    ln_onnx_put_begin(n, "If");
    ln_onnx_put_set(n, LN_ONNX_SRC(cond));
    ln_onnx_put_graph(n, "then_branch", then_graph);
    ln_onnx_put_graph(n, "else_branch", else_graph);
    ln_onnx_put_end(n, len, outs);
}

// Loops

// The numbers of a loop's inputs and outputs, by argument.
typedef struct loop {
    int states, rows, srcs, parts;
    const char *length; // the number of rows, a scalar; NULL: none
} loop;

static int is_backward(const ln_onnx_op *n, const char *param, int i)
{
    int len;
    const int *const flags = ln_op_ints(n->op, param, &len);
    return flags && i < len && flags[i];
}

static const char *num_rows(ln_onnx_op *n)
{
    const char *const shape = ln_onnx_put(n, "Shape", ln_onnx_op_in_at(n, "row", 0));
    return ln_onnx_put_pair(n, "Gather", shape, ln_onnx_put_scalar(n, TL_INT64, 0));
}

// The smaller of two optional values, or NULL.
static const char *min(ln_onnx_op *n, const char *a, const char *b)
{
    return a && b ? ln_onnx_put_pair(n, "Min", a, b) : a ? a : b;
}

static const char *trips_of(ln_onnx_op *n, const loop *l)
{
    const int max = ln_op_int(n->op, "most");
    const char *const limit = max >= 0 ? ln_onnx_put_scalar(n, TL_INT64, max) : NULL;
    const char *trips = ln_onnx_op_optional(n, "trips");
    if (trips && ln_onnx_op_tensor(n, "trips")->ndim)
        trips = ln_onnx_put_reshape(n, trips, 0, NULL);
    return min(n, min(n, trips, limit), l->length);
}

// The slice of input `row` for iteration `number`.
static const char *row_part(graph *g, const loop *l, int k, const char *row, const char *number)
{
    const char *index = number;
    if (is_backward(&g->at, "backward_rows", k)) {
        const char *const last =
            ln_onnx_put_pair(&g->at, "Sub", l->length, ln_onnx_put_scalar(&g->at, TL_INT64, 1));
        index = ln_onnx_put_pair(&g->at, "Sub", last, number);
    }
    return ln_onnx_put_pair(&g->at, "Gather", row, index);
}

static const tl_tensor *state_record(const ln_onnx_op *n, int i)
{
    return ln_onnx_op_tensor(n, ln_onnx_op_arg_at(n->op->op_arg->tensors_in, "state", i));
}

// Binds the body's inputs, in order.
static void bind_inputs(ln_onnx_op *n, graph *g, const loop *l, const char *number)
{
    bind_input(g, number);
    for (int i = 0; i < l->states; i++)
        bind_input(g, add_input(g, "state", state_record(n, i)));
    for (int i = 0; i < l->rows; i++)
        bind_input(g, row_part(g, l, i, ln_onnx_op_in_at(n, "row", i), number));
    for (int i = 0; i < l->srcs; i++)
        bind_input(g, ln_onnx_op_in_at(n, "src", i));
}

// An iteration: (number, condition, states) -> (condition, states, parts).
static LnOnnx__Graph *iteration(ln_onnx_op *n, const loop *l)
{
    static const tl_tensor number = {.dtype = TL_INT64, .len = 1};
    static const tl_tensor truth = {.dtype = TL_BOOL, .len = 1};
    const ln_context *const body = find_body(n, "body");
    graph g;
    if (!body)
        return NULL;
    if (begin_graph(n, &g, body)) {
        const char *const index = add_input(&g, "number", &number);
        const char *const cond = add_input(&g, "cond", &truth);
        bind_inputs(n, &g, l, index);
        if (!ln_op_bool(n->op, "conditional"))
            ln_onnx_list_add(
                n->writer, &g.level.outputs,
                ln_onnx_put_info(n->writer, ln_onnx_put(&g.at, "Identity", cond), &truth, NULL));
        write_body(&g);
    }
    return end_graph(n, &g);
}

// Reverses the output `part` of number i along its first axis.
static void put_backward(ln_onnx_op *n, int i, const char *parts)
{
    const char *const name = ln_onnx_op_arg_at(n->op->op_arg->tensors_out, "part", i);
    LN_ONNX_PUT_AS(n, name, "Slice", LN_ONNX_SRC(parts), LN_ONNX_SRC(ln_onnx_put_int(n, -1)),
                   LN_ONNX_SRC(ln_onnx_put_int(n, -INT_MAX)), LN_ONNX_SRC(ln_onnx_put_int(n, 0)),
                   LN_ONNX_SRC(ln_onnx_put_int(n, -1)));
}

static void put_loop(ln_onnx_op *n, const loop *l, LnOnnx__Graph *body, const char **outs)
{
    const char *const trips = trips_of(n, l);
    const char *cond = ln_onnx_op_optional(n, "cond");
    const char **const states =
        ln_translation_alloc(&n->writer->base, ((size_t)l->states + 1) * sizeof(*states));
    for (int i = 0; i < l->states && states; i++)
        states[i] = ln_onnx_op_in_at(n, "state", i);
    if (!states)
        return;
    if (cond && ln_onnx_op_tensor(n, "cond")->ndim)
        cond = ln_onnx_put_reshape(n, cond, 0, NULL);
    ln_onnx_put_begin(n, "Loop");
    ln_onnx_put_set(n, LN_ONNX_SRC(trips));
    ln_onnx_put_set(n, LN_ONNX_SRC(cond));
    for (int i = 0; i < l->states; i++)
        ln_onnx_put_set(n, LN_ONNX_SRC(states[i]));
    ln_onnx_put_graph(n, "body", body);
    ln_onnx_put_end(n, l->states + l->parts, outs);
}

static void write_loop(ln_onnx_op *n)
{
    loop l = {.states = ln_onnx_op_num_in(n, "state"),
              .rows = ln_onnx_op_num_in(n, "row"),
              .srcs = ln_onnx_op_num_in(n, "src"),
              .parts = ln_onnx_op_num_out(n, "part")};
    l.length = l.rows ? num_rows(n) : NULL;
    LnOnnx__Graph *const body = iteration(n, &l);
    const char **const last = out_names(n, "last", l.states);
    const char **const parts = out_names(n, "part", l.parts);
    const char **const outs =
        ln_translation_alloc(&n->writer->base, ((size_t)(l.states + l.parts) + 1) * sizeof(*outs));
    if (!body || !last || !parts || !outs)
        return;
    for (int i = 0; i < l.states; i++)
        outs[i] = last[i];
    for (int i = 0; i < l.parts; i++)
        outs[l.states + i] =
            is_backward(n, "backward_parts", i) ? ln_onnx_put_name(n, "Loop") : parts[i];
    put_loop(n, &l, body, outs);
    for (int i = 0; i < l.parts; i++)
        if (is_backward(n, "backward_parts", i))
            put_backward(n, i, outs[l.states + i]);
}

const ln_onnx_op_row ln_onnx_write_rows_control[] = {
    {LN_OP_BRANCH, write_branch},
    {LN_OP_BRANCH_DYNAMIC, write_branch},
    {LN_OP_LOOP, write_loop},
    {LN_OP_LOOP_DYNAMIC, write_loop},
    {NULL},
};
