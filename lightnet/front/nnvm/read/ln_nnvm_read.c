// SPDX-License-Identifier: Apache-2.0
// Reading an NNVM graph into a context: variables, nodes in order, heads.
//
// A variable is a parameter or an input. The shape of a parameter may be inferred only from its
// reader, through nodes that keep shapes (a quantized weight is scaled, rounded and clipped before
// the convolution): such nodes are pending until another node reads their output.

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_name.h"
#include "base/ln_list_end.h"
#include "data/ln_data_give.h"
#include "front/ln_front.h"
#include "front/nnvm/mxnet/ln_nnvm_core.h"
#include "front/nnvm/ln_nnvm_vars.h"
#include "front/nnvm/write/ln_nnvm_write.h"
#include "ir/ln_bind.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_weights.h"
#include "pass/ln_rewriting.h"
#include "tensorlight/tl_util.h"

// The front end of an emitter. The emitter is the node's first member.

static const ln_nnvm_node *node_of(const ln_emit *e)
{
    return (const ln_nnvm_node *)e;
}

static void place(const ln_emit *e, char *buf, size_t size)
{
    const ln_nnvm_vertex *v = node_of(e)->vertex;
    v = v->origin ? v->origin : v;
    snprintf(buf, size, "nodes[%zu] \"%.256s\" (%.128s)", v->at, v->name, v->op);
}

static const char *name(const ln_emit *e)
{
    return node_of(e)->vertex->name;
}

static const char *type(const ln_emit *e)
{
    return node_of(e)->vertex->op;
}

static const char *output(const ln_emit *e, int i)
{
    return ln_nnvm_output_name(e->translation, name(e), (uint32_t)i);
}

// Records output `i`; outputs come in order.
static void set_output(ln_emit *e, int i, const char *tensor)
{
    ln_nnvm_vertex *v = node_of(e)->vertex;
    if (i >= 0 && (uint32_t)i == v->n_outs)
        LN_TRANSLATION_ADD(e->translation, v->outs, v->n_outs, tensor);
}

ln_nnvm_node ln_nnvm_node_init(ln_nnvm_model *m, ln_nnvm_vertex *v)
{
    static const ln_emit_front front = {&ln_nnvm_attrs, place,      name, type,
                                        output,         set_output, NULL};
    return (ln_nnvm_node){
        .emit = {.translation = &m->base, .front = &front}, .model = m, .vertex = v, .row = v->row};
}

int ln_nnvm_failed(const ln_nnvm_node *n)
{
    return n->model->base.failed;
}

int ln_nnvm_is_mxnet(const ln_nnvm_node *n)
{
    return n->vertex->is_mxnet;
}

int ln_nnvm_was_mxnet(const ln_nnvm_node *n)
{
    return ln_nnvm_is_mxnet(n) || n->vertex->origin;
}

const tl_tensor *ln_nnvm_tensor_of(const ln_nnvm_node *n, const char *tensor)
{
    return ln_translation_tensor(&n->model->base, tensor);
}

void ln_nnvm_alias(ln_nnvm_node *n, int i, const char *tensor)
{
    if (tensor && !ln_nnvm_failed(n))
        set_output(&n->emit, i, tensor);
}

// Nodes

int ln_nnvm_is_harmless(const ln_nnvm_node *n, const char *key)
{
    static const char *const annotations[] = {"ctx_group", "lr_mult", "wd_mult", "force_mirroring",
                                              "mirror_stage"};
    const size_t len = strlen(key);
    if (len >= 4 && !strncmp(key, "__", 2) && ln_ends_with(key, len, "__"))
        return 1;
    for (size_t i = 0; i < sizeof(annotations) / sizeof(annotations[0]); i++) {
        const size_t tail = strlen(annotations[i]);
        if (ln_ends_with(key, len, annotations[i]) && (len == tail || key[len - tail - 1] == '_'))
            return 1;
    }
    return n->row->ignored && ln_has_word(n->row->ignored, key);
}

