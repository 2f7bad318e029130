// SPDX-License-Identifier: Apache-2.0
// Rewriting a graph to core's operators.

#include "front/nnvm/mxnet/ln_nnvm_core.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/ln_alloc_fail.h"
#include "data/ln_data_give.h"
#include "front/nnvm/ln_nnvm_vars.h"
#include "ir/ln_bind.h"

// The entries of a node's usable outputs. For an unchanged node: only the first entry, and any
// number, which its translator knows.
typedef struct outputs {
    ln_nnvm_entry *entries;
    uint32_t n;
    int stays;
} outputs;

// A graph that is being rewritten.
typedef struct ln_nnvm_core {
    ln_nnvm_model *model;
    ln_nnvm_draft *draft;
    const ln_bundle *params; // content of the parameter file; NULL: no file
    outputs *outs;           // of each node
    int is_reading;
} ln_nnvm_core;

static ln_nnvm_recast recast_init(ln_nnvm_core *c, ln_nnvm_vertex *v)
{
    c->draft->source = v->at;
    return (ln_nnvm_recast){.node = ln_nnvm_node_init(c->model, v),
                            .core = c,
                            .draft = c->draft,
                            .first = c->draft->n_nodes,
                            .is_reading = c->is_reading};
}

static const ln_nnvm_entry no_entry = {0, 0};

// Variables

// The tensor that the file of parameters has for it, or NULL.
static const tl_tensor *find_param(const ln_nnvm_core *c, const char *name)
{
    return c->params ? ln_bundle_find(c->params, name) : NULL;
}

// One whose type and shape are inferred when it is read.
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
    return ln_nnvm_draft_variable(c->draft, name, data ? data : like, data);
}

static ln_nnvm_entry add_told_variable(ln_nnvm_core *c, ln_nnvm_vertex *v)
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
    ln_nnvm_recast r = recast_init(c, v);
    const ln_nnvm_entry entry =
        c->is_reading ? add_bare_variable(c, v->name) : add_told_variable(c, v);
    ln_nnvm_draft_set_origin(c->draft, v->at);
    ln_nnvm_recast_out(&r, 0, entry);
}

// The interface for rewriters

void ln_nnvm_recast_lacks(ln_nnvm_recast *r, int lacks)
{
    r->node.model->base.failed |= lacks && !r->is_reading;
}

// The new entry for an entry of the graph; `r`: the rewriter whose node needs it.
static ln_nnvm_entry find_entry(ln_nnvm_recast *r, const ln_nnvm_entry *e)
{
    const outputs *from = &r->core->outs[e->node];
    if (from->stays)
        return (ln_nnvm_entry){from->entries[0].node, e->index};
    if (e->index < from->n)
        return from->entries[e->index];
    ln_nnvm_fail_output(&r->node, e, from->n);
    return no_entry;
}

ln_nnvm_entry ln_nnvm_recast_in(ln_nnvm_recast *r, int i)
{
    if (i >= ln_nnvm_num_inputs(&r->node))
        ln_emit_fail(&r->node.emit, "input %d is missing", i);
    return ln_nnvm_failed(&r->node) ? no_entry : find_entry(r, &r->node.vertex->inputs[i]);
}

ln_nnvm_entry ln_nnvm_recast_weight(ln_nnvm_recast *r, int i, const char *arg)
{
    if (i < ln_nnvm_num_inputs(&r->node) || !r->node.model->graph.is_oldest)
        return ln_nnvm_recast_in(r, i);
    const char *name = ln_nnvm_left_out_name(&r->node, arg);
    if (!name)
        return no_entry;
    return r->is_reading ? add_bare_variable(r->core, name) : add_variable(r->core, name, NULL);
}

void ln_nnvm_recast_out(ln_nnvm_recast *r, uint32_t i, ln_nnvm_entry entry)
{
    const ln_nnvm_vertex *v = r->node.vertex;
    outputs *outs = &r->core->outs[v->at];
    ln_nnvm_entry *entries = i == outs->n ? ln_translation_grow(&r->node.model->base, outs->entries,
                                                                outs->n, sizeof(*entries))
                                          : NULL;
    if (!entries)
        return;
    outs->entries = entries;
    outs->entries[outs->n++] = entry;
    if (entry.node >= r->first && !i)
        ln_nnvm_draft_rename(r->draft, entry, v->name);
}

