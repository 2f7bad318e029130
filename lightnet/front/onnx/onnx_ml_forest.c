// SPDX-License-Identifier: Apache-2.0
// The nodes of the operator tree_ensemble that a forest becomes.

#include "front/onnx/onnx_ml_forest.h"

#include <limits.h>
#include <math.h>

#include "front/onnx/onnx_ml_post.h"
#include "tensorlight/tl_util.h"

void *ln_onnx_forest_array(ln_onnx_node *n, size_t len, size_t size)
{
    size_t bytes;
    if (ln_onnx_failed(n) || ln_size_mul(len + 1, size, &bytes)) {
        if (!ln_onnx_failed(n))
            ln_emit_fail_memory(&n->emit);
        return NULL;
    }
    return ln_translation_alloc(&n->model->base, bytes);
}

// The nodes that a forest becomes, while they are numbered and written.
typedef struct nodes {
    const ln_onnx_forest *w;
    int *first;          // [vertices]: 1 + the first node of a vertex; 0: no row reaches it
    int *order, n_order; // reached vertices, each tree level by level
    int *leaf, n_leaves; // [vertices]: 1 + the index of a leaf; 0: no row reaches it
    int len;             // nodes
    tl_tensor *split, *feature, *child;
} nodes;

// Whether the comparison of a branch has the same result for all numbers.
static int is_constant_branch(const ln_onnx_forest *w, int v)
{
    return w->mode[v] == LN_TREE_MEMBER ? w->set[v] == w->set[v + 1]
                                        : w->mode[v] != LN_TREE_LEAF && isnan(w->split[v]);
}

// How many nodes a vertex becomes.
static int64_t size_of_vertex(const ln_onnx_forest *w, int v)
{
    if (is_constant_branch(w, v))
        return 1;
    if (w->mode[v] == LN_TREE_MEMBER)
        return 3 * (int64_t)(w->set[v + 1] - w->set[v]) - 1;
    return w->mode[v] == LN_TREE_EQ || w->mode[v] == LN_TREE_NEQ ? 2 : 1;
}

static int add_vertex(nodes *g, int v)
{
    if (g->first[v])
        return 0;
    const int64_t end = g->len + size_of_vertex(g->w, v);
    if (end > INT_MAX / 2) {
        ln_emit_fail(&g->w->n->emit, "its trees have more than %d nodes after expansion",
                     INT_MAX / 2);
        return -1;
    }
    g->first[v] = 1 + g->len;
    g->order[g->n_order++] = v;
    g->len = (int)end;
    return 0;
}

// Numbers the nodes; -1 after a failure.
static int number_nodes(nodes *g)
{
    const ln_onnx_forest *const w = g->w;
    g->first = ln_onnx_forest_array(w->n, (size_t)w->len, sizeof(*g->first));
    g->order = ln_onnx_forest_array(w->n, (size_t)w->len, sizeof(*g->order));
    for (int t = 0, i = 0; g->order && t < w->n_roots; t++) {
        if (add_vertex(g, w->root[t]))
            return -1;
        for (; i < g->n_order; i++) {
            const int v = g->order[i];
            const int *const to = w->child + 2 * (size_t)v;
            if (w->mode[v] != LN_TREE_LEAF && (add_vertex(g, to[0]) || add_vertex(g, to[1])))
                return -1;
        }
    }
    return g->order ? 0 : -1;
}

static tl_tensor *new_tensor(const nodes *g, tl_dtype dtype, int ndim, const int *dims)
{
    if (ln_onnx_failed(g->w->n))
        return NULL;
    tl_tensor *const t = tl_tensor_zeros(ndim, dims, dtype);
    if (!t)
        ln_emit_fail_memory(&g->w->n->emit);
    return t;
}

// Element `i` of a tensor of the type to compute in; infinities stay.
static void store(const ln_onnx_forest *w, tl_tensor *t, int i, double x)
{
    if (w->dtype == TL_DOUBLE)
        ((double *)t->data)[i] = x;
    else
        ((float *)t->data)[i] = (float)x;
}

// The next number below `x` in the type to compute in; NaN for -inf: x <= NaN is always false.
static double below(const ln_onnx_forest *w, double x)
{
    if (x == -INFINITY)
        return NAN;
    return w->dtype == TL_FLOAT ? (double)nextafterf((float)x, -INFINITY) : nextafter(x, -INFINITY);
}

// Node i: feature <= split, or -feature <= split if is_negated, goes to `yes`, others and NaN to
// `no`.
static void write_node(const nodes *g, int i, int v, int is_negated, double split, int yes, int no)
{
    const ln_onnx_forest *const w = g->w;
    int32_t *const child = (int32_t *)g->child->data + 2 * (size_t)i;
    ((int32_t *)g->feature->data)[i] = w->feature[v] + (is_negated ? w->features : 0);
    store(w, g->split, i, split);
    child[0] = yes;
    child[1] = no;
}