void ln_nnvm_check_attrs(ln_nnvm_node *n)
{
    for (size_t i = 0; i < n->vertex->n_attrs; i++) {
        const ln_nnvm_attr *a = &n->vertex->attrs[i];
        const int is_given = strcmp(a->value, "None") != 0;
        if (is_given && !a->is_read && !ln_nnvm_is_harmless(n, a->key))
            ln_emit_fail(&n->emit, "unknown attribute '%.128s' (\"%.128s\")", a->key, a->value);
    }
}

void ln_nnvm_check_inputs(ln_nnvm_node *n)
{
    const ln_nnvm_row *row = n->row;
    const int len = ln_nnvm_num_inputs(n);
    // Old files may omit parameters at the end.
    const int min = n->model->graph.is_oldest && row->weights ? 1 : row->min;
    if (len >= min && (!row->max || len <= row->max))
        return;
    if (row->max > min)
        ln_emit_fail(&n->emit, "%d inputs, expected %d to %d", len, min, row->max);
    else
        ln_emit_fail(&n->emit, "%d inputs, expected %s%d", len, row->max ? "" : "at least ", min);
}

static void translate_node(ln_nnvm_model *m, ln_nnvm_vertex *v)
{
    ln_nnvm_node n = ln_nnvm_node_init(m, v);
    ln_nnvm_rename needed;
    ln_nnvm_check_inputs(&n);
    for (const char *at = v->row->needs; (at = ln_nnvm_next_rename(at, &needed));)
        ln_attr_require(&n.emit, needed.key);
    if (!m->base.failed)
        v->row->translate(&n);
    ln_emit_begin(&n.emit, NULL); // drops unfinished operators of a failure
    if (!m->base.failed)
        ln_nnvm_check_attrs(&n);
}

// Pending variables and nodes

static int is_pending(const ln_nnvm_vertex *v)
{
    return !v->n_outs;
}

// The first vertex from `v` on, along first inputs, that is not a pending shape-preserving node: a
// variable, a translated node, or `v`. While it is pending, so are all vertices up to `v`, and
// `v->root` caches it, as chains may be long.
static ln_nnvm_vertex *root_of(const ln_nnvm_model *m, ln_nnvm_vertex *v)
{
    ln_nnvm_vertex *root = v;
    while (!root->is_variable && root->row->keeps_shape && root->n_inputs && is_pending(root))
        root = root->root && is_pending(root->root) ? root->root
                                                    : &m->graph.nodes[root->inputs[0].node];
    if (root != v)
        v->root = root;
    return root;
}

// Translates pending nodes of the chain, up to `v`; by a list instead of recursion, as chains may
// be long.
static void translate_up_to(ln_nnvm_model *m, ln_nnvm_vertex *v)
{
    ln_list *path = NULL;
    for (; is_pending(v) && !v->is_variable && !m->base.failed;
         v = &m->graph.nodes[v->inputs[0].node])
        if (ln_list_push(&path, v, NULL))
            ln_translation_fail_memory(&m->base);
    LN_LIST_FOREACH (v, path)
        if (!m->base.failed)
            translate_node(m, v);
    ln_list_free(path);
}

void ln_nnvm_fail_output(ln_nnvm_node *n, const ln_nnvm_entry *e, uint32_t n_outs)
{
    ln_emit_fail(&n->emit,
                 "\"%.256s\" has %" PRIu32 " usable output%s, index %" PRIu32 " requested",
                 n->model->graph.nodes[e->node].name, n_outs, n_outs == 1 ? "" : "s", e->index);
}

static const char *entry_tensor(ln_nnvm_node *n, const ln_nnvm_entry *e)
{
    const ln_nnvm_vertex *v = &n->model->graph.nodes[e->node];
    if (e->index >= v->n_outs)
        ln_nnvm_fail_output(n, e, v->n_outs);
    return ln_nnvm_failed(n) ? NULL : v->outs[e->index];
}

