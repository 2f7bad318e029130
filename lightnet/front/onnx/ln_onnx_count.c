// SPDX-License-Identifier: Apache-2.0
// How many nodes a model unfolds to: those of a function at every call.
//
// Small functions that call each other twice unfold to any number. Each function is counted once.

#include "front/onnx/ln_onnx_model.h"

#include <inttypes.h>

#include "ir/ln_limits.h"

// Deeper ones are refused when they are translated.
enum { MAX_DEPTH = 64 };

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