// Writes nodes i and k: feature == x goes to `yes`, others to `no`, NaN to `nan`, one of these.
static void write_equal(const nodes *g, int i, int k, int v, double x, int yes, int no, int nan)
{
    if (nan == no) { // at most x, and at least x
        write_node(g, i, v, 0, x, k, no);
        write_node(g, k, v, 1, -x, yes, no);
    } else { // neither below x nor above it
        write_node(g, i, v, 0, below(g->w, x), no, k);
        write_node(g, k, v, 1, below(g->w, -x), no, yes);
    }
}

// A part of a set, and the node that searches it.
typedef struct search {
    int begin, end, node;
} search;

// A binary search for the feature among the members of a set.
static void write_member(const nodes *g, int v, int yes, int no)
{
    const ln_onnx_forest *const w = g->w;
    int node = g->first[v] - 1, depth = 1;
    search todo[64] = {{w->set[v], w->set[v + 1], node++}}; // a stack, one half of each level
    while (depth > 0) {
        const search s = todo[--depth];
        if (s.end - s.begin == 1) {
            write_equal(g, s.node, node++, v, w->members[s.begin], yes, no,
                        w->tracks_true[v] ? yes : no);
            continue;
        }
        const int middle = s.begin + (s.end - s.begin) / 2;
        write_node(g, s.node, v, 0, below(w, w->members[middle]), node, node + 1);
        todo[depth++] = (search){s.begin, middle, node++};
        todo[depth++] = (search){middle, s.end, node++};
    }
}

// Each comparison as <=: x < s is x <= the next number below s, x >= s is -x <= -s. [1]: the
// negation, for branches on which NaN is true, since NaN <= s is false.
static const struct {
    uint8_t is_negated, is_below;
} as_leq[][2] = {
    [LN_TREE_LEQ] = {{0, 0}, {1, 1}},
    [LN_TREE_LT] = {{0, 1}, {1, 0}},
    [LN_TREE_GTE] = {{1, 0}, {0, 1}},
    [LN_TREE_GT] = {{1, 1}, {0, 0}},
};

static void write_branch(const nodes *g, int v)
{
    const ln_onnx_forest *const w = g->w;
    const int i = g->first[v] - 1;
    const int *const to = w->child + 2 * (size_t)v;
    const int yes = g->first[to[0]] - 1, no = g->first[to[1]] - 1, tracks = w->tracks_true[v];
    const double x = w->split[v];
    if (is_constant_branch(w, v))
        write_node(g, i, v, 0, INFINITY, w->mode[v] == LN_TREE_NEQ ? yes : no,
                   tracks || w->mode[v] == LN_TREE_NEQ ? yes : no);
    else if (w->mode[v] == LN_TREE_MEMBER)
        write_member(g, v, yes, no);
    else if (w->mode[v] == LN_TREE_EQ)
        write_equal(g, i, i + 1, v, x, yes, no, tracks ? yes : no);
    else if (w->mode[v] == LN_TREE_NEQ) // also true for NaN
        write_equal(g, i, i + 1, v, x, no, yes, yes);
    else {
        const int is_negated = as_leq[w->mode[v]][tracks].is_negated;
        const double split = is_negated ? -x : x;
        write_node(g, i, v, is_negated,
                   as_leq[w->mode[v]][tracks].is_below ? below(w, split) : split, tracks ? no : yes,
                   tracks ? yes : no);
    }
}

// Whether no node reaches itself: topological sorting reaches all nodes.
static int is_acyclic(const nodes *g)
{
    const int32_t *const feature = g->feature->data, *const child = g->child->data;
    int *const parents = ln_onnx_forest_array(g->w->n, (size_t)g->len, sizeof(*parents));
    int *const order = ln_onnx_forest_array(g->w->n, (size_t)g->len, sizeof(*order));
    int len = 0;
    for (int i = 0; order && i < g->len; i++)
        for (size_t k = 0; k < 2 && feature[i] >= 0; k++)
            parents[child[2 * (size_t)i + k]]++;
    for (int i = 0; order && i < g->len; i++)
        if (!parents[i])
            order[len++] = i;
    for (int i = 0; i < len; i++)
        for (size_t k = 0; k < 2 && feature[order[i]] >= 0; k++)
            if (--parents[child[2 * (size_t)order[i] + k]] == 0)
                order[len++] = child[2 * (size_t)order[i] + k];
    return len == g->len;
}

// The arguments of the operator.
typedef struct arguments {
    const char *split, *feature, *child, *root, *weight, *target, *start, *base;
} arguments;

// A new constant; takes the tensor.
static const char *to_constant(const nodes *g, tl_tensor *t, const char *name)
{
    ln_translation *const base = &g->w->n->model->base;
    const LnOnnx__Node *const proto = g->w->n->proto;
    const char *const output = proto->n_output ? proto->output[0] : "";
    if (!t || ln_onnx_failed(g->w->n)) {
        tl_tensor_free_data_too(t);
        return NULL;
    }
    return ln_translation_weight(
        base, t, NULL, 0,
        ln_translation_print(base, "%.*s_%s", ln_name_stem(output), output, name));
}

