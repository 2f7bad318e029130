// SPDX-License-Identifier: Apache-2.0
// The graph of a model and its memory plan as JSON.

#include "report/cli_report_graph.h"

#include "draw/cli_graph.h"
#include "draw/cli_memory.h"
#include "input/cli_params.h"
#include "lightnet/ln_body.h"

typedef struct writing {
    cli_json *json;
    const ln_context *ctx;
    ln_hash *times;   // name of an operator -> cli_op_time
    ln_hash *refused; // name of an operator -> the first of its items in `refusals`
    const cli_refusals *refusals;
    cli_params counted;
} writing;

// Names of nodes and strings of a model may have any length.
static void add_text(cli_json *json, const char *key, const char *text)
{
    cli_json_start(json, key, text, LN_MAX_NAME_LEN);
}

// Operators

static void add_tensor(const writing *w, const char *arg, const ln_tensor_entry *te)
{
    cli_json_open(w->json, NULL, '{');
    cli_json_text(w->json, "arg", arg);
    cli_json_text(w->json, "name", te->name);
    cli_json_text(w->json, "dtype", tl_dtype_name(te->tensor->dtype));
    cli_json_shape(w->json, "shape", te->tensor->ndim, te->tensor->dims);
    if (te->isconst)
        cli_json_flag(w->json, "constant", 1);
    if (te->isdynamic)
        cli_json_flag(w->json, "max", 1);
    cli_json_close(w->json);
}

static void add_tensors(const writing *w, const char *key, const ln_list *tensors)
{
    enum { MAX_TENSORS = 64 };
    int n = 0;
    cli_json_open(w->json, key, '[');
    LN_FOREACH (const ln_tensor_list_entry *, tle, tensors)
        if (n++ < MAX_TENSORS)
            add_tensor(w, tle->arg_name, ln_entry_of(tle, w->ctx->tensor_table));
    cli_json_close(w->json);
}

// Element `i` of an array, or the value itself.
static void add_element(cli_json *json, const char *key, const ln_param_entry *pe, int i)
{
    switch (pe->type) {
    case LN_PARAM_NUMBER:
        cli_json_number(json, key, pe->value_double);
        break;
    case LN_PARAM_BOOL:
        cli_json_flag(json, key, pe->value_bool);
        break;
    case LN_PARAM_STRING:
        add_text(json, key, pe->value_string);
        break;
    case LN_PARAM_ARRAY_NUMBER:
        cli_json_number(json, key, pe->value_array_double[i]);
        break;
    case LN_PARAM_ARRAY_BOOL:
        cli_json_flag(json, key, pe->value_array_bool[i]);
        break;
    case LN_PARAM_ARRAY_STRING:
        add_text(json, key, pe->value_array_string[i]);
        break;
    default:
        cli_json_null(json, key);
    }
}

// Long arrays are data, not settings.
static void add_param(cli_json *json, const ln_param_entry *pe)
{
    enum { MAX_ELEMENTS = 16 };
    const int is_array = pe->type == LN_PARAM_ARRAY_NUMBER || pe->type == LN_PARAM_ARRAY_BOOL ||
                         pe->type == LN_PARAM_ARRAY_STRING;
    if (!is_array) {
        add_element(json, pe->arg_name, pe, 0);
        return;
    }
    if (pe->array_len > MAX_ELEMENTS)
        return;
    cli_json_open(json, pe->arg_name, '[');
    for (int i = 0; i < pe->array_len; i++)
        add_element(json, NULL, pe, i);
    cli_json_close(json);
}

static void add_nodes(cli_json *json, const ln_op_arg *op)
{
    cli_json_open(json, "nodes", '[');
    for (int i = 0; i < ln_op_num_nodes(op); i++) {
        const ln_model_node *const node = ln_op_node(op, i);
        cli_json_open(json, NULL, '{');
        add_text(json, "name", node->name);
        add_text(json, "type", node->type);
        cli_json_count(json, "number", (uint64_t)node->number);
        cli_json_close(json);
    }
    cli_json_close(json);
    if (ln_op_num_nodes(op) == LN_MAX_ORIGINS)
        cli_json_flag(json, "more_nodes", 1); // that it may have
}

