// SPDX-License-Identifier: Apache-2.0
// Rewriting a graph to core's operators.

#include "front/nnvm/mxnet/ln_nnvm_core.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/ln_alloc_fail.h"
#include "data/ln_data_give.h"
#include "front/nnvm/ln_nnvm_steps.h"
#include "front/nnvm/ln_nnvm_vars.h"
#include "ir/ln_bind.h"

// The entries that replace a node's outputs. `is_kept`: the node is; only its first entry is
// stored.
typedef struct outputs {
    ln_nnvm_entry *entries;
    uint32_t n;
    int is_kept;
} outputs;

// A graph that is being rewritten.
typedef struct ln_nnvm_core {
    ln_nnvm_model *model;
    ln_nnvm_draft *draft;
    const ln_bundle *params; // content of the parameter file; NULL: no file
    outputs *outs;           // of each node
    int is_reading;
} ln_nnvm_core;

static ln_nnvm_op op_init(ln_nnvm_core *c, ln_nnvm_node *node)
{
    c->draft->source = node->vertex->at;
    return (ln_nnvm_op){.draft = c->draft,
                        .label = node->vertex->name,
                        .first_node = (uint32_t)c->draft->n_nodes,
                        .core = c,
                        .e = &node->emit,
                        .is_reading = c->is_reading};
}

static ln_nnvm_value value_of(ln_nnvm_entry entry)
{
    return (ln_nnvm_value){.entry = entry, .dtype = TL_DTYPE_INVALID};
}

// Variables

// The variable's tensor in the parameter file, or NULL.
static const tl_tensor *find_param(const ln_nnvm_core *c, const char *name)
{
    return c->params ? ln_bundle_find(c->params, name) : NULL;
}

// A variable whose type and shape are inferred later.
static ln_nnvm_entry add_bare_variable(ln_nnvm_core *c, const char *name)
{
    ln_nnvm_draft_begin(c->draft, "null", name);
    return ln_nnvm_draft_end(c->draft, 1);
}

static ln_nnvm_entry add_variable(ln_nnvm_core *c, const char *name, const tl_tensor *like)
{
    const tl_tensor *data =
        c->params ? ln_bundle_read(c->params, name, c->model->base.ctx->error) : NULL;
    if (!data && find_param(c, name))
        c->model->base.failed = 1;
    return ln_nnvm_draft_variable(c->draft, LN_NNVM_VARIABLE, name, data ? data : like, data);
}

static ln_nnvm_entry add_typed_variable(ln_nnvm_core *c, ln_nnvm_vertex *v)
{
    tl_tensor *like = ln_nnvm_variable_like(c->model, v);
    const tl_dtype dtype = ln_nnvm_variable_dtype(c->model, v);
    const ln_nnvm_entry entry = add_variable(c, v->name, like);
    if (!like && dtype != TL_FLOAT && !find_param(c, v->name))
        ln_nnvm_draft_set_variable_dtype(c->draft, dtype);
    tl_tensor_free(like);
    return entry;
}

static void rewrite_variable(ln_nnvm_core *c, ln_nnvm_vertex *v)
{
    ln_nnvm_node node = ln_nnvm_node_init(c->model, v);
    ln_nnvm_op n = op_init(c, &node);
    const ln_nnvm_entry entry =
        c->is_reading ? add_bare_variable(c, v->name) : add_typed_variable(c, v);
    ln_nnvm_draft_set_origin(c->draft, v->at);
    ln_nnvm_recast_out(&n, 0, value_of(entry));
}

// The interface for rewriters

void ln_nnvm_recast_lacks(ln_nnvm_op *n, int lacks)
{
    n->e->translation->failed |= lacks && !n->is_reading;
}

// The new entry for an entry of the graph; `n`: the node that needs it.
static ln_nnvm_entry find_entry(ln_nnvm_op *n, const ln_nnvm_entry *e)
{
    const outputs *from = &n->core->outs[e->node];
    if (from->is_kept)
        return (ln_nnvm_entry){from->entries[0].node, e->index};
    if (e->index < from->n)
        return from->entries[e->index];
    ln_nnvm_fail_output(ln_nnvm_recast_node(n), e, from->n);
    return (ln_nnvm_entry){0, 0};
}

ln_nnvm_value ln_nnvm_recast_in(ln_nnvm_op *n, int i)
{
    const ln_nnvm_node *const node = ln_nnvm_recast_node(n);
    const ln_nnvm_entry none = {0, 0};
    if (i >= ln_nnvm_num_inputs(node))
        ln_emit_fail(n->e, "input %d is missing", i);
    return value_of(ln_nnvm_failed(node) ? none : find_entry(n, &node->vertex->inputs[i]));
}