// The tensors of nodes. Numbers the leaves that rows reach.
static void write_nodes(nodes *g, arguments *a)
{
    const ln_onnx_forest *const w = g->w;
    const int of_two[] = {g->len, 2};
    g->leaf = ln_onnx_forest_array(w->n, (size_t)w->len, sizeof(*g->leaf));
    g->split = new_tensor(g, w->dtype, 1, &g->len);
    g->feature = new_tensor(g, TL_INT32, 1, &g->len);
    g->child = new_tensor(g, TL_INT32, 2, of_two);
    tl_tensor *const root = new_tensor(g, TL_INT32, 1, &w->n_roots);
    for (int i = 0; root && i < g->n_order; i++) {
        const int v = g->order[i], node = g->first[v] - 1;
        if (w->mode[v] != LN_TREE_LEAF) {
            write_branch(g, v);
            continue;
        }
        ((int32_t *)g->feature->data)[node] = -1;
        ((int32_t *)g->child->data)[2 * (size_t)node] = g->n_leaves;
        g->leaf[v] = ++g->n_leaves;
    }
    for (int t = 0; root && t < w->n_roots; t++)
        ((int32_t *)root->data)[t] = g->first[w->root[t]] - 1;
    if (root && !is_acyclic(g))
        ln_emit_fail(&w->n->emit, "a node of its trees is a descendant of itself");
    a->split = to_constant(g, g->split, "split");
    a->feature = to_constant(g, g->feature, "feature");
    a->child = to_constant(g, g->child, "child");
    a->root = to_constant(g, root, "root");
}

// Votes in the order of leaves, and of the file within a leaf, by counting sort.
static void write_votes(nodes *g, arguments *a)
{
    const ln_onnx_forest *const w = g->w;
    const ln_onnx_votes *const votes = &w->votes;
    int n = 0, is_one_each = 1, is_one_target = 1;
    for (int i = 0; i < votes->len && g->leaf; i++)
        n += g->leaf[votes->vertex[i]] != 0;
    tl_tensor *const weight = new_tensor(g, w->dtype, 1, &n);
    tl_tensor *const target = new_tensor(g, TL_INT32, 1, &n);
    tl_tensor *const start = new_tensor(g, TL_INT32, 1, (int[]){g->n_leaves + 1});
    int *const next = ln_onnx_forest_array(w->n, (size_t)g->n_leaves + 1, sizeof(*next));
    for (int i = 0; next && i < votes->len; i++)
        next[g->leaf[votes->vertex[i]]]++; // of leaf l at l + 1
    for (int l = 0; next && l < g->n_leaves; l++) {
        int32_t *const at = (int32_t *)start->data + l;
        is_one_each &= next[l + 1] == 1;
        at[1] = at[0] + next[l + 1];
        next[l + 1] = at[0];
    }
    for (int i = 0; next && i < votes->len; i++) {
        const int leaf = g->leaf[votes->vertex[i]];
        if (!leaf)
            continue;
        const int to = next[leaf]++;
        ((int32_t *)target->data)[to] = votes->target[i];
        is_one_target &= votes->target[i] == 0;
        store(w, weight, to, votes->weight[i]);
    }
    a->weight = to_constant(g, weight, "weight");
    if (is_one_target)
        tl_tensor_free_data_too(target);
    else
        a->target = to_constant(g, target, "target");
    if (is_one_each)
        tl_tensor_free_data_too(start);
    else
        a->start = to_constant(g, start, "start");
}

static void write_base(const nodes *g, arguments *a)
{
    const ln_onnx_forest *const w = g->w;
    tl_tensor *const base = w->base.len > 0 ? new_tensor(g, w->dtype, 1, &w->base.len) : NULL;
    if (!base)
        return;
    for (int i = 0; i < w->base.len; i++)
        store(w, base, i, w->base.at[i]);
    a->base = to_constant(g, base, "base");
}

const char *ln_onnx_emit_forest(const ln_onnx_forest *w)
{
    nodes g = {.w = w};
    arguments a = {0};
    const char *const rows = ln_onnx_ml_rows(w->n, 0, w->dtype);
    if (number_nodes(&g))
        return NULL;
    write_nodes(&g, &a);
    write_votes(&g, &a);
    write_base(&g, &a);
    return LN_EMIT(&w->n->emit, LN_EMIT_TEMP, LN_OP_TREE_ENSEMBLE, LN_ARG("src", rows),
                   LN_ARG("split", a.split), LN_ARG("feature", a.feature), LN_ARG("child", a.child),
                   LN_ARG("root", a.root), LN_ARG("weight", a.weight), LN_ARG("target", a.target),
                   LN_ARG("start", a.start), LN_ARG("base", a.base),
                   LN_INT("targets", w->n_targets), LN_TEXT("aggregate", w->aggregate));
}
