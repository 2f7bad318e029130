// SPDX-License-Identifier: Apache-2.0
// What is told of a model before it is translated: whether all of its operators are known, in its
// graph, the graphs within nodes, and functions; and how many nodes it unfolds to.

#include <inttypes.h>
#include <stdio.h>

#include "base/ln_list_end.h"
#include "front/onnx/ln_onnx_model.h"
#include "ir/ln_limits.h"
#include "lightnet/ln_hash.h"

// Deeper graphs are refused when they are translated.
enum { MAX_DEPTH = 64 };

/* An operator that cannot be translated. */
typedef struct unsupported {
    const char *domain, *op_type, *why;
    int count;
} unsupported;

typedef struct survey {
    ln_onnx_model *model;
    ln_list *found;  /* unsupported, in order */
    ln_list *last;   /* its last node */
    ln_hash *kinds;  /* the same, themselves the keys */
    ln_hash *looked; /* functions that were looked at */
    int depth;
} survey;

static uint32_t hash_kind(const void *key)
{
    const unsupported *u = key;
    return ln_str_hash(u->domain) ^ 31 * ln_str_hash(u->op_type);
}

static int compare_kinds(const void *a, const void *b)
{
    const unsupported *u = a, *v = b;
    return !(ln_streq(u->domain, v->domain) && ln_streq(u->op_type, v->op_type));
}

// Takes `u`, also on failure.
static void enter(survey *s, unsupported *u)
{
    if (u && !ln_list_add(&s->found, &s->last, u) && ln_hash_insert(s->kinds, u, u) >= 0)
        return;
    if (!u || !s->last || s->last->data != u)
        ln_free(u);
    ln_translation_fail_memory(&s->model->base);
}

static void note(survey *s, const LnOnnx__Node *node, const char *why)
{
    const unsupported kind = {ln_onnx_is_default_domain(node->domain) ? "" : node->domain,
                              node->op_type ? node->op_type : "", why, 1};
    unsupported *u = ln_hash_find(s->kinds, &kind);
    if (u)
        u->count++;
    else
        enter(s, ln_clone(&kind, sizeof(kind)));
}

static void look_at_nodes(survey *s, const ln_onnx_scope *scope, LnOnnx__Node *const *nodes,
                          size_t n);

static void look_at_function(survey *s, const LnOnnx__Function *f)
{
    const int is_new = ln_hash_insert(s->looked, f, NULL);
    if (is_new < 0)
        ln_translation_fail_memory(&s->model->base);
    if (is_new <= 0)
        return;
    const ln_onnx_scope scope = {.model = s->model,
                                 .opsets = (const LnOnnx__OperatorSet *const *)f->opset_import,
                                 .n_opsets = f->n_opset_import};
    look_at_nodes(s, &scope, f->node, f->n_node);
}

static void look_at_node(survey *s, const ln_onnx_scope *scope, const LnOnnx__Node *node)
{
    const LnOnnx__Function *f = ln_onnx_find_function(s->model, node);
    const ln_onnx_row *row =
        ln_onnx_find_row(node->domain, node->op_type, ln_onnx_scope_opset(scope, node->domain));
    if (f)
        look_at_function(s, f);
    else if (!row || !row->translate)
        note(s, node, row ? row->with : NULL);
    for (size_t i = 0; i < node->n_attribute; i++) {
        const LnOnnx__Attribute *a = node->attribute[i];
        if (a->g)
            look_at_nodes(s, scope, a->g->node, a->g->n_node);
    }
}

static void look_at_nodes(survey *s, const ln_onnx_scope *scope, LnOnnx__Node *const *nodes,
                          size_t n)
{
    if (s->depth >= MAX_DEPTH)
        return;
    s->depth++;
    for (size_t i = 0; i < n; i++)
        look_at_node(s, scope, nodes[i]);
    s->depth--;
}