void ln_nnvm_recast_begin(ln_nnvm_recast *r, const char *op, int len, const ln_nnvm_entry *inputs)
{
    const char *own = r->node.vertex->name;
    int before = 0; // nodes of the same operator
    for (size_t i = r->first; i < r->draft->n_nodes; i++)
        before += !strcmp(ln_nnvm_draft_op(r->draft, (ln_nnvm_entry){(uint32_t)i, 0}), op);
    const char *name = ln_translation_print(&r->draft->base, before ? "%.*s_%s_%d" : "%.*s_%s",
                                            ln_name_stem(own), own, op, before);
    if (!name)
        return;
    ln_nnvm_draft_begin(r->draft, op, name);
    for (int i = 0; i < len; i++)
        ln_nnvm_draft_arg(r->draft, inputs[i]);
}

ln_nnvm_entry ln_nnvm_recast_end(ln_nnvm_recast *r)
{
    return ln_nnvm_draft_end(r->draft, 1);
}

ln_nnvm_entry ln_nnvm_recast_parts(ln_nnvm_recast *r, const char *op, const ln_part *parts)
{
    ln_nnvm_recast_begin(r, op, 0, NULL);
    ln_nnvm_draft_parts(r->draft, parts);
    return ln_nnvm_recast_end(r);
}

ln_nnvm_entry ln_nnvm_recast_unary(ln_nnvm_recast *r, const char *op, ln_nnvm_entry x)
{
    return LN_RECAST(r, op, LN_ENTRY(x));
}

ln_nnvm_entry ln_nnvm_recast_binary(ln_nnvm_recast *r, const char *op, ln_nnvm_entry a,
                                    ln_nnvm_entry b)
{
    return LN_RECAST(r, op, LN_ENTRY(a), LN_ENTRY(b));
}

ln_nnvm_entry ln_nnvm_recast_scalar(ln_nnvm_recast *r, const char *op, ln_nnvm_entry x,
                                    double number)
{
    return LN_RECAST(r, op, LN_ENTRY(x), LN_NUMBER("scalar", number));
}

ln_nnvm_entry ln_nnvm_recast_clip(ln_nnvm_recast *r, ln_nnvm_entry x, double min, double max)
{
    return LN_RECAST(r, "clip", LN_ENTRY(x), LN_NUMBER("a_min", min), LN_NUMBER("a_max", max));
}

// Formulas

// An operation on two values of one shape, or on one and a number.
static ln_nnvm_entry put_operation(ln_nnvm_recast *r, const char *op, const ln_nnvm_value *v)
{
    const ln_nnvm_operation *const o = ln_nnvm_find_operation(op);
    const int turned = v[0].is_number;
    char name[LN_MAX_NAME_LEN];
    if (!turned && !v[1].is_number) {
        snprintf(name, sizeof(name), "elemwise_%s", op);
        return ln_nnvm_recast_binary(r, name, v[0].entry, v[1].entry);
    }
    snprintf(name, sizeof(name), "__%s_scalar__", turned ? o->left : o->right);
    return ln_nnvm_recast_scalar(r, name, v[turned].entry, v[!turned].number);
}

static ln_nnvm_value recast_word(void *to, const char *word, int len, const ln_nnvm_value *v)
{
    ln_nnvm_recast *const r = to;
    ln_nnvm_value dst = {0};
    if (ln_nnvm_find_operation(word)) {
        dst.entry = put_operation(r, word, v);
        return dst;
    }
    if (!strcmp(word, "clip")) {
        dst.entry = ln_nnvm_recast_clip(r, v[0].entry, v[1].number, v[2].number);
        return dst;
    }
    ln_nnvm_recast_begin(r, word, 0, NULL);
    for (int i = 0; i < len; i++)
        ln_nnvm_draft_arg(r->draft, v[i].entry);
    if (ln_nnvm_formula_reduces(word)) {
        ln_nnvm_draft_set(r->draft, LN_INTS("axis", 1, (const int[]){-1}));
        ln_nnvm_draft_set(r->draft, LN_BOOL("keepdims", 1));
    }
    dst.entry = ln_nnvm_recast_end(r);
    return dst;
}

