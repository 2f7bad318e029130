// SPDX-License-Identifier: Apache-2.0
// Checks of a model before any size is known, in its graph, subgraphs, and the functions that it
// calls: unknown operators, nodes that violate the schemas of their operators, values that no node
// produces, and the number of nodes after expanding calls.

#include <inttypes.h>
#include <stdio.h>

#include "front/ln_missing.h"
#include "front/onnx/ln_onnx_compound.h"
#include "front/onnx/ln_onnx_model.h"
#include "front/onnx/ln_onnx_schema.h"
#include "ir/ln_limits.h"
#include "lightnet/ln_hash.h"

// Visiting the nodes of graphs and functions, each once

typedef struct visitor visitor;

// Checks a node; `f`: the function of the model that it calls, or NULL.
typedef void (*visit_func)(visitor *s, ln_onnx_node *n, const LnOnnx__Function *f);

struct visitor {
    ln_onnx_model *model;
    visit_func visit;
    int checks_values; // also checks the order of nodes, and outputs of graphs
    ln_missing missing;
    ln_onnx_leftovers leftovers;
    ln_hash *visited; // functions
    int depth;
};

static void visit_nodes(visitor *s, ln_onnx_scope *scope, LnOnnx__Node *const *nodes, size_t n);

static void define(ln_onnx_scope *scope, const char *name)
{
    ln_onnx_scope_set(scope, ln_onnx_text(name), ln_onnx_text(name));
}

static void define_outputs(ln_onnx_scope *scope, LnOnnx__Node *const *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < nodes[i]->n_output; k++)
            define(scope, nodes[i]->output[k]);
}

static void define_inputs(ln_onnx_scope *scope, const LnOnnx__Graph *g)
{
    for (size_t i = 0; i < g->n_input && !scope->model->base.failed; i++) {
        const char *const name = ln_onnx_text(g->input[i]->name);
        if (ln_hash_find(scope->names, name))
            ln_translation_fail(&scope->model->base,
                                "input '%s' is listed twice; expected one definition of each name",
                                name);
        define(scope, name);
    }
}

static void define_all(ln_onnx_scope *scope, const LnOnnx__Graph *g)
{
    define_inputs(scope, g);
    for (size_t i = 0; i < g->n_initializer; i++)
        define(scope, g->initializer[i]->name);
    for (size_t i = 0; i < g->n_sparse_initializer; i++)
        if (g->sparse_initializer[i]->values)
            define(scope, g->sparse_initializer[i]->values->name);
    define_outputs(scope, g->node, g->n_node);
}

static void check_outputs(const ln_onnx_scope *scope, const LnOnnx__Graph *g)
{
    for (size_t i = 0; i < g->n_output; i++)
        if (!ln_onnx_scope_get(scope, ln_onnx_text(g->output[i]->name)))
            ln_translation_fail(&scope->model->base, "output '%s' is not produced by any node",
                                ln_onnx_text(g->output[i]->name));
}

// `scope`: of the model, or of the node that contains the graph.
static void visit_graph(visitor *s, const ln_onnx_scope *scope, const LnOnnx__Graph *g)
{
    ln_onnx_scope inner;
    if (ln_onnx_scope_init(&inner, s->model, scope))
        return;
    define_all(&inner, g);
    visit_nodes(s, &inner, g->node, g->n_node);
    if (s->checks_values)
        check_outputs(&inner, g);
    ln_onnx_scope_clear(&inner);
}

static void visit_function(visitor *s, const LnOnnx__Function *f)
{
    ln_onnx_scope scope;
    const int is_new = ln_hash_insert(s->visited, f, NULL);
    if (is_new < 0)
        ln_translation_fail_memory(&s->model->base);
    if (is_new <= 0 || ln_onnx_scope_init(&scope, s->model, NULL))
        return;
    scope.opsets = (const LnOnnx__OperatorSet *const *)f->opset_import;
    scope.n_opsets = f->n_opset_import;
    for (size_t i = 0; i < f->n_input; i++)
        define(&scope, f->input[i]);
    define_outputs(&scope, f->node, f->n_node);
    visit_nodes(s, &scope, f->node, f->n_node);
    ln_onnx_scope_clear(&scope);
}