static void report(const survey *s)
{
    char text[LN_MAXLINE] = "";
    size_t len = 0;
    const unsupported *u;
    LN_LIST_FOREACH(u, s->found)
    {
        if (len < sizeof(text))
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s%s%s (%d node%s%s%s)",
                                    len ? ", " : "", u->domain, *u->domain ? "." : "", u->op_type,
                                    u->count, u->count == 1 ? "" : "s", u->why ? "; " : "",
                                    u->why ? u->why : "");
    }
    ln_translation_fail_as(&s->model->base, LN_UNSUPPORTED, "operators that are not supported: %s",
                           text);
}

void ln_onnx_check_support(const ln_onnx_scope *scope)
{
    survey s = {.model = scope->model,
                .kinds = ln_hash_create(hash_kind, compare_kinds, NULL, NULL),
                .looked = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL)};
    const LnOnnx__Graph *graph = s.model->proto->graph;
    if (s.looked && s.kinds)
        look_at_nodes(&s, scope, graph->node, graph->n_node);
    else
        ln_translation_fail_memory(&s.model->base);
    if (s.found)
        report(&s);
    ln_hash_free(s.looked);
    ln_hash_free(s.kinds);
    ln_list_free_deep(s.found, ln_free);
}

typedef struct census {
    ln_onnx_model *model;
    ln_hash *counts; /* function message -> its nodes */
    int depth;
} census;

static size_t add(size_t a, size_t b)
{
    return ln_size_add(a, b, &a) ? SIZE_MAX : a;
}

static size_t count_node(census *c, const LnOnnx__Node *node);

static size_t count_nodes(census *c, LnOnnx__Node *const *nodes, size_t n)
{
    size_t sum = 0;
    if (c->depth >= MAX_DEPTH)
        return 0;
    c->depth++;
    for (size_t i = 0; i < n; i++)
        sum = add(sum, count_node(c, nodes[i]));
    c->depth--;
    return sum;
}

static void note_count(census *c, const LnOnnx__Function *f, size_t n)
{
    if (ln_hash_insert(c->counts, f, (void *)n) < 0)
        ln_translation_fail_memory(&c->model->base);
}

// A function that calls itself, which is refused when it is translated, has no nodes meanwhile.
static size_t count_function(census *c, const LnOnnx__Function *f)
{
    void *known;
    if (ln_hash_find_extended(c->counts, f, NULL, &known))
        return (size_t)known;
    note_count(c, f, 0);
    const size_t n = count_nodes(c, f->node, f->n_node);
    note_count(c, f, n);
    return n;
}

static size_t count_node(census *c, const LnOnnx__Node *node)
{
    const LnOnnx__Function *f = ln_onnx_find_function(c->model, node);
    size_t sum = add(1, f ? count_function(c, f) : 0);
    for (size_t i = 0; i < node->n_attribute; i++) {
        const LnOnnx__Graph *graph = node->attribute[i]->g;
        sum = add(sum, graph ? count_nodes(c, graph->node, graph->n_node) : 0);
    }
    return sum;
}

static const char *text_of(const char *text)
{
    return text ? text : "";
}

static void fail_count(ln_onnx_model *m, size_t total, const LnOnnx__Node *node, size_t n)
{
    ln_translation_fail_as(&m->base, LN_LIMIT_REACHED,
                           "the model unfolds to %zu nodes, of which node '%s' (%s) has %zu; they "
                           "exceed the limit of %" PRIu64 " operators",
                           total, text_of(node->name), text_of(node->op_type), n,
                           ln_limits_max(m->base.ctx, LN_LIMIT_OPS));
}

static void count_graph(census *c, const LnOnnx__Graph *graph)
{
    const LnOnnx__Node *largest = NULL;
    size_t total = 0, most = 0;
    for (size_t i = 0; i < graph->n_node; i++) {
        const size_t n = count_node(c, graph->node[i]);
        total = add(total, n);
        if (n > most) {
            largest = graph->node[i];
            most = n;
        }
    }
    const uint64_t limit = ln_limits_max(c->model->base.ctx, LN_LIMIT_OPS);
    if (limit && total > limit)
        fail_count(c->model, total, largest, most);
}

void ln_onnx_check_count(ln_onnx_model *m)
{
    census c = {.model = m, .counts = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL)};
    if (c.counts)
        count_graph(&c, m->proto->graph);
    else
        ln_translation_fail_memory(&m->base);
    ln_hash_free(c.counts);
}