ln_nnvm_entry ln_nnvm_recast_formula(ln_nnvm_recast *r, const char *words, ln_nnvm_entry x,
                                     double alpha, double beta)
{
    const ln_nnvm_formula_maker m = {&r->draft->base, recast_word, r};
    return ln_nnvm_formula_make(&m, words, (ln_nnvm_value){.entry = x}, alpha, beta).entry;
}

void ln_nnvm_recast_with(ln_nnvm_recast *r)
{
    ln_nnvm_recast_out(r, 0,
                       ln_nnvm_recast_formula(r, r->row->with, ln_nnvm_recast_in(r, 0), 0, 0));
}

// Attributes

static int is_bracket(char c, const char *kinds)
{
    return c && strchr(kinds, c);
}

// The tuple in `text` as Python prints it, in `to`, which has room for three times the text.
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

// A value as core writes it: tuples and truth values as Python does.
static const char *canonical(ln_nnvm_recast *r, const char *text)
{
    int64_t numbers[LN_NNVM_MAX_TUPLE];
    double floats[LN_NNVM_MAX_TUPLE];
    const char *at = text + strspn(text, " \t\r\n");
    if (!strcasecmp(at, "true") || !strcasecmp(at, "false"))
        return strcasecmp(at, "true") ? "False" : "True";
    if (!is_bracket(*at, "([") ||
        (ln_nnvm_parse_tuple(at, numbers, NULL) < 0 && ln_nnvm_parse_tuple(at, NULL, floats) < 0))
        return text;
    char *tuple = ln_translation_alloc(&r->draft->base, 3 * strlen(at) + 1);
    if (!tuple)
        return "";
    print_tuple(tuple, at);
    return tuple;
}

void ln_nnvm_recast_attr(ln_nnvm_recast *r, const char *key, const char *core_key)
{
    const char *text = ln_attr_text(&r->node.emit, key, NULL);
    if (text)
        ln_nnvm_draft_set(r->draft, LN_TEXT(core_key, canonical(r, text)));
}

void ln_nnvm_recast_attrs(ln_nnvm_recast *r)
{
    ln_nnvm_rename a;
    for (const char *at = r->row->attrs; (at = ln_nnvm_next_rename(at, &a));) {
        if (a.is_added && !r->is_reading)
            continue;
        if (a.is_needed)
            ln_attr_require(&r->node.emit, a.key);
        if (a.key[0] && ln_attr_has(&r->node.emit, a.key))
            ln_nnvm_recast_attr(r, a.key, a.core_key);
        else if (a.deflt[0])
            ln_nnvm_draft_set(r->draft, LN_TEXT(a.core_key, a.deflt));
    }
}

void ln_nnvm_recast_same(ln_nnvm_recast *r)
{
    const int len = ln_nnvm_num_inputs(&r->node);
    ln_nnvm_recast_begin(r, r->row->with ? r->row->with : r->row->op, 0, NULL);
    for (int i = 0; i < len; i++)
        ln_nnvm_draft_arg(r->draft, ln_nnvm_recast_in(r, i));
    ln_nnvm_recast_attrs(r);
    ln_nnvm_recast_out(r, 0, ln_nnvm_recast_end(r));
}

void ln_nnvm_recast_take(ln_nnvm_recast *r, ln_nnvm_entry src, ln_nnvm_entry index, int axis)
{
    if (!r->is_reading)
        index = LN_RECAST(r, "cast", LN_ENTRY(index), LN_DTYPE("dtype", TL_INT32));
    ln_nnvm_recast_begin(r, "take", 2, (const ln_nnvm_entry[]){src, index});
    ln_nnvm_draft_set(r->draft, LN_INT("axis", axis));
    ln_nnvm_recast_attrs(r);
    ln_nnvm_recast_out(r, 0, ln_nnvm_recast_end(r));
}

void ln_nnvm_recast_alias(ln_nnvm_recast *r)
{
    ln_nnvm_recast_out(r, 0, ln_nnvm_recast_in(r, 0));
}

// Core's own operators stay as they are