static void visit_node(visitor *s, ln_onnx_scope *scope, const LnOnnx__Node *node)
{
    const LnOnnx__Function *f = ln_onnx_find_function(s->model, node);
    ln_onnx_node n = ln_onnx_node_init(scope, node);
    n.emit.version = n.opset = ln_onnx_scope_opset(scope, node->domain);
    n.row = f ? NULL : ln_onnx_find_row(node->domain, node->op_type, n.opset);
    s->visit(s, &n, f);
    if (f)
        visit_function(s, f);
    for (size_t i = 0; i < node->n_attribute; i++)
        if (node->attribute[i]->g)
            visit_graph(s, scope, node->attribute[i]->g);
}

static void visit_nodes(visitor *s, ln_onnx_scope *scope, LnOnnx__Node *const *nodes, size_t n)
{
    if (s->depth >= LN_ONNX_MAX_DEPTH) // translation rejects it
        return;
    s->depth++;
    if (s->checks_values)
        ln_onnx_sort(s->model, nodes, n);
    for (size_t i = 0; i < n && !s->model->base.failed; i++) {
        visit_node(s, scope, nodes[i]);
        ln_translation_check(&s->model->base);
    }
    s->depth--;
}

// `scope`: of the model.
static void visit_all(visitor *s, const ln_onnx_scope *scope, visit_func visit)
{
    if (s->model->base.failed)
        return;
    s->visit = visit;
    s->visited = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    if (s->visited)
        visit_graph(s, scope, s->model->proto->graph);
    else
        ln_translation_fail_memory(&s->model->base);
    ln_hash_free(s->visited);
}

// Checks of nodes

static void note_missing(visitor *s, ln_onnx_node *n, const LnOnnx__Function *f)
{
    char name[256];
    const LnOnnx__Node *const node = n->proto;
    if (f || (n->row && n->row->translate))
        return;
    const int is_default = ln_onnx_is_default_domain(node->domain);
    const ln_missing_op op = {.domain = is_default ? "" : node->domain,
                              .optype = ln_onnx_text(node->op_type),
                              .version = n->opset,
                              .first = ln_onnx_text(node->name),
                              .reason =
                                  ln_onnx_why_missing(&s->model->base, node, n->row, n->opset)};
    snprintf(name, sizeof(name), "%.120s%s%.120s", op.domain, is_default ? "" : ".", op.optype);
    ln_missing_note(&s->missing, name, &op);
}

static void check_schema(visitor *s, ln_onnx_node *n, const LnOnnx__Function *f)
{
    ln_onnx_check_node(n, f, &s->leftovers);
}

static void check_inputs(visitor *s, ln_onnx_node *n, const LnOnnx__Function *f)
{
    (void)s;
    (void)f;
    for (size_t i = 0; i < n->proto->n_input; i++)
        ln_onnx_any_optional(n, (int)i);
}

// The number of nodes

typedef struct node_counter {
    ln_onnx_model *model;
    ln_hash *counts; // function message -> its nodes
    int depth;
} node_counter;

static size_t add(size_t a, size_t b)
{
    return ln_size_add(a, b, &a) ? SIZE_MAX : a;
}

static size_t count_node(node_counter *c, const LnOnnx__Node *node);

static size_t count_nodes(node_counter *c, LnOnnx__Node *const *nodes, size_t n)
{
    size_t sum = 0;
    if (c->depth >= LN_ONNX_MAX_DEPTH) // translation rejects it
        return 0;
    c->depth++;
    for (size_t i = 0; i < n; i++)
        sum = add(sum, count_node(c, nodes[i]));
    c->depth--;
    return sum;
}