// The rules that were not applied to the operator.
static void add_refused(const writing *w, const ln_op *op)
{
    const cli_refusals *const all = w->refusals;
    const cli_refused *item = ln_hash_find(w->refused, op->op_arg->name);
    char why[LN_MAXLINE];
    if (!item)
        return;
    cli_json_open(w->json, "refused", '[');
    for (; item < all->items + all->n && item->op == op; item++) {
        cli_json_open(w->json, NULL, '{');
        cli_json_text(w->json, "rule", item->rule);
        cli_json_text(w->json, "why", cli_refused_why(item, why));
        cli_json_close(w->json);
    }
    cli_json_close(w->json);
}

// The names of the subgraphs that the operator runs.
static void add_body_names(cli_json *json, const ln_op *op)
{
    const ln_context *body = cli_graph_body(op, 0);
    if (!body)
        return;
    cli_json_open(json, "bodies", '[');
    for (int i = 0; body; body = cli_graph_body(op, ++i))
        cli_json_text(json, NULL, ln_body_name(body));
    cli_json_close(json);
}

static int add_operator(const writing *w, const ln_op_arg *op, const ln_op *of)
{
    cli_json *const json = w->json;
    const cli_op_time *const time = w->times ? ln_hash_find(w->times, op->name) : NULL;
    double params;
    if (cli_params_count(&w->counted, of, &params))
        return CLI_FAILED;
    cli_json_text(json, "operator", op->name);
    cli_json_text(json, "type", op->optype);
    add_nodes(json, op);
    cli_json_open(json, "params", '{');
    LN_FOREACH (const ln_param_entry *, pe, op->params)
        add_param(json, pe);
    cli_json_close(json);
    cli_json_number(json, "parameters", params);
    cli_json_text(json, "algorithm", op->algorithm);
    cli_json_text(json, "layout", op->layout);
    cli_json_text(json, "rule", op->rule);
    cli_json_number(json, "macs", op->macs);
    cli_json_count(json, "scratch", op->scratch_size);
    add_tensors(w, "inputs", op->tensors_in);
    add_tensors(w, "outputs", op->tensors_out);
    add_refused(w, of);
    add_body_names(json, of);
    if (time) {
        cli_json_fixed(json, "ms", time->ms, 6);
        cli_json_number(json, "bytes", time->bytes);
    }
    return 0;
}

static int add_box(const writing *w, const cli_box *box)
{
    static const char *const whats[] = {
        [CLI_BOX_OP] = "op", [CLI_BOX_INPUT] = "input", [CLI_BOX_OUTPUT] = "output"};
    cli_json *const json = w->json;
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "what", whats[box->what]);
    add_text(json, "name", cli_box_name(box));
    cli_json_text(json, "label", box->label);
    cli_json_text(json, "kind", cli_kind_id(box->kind));
    int status = 0;
    if (box->what == CLI_BOX_OP)
        status = add_operator(w, box->op->op_arg, box->op);
    else {
        cli_json_open(json, "outputs", '[');
        add_tensor(w, "", box->te);
        cli_json_close(json);
    }
    cli_json_close(json);
    return status;
}

// The graph

static void add_edges(cli_json *json, const cli_graph *graph)
{
    cli_json_open(json, "edges", '[');
    for (int i = 0; i < graph->folding.n_edges; i++) {
        const cli_edge *const e = &graph->edges[i];
        const int ends[] = {e->from, e->to};
        cli_json_open(json, NULL, '{');
        cli_json_count(json, "from", (uint64_t)ends[0]);
        cli_json_count(json, "to", (uint64_t)ends[1]);
        cli_json_text(json, "tensor", graph->tensors[e->tensor]->name);
        cli_json_shape(json, "shape", graph->tensors[e->tensor]->tensor->ndim,
                       graph->tensors[e->tensor]->tensor->dims);
        cli_json_close(json);
    }
    cli_json_close(json);
}

