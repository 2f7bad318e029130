// SPDX-License-Identifier: Apache-2.0
// Sorting the nodes of a graph: the standard requires each node after those whose outputs it
// reads, but some tools write files that are not sorted.
//
// Most files are sorted, so the first pass only compares positions. Otherwise nodes keep their
// order, but a producer that follows its consumer moves directly before it.
//
// A name has one definition. Only constants may share one: as in ONNX Runtime, all readers then use
// the last one of the file.

#include <string.h>

#include "front/onnx/ln_onnx_model.h"
#include "lightnet/ln_hash.h"
#include "tensorlight/tl_util.h"

// Names that a subgraph defines, and the subgraphs around it.
typedef struct local_names {
    ln_hash *names;
    const struct local_names *outer;
} local_names;

typedef struct sorter {
    ln_onnx_model *model;
    LnOnnx__Node *const *nodes;
    size_t n;
    ln_hash *producers; // output -> 1 + the position of its node, the last one
    size_t *earlier;    // of each node: 1 + the position of the previous constant of its name;
                        // 0: none. NULL: all 0
    size_t reader;      // the node that is being visited
    int is_unsorted;
    size_t n_reads;
    size_t *reads;  // positions of producers, those of each reader side by side; or NULL
    size_t *begins; // of each reader, where its reads begin; [n + 1]
    int depth;
} sorter;

// The values that a node reads

static void note_read(sorter *s, const local_names *l, const char *name)
{
    if (s->model->base.failed) // names of `l` may be missing
        return;
    for (; l; l = l->outer)
        if (ln_hash_find_extended(l->names, name, NULL, NULL))
            return;
    const size_t producer = (size_t)ln_hash_find(s->producers, name);
    if (!producer)
        return;
    s->is_unsorted |= producer - 1 >= s->reader;
    if (s->reads)
        s->reads[s->n_reads] = producer - 1;
    s->n_reads++;
}

static void note_earlier(sorter *s)
{
    const size_t earlier = s->earlier ? s->earlier[s->reader] : 0;
    if (!earlier)
        return;
    if (s->reads)
        s->reads[s->n_reads] = earlier - 1;
    s->n_reads++;
}

static void define(sorter *s, local_names *l, const char *name)
{
    if (l->names && name && ln_hash_insert(l->names, name, l) < 0)
        ln_translation_fail_memory(&s->model->base);
}

static void define_all(sorter *s, local_names *l, const LnOnnx__Graph *g)
{
    for (size_t i = 0; i < g->n_input; i++)
        define(s, l, g->input[i]->name);
    for (size_t i = 0; i < g->n_initializer; i++)
        define(s, l, g->initializer[i]->name);
    for (size_t i = 0; i < g->n_sparse_initializer; i++)
        if (g->sparse_initializer[i]->values)
            define(s, l, g->sparse_initializer[i]->values->name);
    for (size_t i = 0; i < g->n_node; i++)
        for (size_t k = 0; k < g->node[i]->n_output; k++)
            define(s, l, g->node[i]->output[k]);
}

static void visit_node(sorter *s, const local_names *l, const LnOnnx__Node *node);

static void visit_graph(sorter *s, const local_names *outer, const LnOnnx__Graph *g)
{
    if (s->depth >= LN_ONNX_MAX_DEPTH) // translation rejects it
        return;
    local_names l = {ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL), outer};
    if (!l.names) {
        ln_translation_fail_memory(&s->model->base);
        return;
    }
    s->depth++;
    define_all(s, &l, g);
    for (size_t i = 0; i < g->n_node; i++)
        visit_node(s, &l, g->node[i]);
    for (size_t i = 0; i < g->n_output; i++)
        if (g->output[i]->name)
            note_read(s, &l, g->output[i]->name);
    s->depth--;
    ln_hash_free(l.names);
}

static void visit_node(sorter *s, const local_names *l, const LnOnnx__Node *node)
{
    for (size_t i = 0; i < node->n_input; i++)
        if (*node->input[i])
            note_read(s, l, node->input[i]);
    for (size_t i = 0; i < node->n_attribute; i++)
        if (node->attribute[i]->g)
            visit_graph(s, l, node->attribute[i]->g);
}

static void visit_nodes(sorter *s)
{
    s->n_reads = 0;
    for (s->reader = 0; s->reader < s->n && !s->model->base.failed; s->reader++) {
        if (s->begins)
            s->begins[s->reader] = s->n_reads;
        note_earlier(s);
        visit_node(s, NULL, s->nodes[s->reader]);
    }
    if (s->begins)
        s->begins[s->n] = s->n_reads;
}

// Order

enum { NEW, OPEN, DONE }; // OPEN: its inputs are being sorted

static void fail_cycle(sorter *s, const LnOnnx__Node *node)
{
    ln_translation_fail_as(&s->model->base, LN_BAD_MODEL,
                           "node '%s' (%s): it reads what is computed from its own outputs",
                           ln_onnx_text(node->name), ln_onnx_text(node->op_type));
}