ln_nnvm_value ln_nnvm_recast_weight(ln_nnvm_op *n, int i, const char *arg)
{
    ln_nnvm_node *const node = ln_nnvm_recast_node(n);
    if (i < ln_nnvm_num_inputs(node) || !node->model->graph.is_oldest)
        return ln_nnvm_recast_in(n, i);
    const char *const name = ln_nnvm_omitted_name(node, arg);
    const ln_nnvm_entry none = {0, 0};
    return value_of(!name           ? none
                    : n->is_reading ? add_bare_variable(n->core, name)
                                    : add_variable(n->core, name, NULL));
}

void ln_nnvm_recast_out(ln_nnvm_op *n, uint32_t i, ln_nnvm_value value)
{
    const ln_nnvm_vertex *v = ln_nnvm_recast_node(n)->vertex;
    outputs *outs = &n->core->outs[v->at];
    if (i != outs->n)
        return;
    LN_TRANSLATION_ADD(n->e->translation, outs->entries, outs->n, value.entry);
    if (value.entry.node >= n->first_node && !i)
        ln_nnvm_draft_rename(n->draft, value.entry, v->name);
}

static void add_inputs(ln_nnvm_op *n)
{
    const int len = ln_nnvm_num_inputs(ln_nnvm_recast_node(n));
    for (int i = 0; i < len; i++)
        ln_put_set(n, LN_SRC(ln_nnvm_recast_in(n, i)));
}

void ln_nnvm_recast_begin(ln_nnvm_op *n, const char *op)
{
    ln_put_begin(n, op);
    add_inputs(n);
}

ln_nnvm_value ln_nnvm_recast_end(ln_nnvm_op *n, uint32_t n_outs)
{
    ln_nnvm_recast_attrs(n);
    return ln_put_end(n, value_of((ln_nnvm_entry){0, 0}), n_outs);
}

ln_nnvm_value ln_nnvm_recast_with(ln_nnvm_op *n)
{
    return ln_put_formula(n, n->row->with, ln_nnvm_recast_in(n, 0), 0, 0, NULL);
}

ln_nnvm_value ln_nnvm_recast_same(ln_nnvm_op *n)
{
    ln_nnvm_recast_begin(n, n->row->with ? n->row->with : ln_nnvm_recast_node(n)->vertex->op);
    return ln_nnvm_recast_end(n, 1);
}

ln_nnvm_value ln_nnvm_recast_many(ln_nnvm_op *n)
{
    ln_nnvm_check_args(ln_nnvm_recast_node(n));
    return ln_nnvm_recast_same(n);
}

ln_nnvm_value ln_nnvm_recast_take(ln_nnvm_op *n, ln_nnvm_value src, ln_nnvm_value index, int axis)
{
    if (!n->is_reading)
        index = LN_PUT(n, "cast", index, LN_SRC(index), LN_DTYPE("dtype", TL_INT32));
    ln_put_begin(n, "take");
    ln_put_set(n, LN_SRC(src));
    ln_put_set(n, LN_SRC(index));
    ln_put_set(n, LN_INT("axis", axis));
    return ln_nnvm_recast_end(n, 1);
}

ln_nnvm_value ln_nnvm_recast_alias(ln_nnvm_op *n)
{
    return ln_nnvm_recast_in(n, 0);
}

// Attributes

static int is_bracket(char c, const char *kinds)
{
    return c && strchr(kinds, c);
}

// Prints the tuple in `text` as Python does, to `to`, which has three times its size.
static void print_tuple(char *to, const char *text)
{
    int lens[LN_NNVM_MAX_TUPLE] = {0}, depth = 0;
    for (const char *at = text; *at;) {
        const size_t len = strcspn(at, "()[], \t\r\n");
        if (len) { // Python 2 wrote long integers with an L
            to += sprintf(to, "%.*s", (int)(len - (len > 1 && at[len - 1] == 'L')), at);
        } else if (is_bracket(*at, "([")) {
            lens[++depth] = 1;
            *to++ = '(';
        } else if (is_bracket(*at, ")]")) {
            const int is_one = lens[depth--] == 1 && to[-1] != '(';
            to += sprintf(to, is_one ? ",)" : ")");
        } else if (*at == ',' && !is_bracket(at[1 + strspn(at + 1, " \t\r\n")], ")]")) {
            lens[depth]++;
            to += sprintf(to, ", ");
        }
        at += len ? len : 1;
    }
    *to = '\0';
}