// Operators of several outputs: all of them, and those that may be used.
static const struct {
    const char *op;
    uint32_t all, usable;
} several_outputs[] = {
    {"batch_norm", 3, 1}, {"dropout", 2, 1}, {"multibox_transform_loc", 2, 2}, {NULL, 1, 1}};

// The outputs of `split`; see the operator's documentation.
static uint32_t count_parts(ln_nnvm_recast *r)
{
    int len;
    const char *key = "indices_or_sections", *text = ln_attr_text(&r->node.emit, key, "");
    ln_attr_require(&r->node.emit, key);
    if (*text >= '0' && *text <= '9')
        return (uint32_t)ln_attr_int_in(&r->node.emit, key, 1, 1, 1 << 16);
    ln_attr_ints(&r->node.emit, key, &len);
    return (uint32_t)len + 1;
}

static void keep_node(ln_nnvm_recast *r)
{
    const int len = ln_nnvm_num_inputs(&r->node);
    const ln_nnvm_vertex *v = r->node.vertex;
    const char *op = v->op;
    size_t k = 0;
    while (several_outputs[k].op && strcmp(several_outputs[k].op, op))
        k++;
    const int splits = !strcmp(op, "split");
    const uint32_t parts = splits ? count_parts(r) : 0;
    ln_nnvm_recast_begin(r, op, 0, NULL);
    for (int i = 0; i < len; i++)
        ln_nnvm_draft_arg(r->draft, ln_nnvm_recast_in(r, i));
    for (size_t i = 0; i < v->n_deps; i++)
        ln_nnvm_draft_dep(r->draft, r->core->outs[v->deps[i]].entries[0]);
    ln_nnvm_draft_set_origin(r->draft, v->at);
    for (size_t i = 0; i < v->n_attrs; i++)
        if (!ln_nnvm_is_harmless(&r->node, v->attrs[i].key))
            ln_nnvm_recast_attr(r, v->attrs[i].key, v->attrs[i].key);
    ln_nnvm_entry entry = ln_nnvm_draft_end(r->draft, splits ? parts : several_outputs[k].all);
    for (uint32_t i = 0; i < (splits ? parts : several_outputs[k].usable); i++, entry.index++)
        ln_nnvm_recast_out(r, i, entry);
}

// Nodes

// A node of MXNet that has a translator of its own, to be read.
static void leave_node(ln_nnvm_recast *r)
{
    const ln_nnvm_vertex *v = r->node.vertex;
    const int len = ln_nnvm_num_inputs(&r->node);
    ln_nnvm_draft_begin(r->draft, v->op, v->name);
    for (int i = 0; i < len; i++)
        ln_nnvm_draft_arg(r->draft, ln_nnvm_recast_in(r, i));
    ln_nnvm_draft_set_origin(r->draft, v->at);
    ln_nnvm_recast_out(r, 0, ln_nnvm_draft_end(r->draft, 1));
    r->core->outs[v->at].stays = !ln_nnvm_failed(&r->node);
}

static void rewrite_node(ln_nnvm_core *c, ln_nnvm_vertex *v)
{
    ln_nnvm_recast r = recast_init(c, v);
    if (c->is_reading && v->row->translate) {
        leave_node(&r);
        return;
    }
    ln_nnvm_check_inputs(&r.node);
    if (c->model->graph.dialect == LN_NNVM_CORE) {
        keep_node(&r);
        return;
    }
    r.row = ln_nnvm_find_rewriter(v->op);
    if (r.row)
        r.row->rewrite(&r);
    else
        ln_nnvm_recast_lacks(&r, 1);
    ln_nnvm_check_attrs(&r.node);
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
        ln_nnvm_recast r = recast_init(c, &g->nodes[g->heads[i].node]);
        ln_nnvm_draft_head(c->draft, find_entry(&r, &g->heads[i]));
    }
}

// The whole, to be read

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

// The whole, to be written

// 1: it needs information beyond the graph, such as shapes.
static int rewrite(ln_nnvm_core *c)
{
    const unsigned long failures = ln_alloc_failures();
    c->model->graph.keeps_deps = 1;
    ln_nnvm_choose_rows(c->model);
    if (c->model->base.failed)
        return -1;
    if (c->model->graph.dialect == LN_NNVM_CORE)
        ln_nnvm_draft_keep_attrs(c->draft, &c->model->graph);
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