static void note_count(node_counter *c, const LnOnnx__Function *f, size_t n)
{
    if (ln_hash_insert(c->counts, f, (void *)n) < 0)
        ln_translation_fail_memory(&c->model->base);
}

// A function that calls itself, which translation rejects, has no nodes here.
static size_t count_function(node_counter *c, const LnOnnx__Function *f)
{
    void *known;
    if (ln_hash_find_extended(c->counts, f, NULL, &known))
        return (size_t)known;
    note_count(c, f, 0);
    const size_t n = count_nodes(c, f->node, f->n_node);
    note_count(c, f, n);
    return n;
}

static size_t count_node(node_counter *c, const LnOnnx__Node *node)
{
    const LnOnnx__Function *f = ln_onnx_find_function(c->model, node);
    size_t sum = add(1, f ? count_function(c, f) : 0);
    for (size_t i = 0; i < node->n_attribute; i++) {
        const LnOnnx__Graph *graph = node->attribute[i]->g;
        sum = add(sum, graph ? count_nodes(c, graph->node, graph->n_node) : 0);
    }
    return sum;
}

static void count_graph(node_counter *c, const LnOnnx__Graph *graph)
{
    const LnOnnx__Node *largest = NULL;
    size_t total = 0, max = 0;
    for (size_t i = 0; i < graph->n_node; i++) {
        const size_t n = count_node(c, graph->node[i]);
        total = add(total, n);
        if (n > max) {
            largest = graph->node[i];
            max = n;
        }
    }
    const uint64_t limit = ln_limits_max(c->model->base.ctx, LN_LIMIT_OPS);
    if (limit && total > limit)
        ln_translation_fail_as(&c->model->base, LN_LIMIT_REACHED,
                               "the model unfolds to %zu nodes, of which node '%s' (%s) has %zu; "
                               "they exceed the limit of %" PRIu64 " operators",
                               total, ln_onnx_text(largest->name), ln_onnx_text(largest->op_type),
                               max, limit);
}

static void check_count(ln_onnx_model *m)
{
    node_counter c = {.model = m,
                      .counts = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL)};
    if (c.counts)
        count_graph(&c, m->proto->graph);
    else
        ln_translation_fail_memory(&m->base);
    ln_hash_free(c.counts);
}

// All

static void check_opset(const ln_onnx_scope *scope)
{
    const int opset = ln_onnx_scope_opset(scope, ""), newest = ln_onnx_newest_opset("");
    if (opset > newest)
        ln_warn(
            scope->model->base.ctx,
            "%s: operator set %d is newer than the newest supported one; reading the model as %d",
            scope->model->base.file, opset, newest);
}

static void check_all(ln_onnx_model *m)
{
    ln_onnx_scope scope;
    visitor s = {.model = m, .missing = {.translation = &m->base}};
    if (ln_onnx_scope_init(&scope, m, NULL))
        return;
    ln_onnx_choose_opsets(&scope);
    check_opset(&scope);
    check_count(m);
    visit_all(&s, &scope, note_missing);
    ln_missing_report(&s.missing, "operators that are not supported");
    visit_all(&s, &scope, check_schema);
    s.checks_values = 1;
    visit_all(&s, &scope, check_inputs);
    if (!m->base.failed)
        ln_onnx_warn_of_leftovers(m, &s.leftovers);
    ln_onnx_scope_clear(&scope);
}

int ln_onnx_check(const ln_context *ctx, const char *name, LnOnnx__Model *proto)
{
    // The context only stores the reason.
    ln_onnx_model m = {.base = {.ctx = (ln_context *)ctx, .file = name},
                       .proto = proto,
                       .indexes = ln_onnx_create_indexes()};
    if (!m.indexes)
        ln_translation_fail_memory(&m.base);
    else if (ln_onnx_index_functions(&m))
        m.base.failed = 1;
    else
        check_all(&m);
    ln_hash_free(m.functions);
    ln_hash_free(m.indexes);
    ln_translation_clear(&m.base);
    return m.base.failed ? -1 : 0;
}