// The value in core's notation: tuples and bools as in Python.
static const char *canonical(ln_nnvm_op *n, const char *text)
{
    int64_t numbers[LN_NNVM_MAX_TUPLE];
    double floats[LN_NNVM_MAX_TUPLE];
    const char *at = text + strspn(text, " \t\r\n");
    if (!strcasecmp(at, "true") || !strcasecmp(at, "false"))
        return strcasecmp(at, "true") ? "False" : "True";
    if (!is_bracket(*at, "([") ||
        (ln_nnvm_parse_tuple(at, numbers, NULL) < 0 && ln_nnvm_parse_tuple(at, NULL, floats) < 0))
        return text;
    char *tuple = ln_translation_alloc(&n->draft->base, 3 * strlen(at) + 1);
    if (!tuple)
        return "";
    print_tuple(tuple, at);
    return tuple;
}

void ln_nnvm_recast_attr(ln_nnvm_op *n, const char *key, const char *core_key)
{
    const char *text = ln_attr_text(n->e, key, NULL);
    if (text)
        ln_put_set(n, LN_TEXT(core_key, canonical(n, text)));
}

void ln_nnvm_recast_attrs(ln_nnvm_op *n)
{
    ln_nnvm_rename a;
    for (const char *at = n->row->attrs; (at = ln_nnvm_next_rename(at, &a));) {
        if (a.is_added && !n->is_reading)
            continue;
        if (a.is_needed)
            ln_attr_require(n->e, a.key);
        if (a.key[0] && ln_attr_has(n->e, a.key))
            ln_nnvm_recast_attr(n, a.key, a.core_key);
        else if (a.deflt[0])
            ln_put_set(n, LN_TEXT(a.core_key, a.deflt));
    }
}

// Operators of core, which stay unchanged

// Operators of several outputs: all of them, and those that may be used.
static const struct {
    const char *op;
    uint32_t all, usable;
} several_outputs[] = {
    {"batch_norm", 3, 1}, {"dropout", 2, 1}, {"multibox_transform_loc", 2, 2}, {NULL, 1, 1}};

// The outputs of `split`; see the operator's documentation.
static uint32_t count_parts(ln_nnvm_op *n)
{
    int len;
    const char *key = "indices_or_sections", *text = ln_attr_text(n->e, key, "");
    ln_attr_require(n->e, key);
    if (*text >= '0' && *text <= '9')
        return (uint32_t)ln_attr_int_in(n->e, key, 1, 1, 1 << 16);
    ln_attr_ints(n->e, key, &len);
    return (uint32_t)len + 1;
}

static void keep_node(ln_nnvm_op *n)
{
    const ln_nnvm_vertex *v = ln_nnvm_recast_node(n)->vertex;
    size_t k = 0;
    while (several_outputs[k].op && strcmp(several_outputs[k].op, v->op))
        k++;
    const int splits = !strcmp(v->op, "split");
    const uint32_t parts = splits ? count_parts(n) : several_outputs[k].all;
    ln_nnvm_recast_begin(n, v->op);
    for (size_t i = 0; i < v->n_deps; i++)
        ln_nnvm_draft_dep(n->draft, n->core->outs[v->deps[i]].entries[0]);
    ln_nnvm_draft_set_origin(n->draft, v->at);
    for (size_t i = 0; i < v->n_attrs; i++)
        if (!ln_nnvm_is_harmless(ln_nnvm_recast_node(n), v->attrs[i].key))
            ln_nnvm_recast_attr(n, v->attrs[i].key, v->attrs[i].key);
    ln_nnvm_value value = value_of(ln_nnvm_draft_end(n->draft, parts));
    for (uint32_t i = 0; i < (splits ? parts : several_outputs[k].usable); i++, value.entry.index++)
        ln_nnvm_recast_out(n, i, value);
}

// Nodes

// Keeps a node of MXNet that has a translator, in a graph to be read.
static void keep_mxnet_node(ln_nnvm_op *n)
{
    const ln_nnvm_vertex *v = ln_nnvm_recast_node(n)->vertex;
    ln_nnvm_draft_begin(n->draft, v->op, v->name);
    add_inputs(n);
    ln_nnvm_draft_set_origin(n->draft, v->at);
    ln_nnvm_recast_out(n, 0, value_of(ln_nnvm_draft_end(n->draft, 1)));
    n->core->outs[v->at].is_kept = !ln_nnvm_failed(ln_nnvm_recast_node(n));
}

