// SPDX-License-Identifier: Apache-2.0
// Whether all operators of a model are known: in its graph, the graphs within nodes, and functions.

#include "front/onnx/ln_onnx_support.h"

#include <stdio.h>

#include "lightnet/ln_list.h"

enum { MAX_DEPTH = 64 };

/* An operator that cannot be translated. */
typedef struct unsupported {
    const char *domain, *op_type, *why;
    int count;
} unsupported;

typedef struct survey {
    ln_onnx_model *model;
    ln_list *found;  /* unsupported, in order */
    ln_hash *looked; /* functions that were looked at */
    int depth;
} survey;

static unsupported *find(const survey *s, const char *domain, const char *op_type)
{
    unsupported *u;
    LN_LIST_FOREACH(u, s->found)
    {
        if (ln_streq(u->domain, domain) && ln_streq(u->op_type, op_type))
            return u;
    }
    return NULL;
}

static void note(survey *s, const LnOnnx__Node *node, const char *why)
{
    const char *domain = ln_onnx_is_default_domain(node->domain) ? "" : node->domain;
    const char *op_type = node->op_type ? node->op_type : "";
    unsupported *u = find(s, domain, op_type);
    if (u) {
        u->count++;
        return;
    }
    u = ln_alloc(sizeof(*u));
    ln_list *longer = u ? ln_list_append(s->found, u) : NULL;
    if (!longer) {
        ln_free(u);
        ln_translation_fail(&s->model->base, "out of memory");
        return;
    }
    s->found = longer;
    *u = (unsupported){domain, op_type, why, 1};
}

static void look_at_nodes(survey *s, const ln_onnx_scope *scope, LnOnnx__Node *const *nodes,
                          size_t n);

static void look_at_function(survey *s, const LnOnnx__Function *f)
{
    const int is_new = ln_hash_insert(s->looked, f, NULL);
    if (is_new < 0)
        ln_translation_fail(&s->model->base, "out of memory");
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
    const int known = ln_onnx_is_default_domain(node->domain);
    const ln_onnx_row *row = known ? ln_onnx_find_row(node->op_type ? node->op_type : "",
                                                      ln_onnx_scope_opset(scope, node->domain))
                                   : NULL;
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
    ln_translation_fail(&s->model->base, "operators that are not supported: %s", text);
}

void ln_onnx_check_support(const ln_onnx_scope *scope)
{
    survey s = {.model = scope->model,
                .looked = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL)};
    const LnOnnx__Graph *graph = s.model->proto->graph;
    if (s.looked)
        look_at_nodes(&s, scope, graph->node, graph->n_node);
    else
        ln_translation_fail(&s.model->base, "out of memory");
    if (s.found)
        report(&s);
    ln_hash_free(s.looked);
    ln_list_free_deep(s.found, ln_free);
}
