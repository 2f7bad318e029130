// SPDX-License-Identifier: Apache-2.0
// Whether all operators of a model are known: in its graph, the graphs within nodes, and functions.

#include "front/onnx/ln_onnx_model.h"

#include <stdio.h>

#include "base/ln_list_end.h"
#include "lightnet/ln_hash.h"

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
        return; // the translation refuses it
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