int ln_nnvm_num_inputs(const ln_nnvm_node *n)
{
    return n->vertex->n_inputs < INT_MAX ? (int)n->vertex->n_inputs : INT_MAX;
}

int ln_nnvm_is_shaped(const ln_nnvm_node *n, int i)
{
    const ln_nnvm_model *m = n->model;
    return i < ln_nnvm_num_inputs(n) &&
           !is_pending(root_of(m, &m->graph.nodes[n->vertex->inputs[i].node]));
}

static void fail_shape(ln_nnvm_node *n, const ln_nnvm_vertex *variable)
{
    ln_emit_fail(&n->emit,
                 "unknown shape of variable \"%.256s\"; set it by --shape '%.256s=1x3x224x224' "
                 "(option 'shape') or a parameter file",
                 variable->name, variable->name);
}

const char *ln_nnvm_in(ln_nnvm_node *n, int i)
{
    ln_nnvm_model *m = n->model;
    if (i >= ln_nnvm_num_inputs(n))
        ln_emit_fail(&n->emit, "input %d is missing", i);
    if (ln_nnvm_failed(n))
        return NULL;
    const ln_nnvm_entry *e = &n->vertex->inputs[i];
    ln_nnvm_vertex *v = &m->graph.nodes[e->node], *root = root_of(m, v);
    if (is_pending(root))
        return fail_shape(n, root), NULL;
    translate_up_to(m, v);
    return entry_tensor(n, e);
}

const char *ln_nnvm_omitted_name(ln_nnvm_node *n, const char *arg)
{
    return ln_translation_print(&n->model->base, "%.*s_%s", ln_name_stem(n->vertex->name),
                                n->vertex->name, arg);
}

const char *ln_nnvm_weight(ln_nnvm_node *n, int i, const char *arg, int ndim, const int *dims)
{
    ln_nnvm_model *m = n->model;
    if (ln_nnvm_failed(n))
        return NULL;
    if (i >= ln_nnvm_num_inputs(n) && m->graph.is_oldest) {
        const char *own = ln_nnvm_omitted_name(n, arg);
        return own ? ln_nnvm_add_param(m, own, TL_FLOAT, ndim, dims) : NULL;
    }
    if (i < ln_nnvm_num_inputs(n)) {
        ln_nnvm_vertex *root = root_of(m, &m->graph.nodes[n->vertex->inputs[i].node]);
        if (is_pending(root) && root->is_variable)
            ln_nnvm_add_variable(m, root, ndim, dims);
    }
    return ln_nnvm_in(n, i);
}

static void translate_nodes(ln_nnvm_model *m)
{
    for (size_t i = 0; i < m->graph.n_nodes && !m->base.failed; i++) {
        ln_nnvm_vertex *v = &m->graph.nodes[i];
        // A node that keeps shapes is pending as long as its variable is.
        if (v->is_live && !v->is_variable && is_pending(v) &&
            !(v->row->keeps_shape && v->n_inputs && is_pending(root_of(m, v))))
            translate_node(m, v);
    }
}

// Heads

// Adds an output, which has its node's name and separate memory: copies a tensor that belongs to
// another node, an input, a constant, or another output.
static void add_head(ln_nnvm_model *m, ln_hash *taken, size_t k)
{
    const ln_nnvm_entry *e = &m->graph.heads[k];
    ln_nnvm_vertex *v = &m->graph.nodes[e->node];
    ln_nnvm_vertex head = {.op = "head", .name = ln_nnvm_output_name(&m->base, v->name, e->index)};
    ln_nnvm_node n = ln_nnvm_node_init(m, v);
    ln_nnvm_vertex *root = root_of(m, v);
    if (is_pending(root))
        fail_shape(&n, root);
    else
        translate_up_to(m, v);
    const char *tensor = entry_tensor(&n, e);
    if (!tensor)
        return;
    ln_nnvm_node own = ln_nnvm_node_init(m, &head);
    if (!ln_translation_can_output(&m->base, tensor, head.name) || ln_hash_find(taken, tensor))
        tensor = ln_emit_simple(&own.emit, LN_OP_FORWARD, tensor, 0);
    ln_emit_begin(&own.emit, NULL); // drops the node
    if (tensor && ln_hash_insert(taken, tensor, (void *)tensor) < 0)
        ln_translation_fail_memory(&m->base);
    if (tensor)
        ln_translation_output(&m->base, tensor);
}