// Appends a node to `order` at `at`, after its producers (depth-first: `path` is the stack, next[i]
// the next read of node i to visit). Returns the position after it.
static size_t append_after_producers(sorter *s, size_t first, unsigned char *states, size_t *path,
                                     size_t *next, LnOnnx__Node **order, size_t at)
{
    size_t len = 1;
    path[0] = first;
    states[first] = OPEN;
    next[first] = s->begins[first];
    while (len) {
        const size_t i = path[len - 1];
        if (next[i] == s->begins[i + 1]) {
            states[i] = DONE;
            order[at++] = s->nodes[i];
            len--;
            continue;
        }
        const size_t needed = s->reads[next[i]++];
        if (states[needed] == OPEN) {
            fail_cycle(s, s->nodes[needed]);
            return at;
        }
        if (states[needed] == DONE)
            continue;
        path[len++] = needed;
        states[needed] = OPEN;
        next[needed] = s->begins[needed];
    }
    return at;
}

static void *alloc(sorter *s, size_t n, size_t size)
{
    size_t bytes;
    if (!ln_size_mul(n, size, &bytes))
        return ln_translation_alloc(&s->model->base, bytes ? bytes : 1);
    return ln_translation_fail_memory(&s->model->base), NULL;
}

// NULL after a failure.
static LnOnnx__Node *const *sort(sorter *s)
{
    LnOnnx__Node **const order = alloc(s, s->n, sizeof(*order));
    unsigned char *const states = alloc(s, s->n, 1);
    size_t *const path = alloc(s, s->n, sizeof(*path)), *const next = alloc(s, s->n, sizeof(*next));
    s->reads = alloc(s, s->n_reads, sizeof(*s->reads));
    s->begins = alloc(s, s->n + 1, sizeof(*s->begins));
    if (s->model->base.failed)
        return NULL;
    memset(states, NEW, s->n);
    visit_nodes(s);
    for (size_t i = 0, at = 0; i < s->n && !s->model->base.failed; i++)
        if (states[i] == NEW)
            at = append_after_producers(s, i, states, path, next, order, at);
    return s->model->base.failed ? NULL : order;
}

static int is_constant(const LnOnnx__Node *node)
{
    return ln_onnx_is_default_domain(node->domain) &&
           ln_streq(ln_onnx_text(node->op_type), "Constant");
}

// The name of the node, or else of its first output.
static const char *name_of(const LnOnnx__Node *node)
{
    const char *const name = ln_onnx_text(node->name);
    return *name || !node->n_output ? name : node->output[0];
}

// Nodes `i` and `earlier` - 1 have outputs of one name: an error, unless both are constants.
static void enter_duplicate(sorter *s, size_t i, const char *name, size_t earlier)
{
    const LnOnnx__Node *const node = s->nodes[i], *const other = s->nodes[earlier - 1];
    if (!is_constant(node) || !is_constant(other)) {
        ln_translation_fail_as(
            &s->model->base, LN_BAD_MODEL,
            "'%s' is defined twice, by node '%s' (%s) and node '%s' (%s); expected "
            "one definition of each name",
            name, name_of(other), ln_onnx_text(other->op_type), name_of(node),
            ln_onnx_text(node->op_type));
        return;
    }
    ln_onnx_warn_of_duplicates(s->model, name, "nodes of type Constant");
    if (!s->earlier)
        s->earlier = alloc(s, s->n, sizeof(*s->earlier));
    if (s->earlier)
        s->earlier[i] = earlier;
}

static void enter_producer(sorter *s, size_t i, const char *name)
{
    const size_t earlier = (size_t)ln_hash_find(s->producers, name);
    if (earlier)
        enter_duplicate(s, i, name, earlier);
    if (ln_hash_insert(s->producers, name, (void *)(i + 1)) < 0)
        ln_translation_fail_memory(&s->model->base);
}

static void enter_producers(sorter *s)
{
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->nodes[i]->n_output && !s->model->base.failed; k++)
            if (*s->nodes[i]->output[k])
                enter_producer(s, i, s->nodes[i]->output[k]);
}

void ln_onnx_warn_of_duplicates(ln_onnx_model *m, const char *name, const char *what)
{
    if (!m->has_warned_of_duplicates)
        ln_warn(m->base.ctx, "%s: '%s' is defined twice, by %s; the last one counts", m->base.file,
                name, what);
    m->has_warned_of_duplicates = 1;
}

LnOnnx__Node *const *ln_onnx_sort(ln_onnx_model *m, LnOnnx__Node *const *nodes, size_t n)
{
    sorter s = {.model = m,
                .nodes = nodes,
                .n = n,
                .producers = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL)};
    LnOnnx__Node *const *order = nodes;
    if (!s.producers) {
        ln_translation_fail_memory(&m->base);
    } else {
        enter_producers(&s);
        visit_nodes(&s);
        if (s.is_unsorted && !m->base.failed)
            order = sort(&s);
    }
    ln_hash_free(s.producers);
    return m->base.failed ? NULL : order;
}