static void add_groups(cli_json *json, const cli_folding *f)
{
    static const char *const whats[] = {
        [CLI_REPEAT] = "repeat", [CLI_COPY] = "copy", [CLI_PART] = "part"};
    cli_json_open(json, "groups", '[');
    for (const cli_group *g = f->groups; g < f->groups + f->n_groups; g++) {
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "what", whats[g->what]);
        cli_json_count(json, "first", (uint64_t)g->first);
        cli_json_count(json, "end", (uint64_t)g->end);
        cli_json_number(json, "parent", g->parent);
        if (g->what == CLI_REPEAT)
            cli_json_count(json, "count", (uint64_t)g->count);
        cli_json_close(json);
    }
    cli_json_close(json);
}

static int add_graph(const writing *w, const cli_graph *graph)
{
    int status = 0;
    cli_json_open(w->json, "boxes", '[');
    for (int i = 0; i < graph->folding.n && !status; i++)
        status = add_box(w, &graph->boxes[i]);
    cli_json_close(w->json);
    add_edges(w->json, graph);
    add_groups(w->json, &graph->folding);
    return status;
}

static int index_times(const writing *w, const cli_op_times *times)
{
    for (int i = 0; times && i < times->n; i++)
        if (ln_hash_insert(w->times, times->items[i].op->name, &times->items[i]) < 0)
            return cli_fail_memory();
    return 0;
}

static int index_refused(const writing *w)
{
    const cli_refusals *const r = w->refusals;
    for (int i = r ? r->n - 1 : -1; i >= 0; i--) // the first item of an operator comes last
        if (r->items[i].op->op_arg->ctx == w->ctx &&
            ln_hash_insert(w->refused, r->items[i].op->op_arg->name, &r->items[i]) < 0)
            return cli_fail_memory();
    return 0;
}

static int add_graph_of(cli_json *json, const ln_context *ctx, const cli_op_times *times,
                        const cli_refusals *refused)
{
    cli_graph graph = {.ctx = NULL};
    writing w = {.json = json,
                 .ctx = ctx,
                 .times = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL),
                 .refused = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL),
                 .refusals = refused};
    int status = !w.times || !w.refused ? cli_fail_memory() : cli_params_begin(&w.counted, ctx);
    status = status || index_times(&w, times) || index_refused(&w) ||
             cli_graph_create(&graph, ctx) || add_graph(&w, &graph);
    cli_graph_free(&graph);
    cli_params_end(&w.counted);
    ln_hash_free(w.times);
    ln_hash_free(w.refused);
    return status ? CLI_FAILED : 0;
}

int cli_report_add_graph(cli_json *json, const char *key, const ln_context *ctx,
                         const cli_op_times *times, const cli_refusals *refused)
{
    cli_json_open(json, key, '{');
    int status = add_graph_of(json, ctx, times, refused);
    cli_json_open(json, "bodies", '[');
    for (const ln_list *node = ctx->bodies; node && !status; node = node->next) {
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "name", ln_body_name(node->data));
        status = add_graph_of(json, node->data, NULL, refused);
        cli_json_close(json);
    }
    cli_json_close(json);
    cli_json_close(json);
    return status;
}

// Memory

static void add_block(cli_json *json, const cli_block *block)
{
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", block->plan.name);
    cli_json_count(json, "size", block->plan.size);
    cli_json_count(json, "offset", block->offset);
    cli_json_count(json, "first", (uint64_t)block->first);
    cli_json_count(json, "last", (uint64_t)block->last);
    cli_json_flag(json, "scratch", block->plan.is_scratch);
    cli_json_close(json);
}

static void add_memory(cli_json *json, const cli_memory *m)
{
    cli_json_open(json, "memory", '{');
    cli_json_count(json, "size", m->planned.size);
    cli_json_count(json, "bound", m->planned.bound);
    cli_json_count(json, "constants", m->constants);
    cli_json_count(json, "run", m->size);
    cli_json_count(json, "operators", (uint64_t)m->n_run);
    cli_json_open(json, "blocks", '[');
    for (const cli_block *block = m->blocks; block < m->blocks + m->n; block++)
        add_block(json, block);
    cli_json_close(json);
    cli_json_close(json);
}

int cli_report_add_memory(cli_json *json, const ln_context *ctx)
{
    cli_memory m;
    const int status = cli_memory_list(&m, ctx);
    if (!status)
        add_memory(json, &m);
    cli_memory_free(&m);
    return status;
}