static void rewrite_node(ln_nnvm_core *c, ln_nnvm_vertex *v)
{
    ln_nnvm_node node = ln_nnvm_node_init(c->model, v);
    ln_nnvm_op n = op_init(c, &node);
    if (c->is_reading && v->row->translate) {
        keep_mxnet_node(&n);
        return;
    }
    ln_nnvm_check_inputs(&node);
    if (c->model->graph.dialect == LN_NNVM_CORE) {
        keep_node(&n);
        return;
    }
    n.row = ln_nnvm_find_rewriter(v->op);
    if (n.row)
        ln_nnvm_recast_out(&n, 0, n.row->rewrite(&n));
    else
        ln_nnvm_recast_lacks(&n, 1);
    ln_nnvm_check_attrs(&node);
}

static int failed(const ln_nnvm_core *c)
{
    return c->model->base.failed || c->draft->base.failed;
}

static void rewrite_graph(ln_nnvm_core *c)
{
    ln_nnvm_graph *g = &c->model->graph;
    c->outs = ln_translation_alloc(&c->model->base, (g->n_nodes + 1) * sizeof(*c->outs));
    for (size_t i = 0; i < g->n_variables && !failed(c); i++)
        if (g->variables[i]->is_live)
            rewrite_variable(c, g->variables[i]);
    for (size_t i = 0; i < g->n_nodes && !failed(c); i++) {
        ln_translation_check(&c->model->base);
        if (g->nodes[i].is_live && !g->nodes[i].is_variable)
            rewrite_node(c, &g->nodes[i]);
    }
    for (size_t i = 0; i < g->n_heads && !failed(c); i++) {
        ln_nnvm_node node = ln_nnvm_node_init(c->model, &g->nodes[g->heads[i].node]);
        ln_nnvm_op n = op_init(c, &node);
        ln_nnvm_draft_head(c->draft, find_entry(&n, &g->heads[i]));
    }
}

// Rewriting to read

static void replace_graph(ln_nnvm_core *c)
{
    ln_nnvm_graph *g = &c->model->graph;
    const ln_nnvm_draft *d = c->draft;
    ln_nnvm_vertex *nodes =
        ln_translation_alloc(&c->model->base, (d->n_nodes + 1) * sizeof(*nodes));
    g->variables = ln_translation_alloc(&c->model->base, (d->n_nodes + 1) * sizeof(*g->variables));
    g->n_variables = 0;
    if (!nodes || !g->variables)
        return;
    for (size_t i = 0; i < d->n_nodes; i++) {
        nodes[i] = ln_nnvm_draft_vertex(d, i, g->nodes);
        if (nodes[i].is_variable)
            g->variables[g->n_variables++] = &nodes[i];
        else if (!nodes[i].row)
            nodes[i].row = ln_nnvm_find_core_row(nodes[i].op);
    }
    g->nodes = nodes;
    g->n_nodes = d->n_nodes;
    g->heads = d->heads;
}

void ln_nnvm_recast_model(ln_nnvm_model *m, ln_nnvm_draft *d)
{
    ln_nnvm_core c = {.model = m, .draft = d, .is_reading = 1};
    if (m->graph.dialect != LN_NNVM_MXNET)
        return;
    rewrite_graph(&c);
    m->base.failed = failed(&c);
    if (!m->base.failed)
        replace_graph(&c);
}

// Rewriting to write

// 1: it needs information beyond the graph, such as shapes.
static int rewrite(ln_nnvm_core *c)
{
    const unsigned long failures = ln_alloc_failures();
    c->model->graph.keeps_deps = 1;
    ln_nnvm_choose_rows(c->model);
    if (c->model->base.failed)
        return -1;
    if (c->model->graph.dialect == LN_NNVM_CORE)
        c->draft->graph = &c->model->graph;
    rewrite_graph(c);
    if (failed(c))
        return ln_alloc_failures() > failures ? -1 : 1;
    return ln_nnvm_draft_write(c->draft);
}

static int rewrite_with(const ln_bundle *params, void *core)
{
    ln_nnvm_core *c = core;
    c->params = params;
    return params->shaped ? rewrite(c) : 1;
}

int ln_nnvm_rewrite(ln_context *ctx, const char *name, const ln_infile *in, const char *file)
{
    ln_nnvm_model m = {.base = {.ctx = ctx, .file = name}};
    ln_nnvm_draft d;
    ln_nnvm_core c = {.model = &m, .draft = &d};
    ln_nnvm_draft_init(&d, ctx, file);
    ln_nnvm_graph_read(&m.graph, &m.base, in->data, in->size);
    const int status = failed(&c)      ? -1
                       : ctx->datafile ? ln_data_with(ctx, ctx->datafile, rewrite_with, &c)
                                       : rewrite(&c);
    ln_nnvm_draft_clear(&d);
    ln_nnvm_graph_clear(&m.graph);
    ln_translation_clear(&m.base);
    if (status == 1)
        ln_context_clear_error(ctx);
    if (!status)
        ln_bind_warn(ctx);
    return status;
}