static void add_heads(ln_nnvm_model *m)
{
    ln_hash *taken = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!taken)
        ln_translation_fail_memory(&m->base);
    for (size_t k = 0; k < m->graph.n_heads && !m->base.failed; k++)
        add_head(m, taken, k);
    ln_hash_free(taken);
}

// The model

// Reserves the names of nodes for their outputs, against intermediate tensors of other nodes.
static void reserve_names(ln_nnvm_model *m)
{
    m->base.reserved = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    for (size_t i = 0; m->base.reserved && i < m->graph.n_nodes; i++)
        if (ln_hash_insert(m->base.reserved, m->graph.nodes[i].name,
                           (void *)m->graph.nodes[i].name) < 0)
            ln_translation_fail_memory(&m->base);
    if (!m->base.reserved)
        ln_translation_fail_memory(&m->base);
}

static int batch_size(const ln_nnvm_model *m)
{
    int batch = 0;
    for (size_t i = 0; i < m->graph.n_variables; i++) {
        const ln_nnvm_vertex *const v = m->graph.variables[i];
        if (!v->n_outs || v->is_weight || ln_bind_param(m->base.ctx, v->name))
            continue;
        const tl_tensor *const t = ln_translation_tensor(&m->base, v->outs[0]);
        if (!t->ndim || (batch && t->dims[0] != batch))
            return 0;
        batch = t->dims[0];
    }
    return batch;
}

static void translate(ln_nnvm_model *m, ln_nnvm_draft *d)
{
    ln_nnvm_choose_rows(m);
    if (!m->base.failed)
        ln_nnvm_recast_model(m, d);
    if (!m->base.failed)
        reserve_names(m);
    if (!m->base.failed)
        ln_nnvm_add_known(m);
    if (!m->base.failed)
        m->batch_size = batch_size(m);
    if (!m->base.failed)
        translate_nodes(m);
    if (!m->base.failed)
        add_heads(m);
}

static int read_nnvm(ln_context *ctx, const char *name, ln_infile *file)
{
    ln_nnvm_model m = {.base = {.ctx = ctx, .file = name}};
    ln_nnvm_draft d;
    ctx->declared = LN_DECLARES_INPUTS | LN_DECLARES_OUTPUTS;
    ctx->weights = ln_weights_create();
    if (!ctx->weights)
        return ln_fail_memory(ctx);
    if (ln_data_look(ctx))
        return ln_fail_at(ctx, "%s", name);
    ln_nnvm_draft_init(&d, ctx, name);
    m.base.failed = d.base.failed;
    ln_nnvm_graph_read(&m.graph, &m.base, file->data, file->size);
    if (!m.base.failed)
        translate(&m, &d);
    const int status = -(m.base.failed || ln_context_index_names(ctx) || ln_cleanup_dead(ctx) < 0);
    ln_hash_free(m.base.reserved);
    ln_nnvm_draft_clear(&d);
    ln_nnvm_graph_clear(&m.graph);
    ln_translation_clear(&m.base);
    return status;
}

const ln_front ln_front_nnvm = {
    .format = "NNVM",
    .is = ln_nnvm_is,
    .asks_shapes = 1,
    .read = read_nnvm,
    .write = ln_nnvm_write,
    .rewrite = ln_nnvm_rewrite,
};
