// SPDX-License-Identifier: Apache-2.0
// Tree ensembles of the domain ai.onnx.ml: their attributes, and what classifiers and regressors
// make of votes.

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "front/onnx/onnx_ml_post.h"
#include "front/onnx/onnx_ml_forest.h"
#include "tensorlight/tl_util.h"

static const char *const mode_names[LN_TREE_MODES] = {
    "BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE", "BRANCH_GT",
    "BRANCH_EQ",  "BRANCH_NEQ", NULL,         "LEAF", // sets are a mode of TreeEnsemble only
};

// An array of an attribute.
typedef struct ints {
    const int64_t *at;
    int len;
} ints;

// Memory and attributes

static ints read_ints(ln_onnx_node *n, const char *name)
{
    ints a = {0};
    a.at = ln_attr_ints(&n->emit, name, &a.len);
    return a;
}

// An attribute with one element for each of `len` others; it may be absent if is_optional.
static ints read_ints_of(ln_onnx_node *n, const char *name, int len, int is_optional)
{
    const ints a = read_ints(n, name);
    if (a.len != len && !(is_optional && a.len == 0))
        ln_emit_fail(&n->emit, "attribute '%s' has %d elements, expected %d", name, a.len, len);
    return a;
}

static ln_onnx_numbers numbers_of(ln_onnx_node *n, const void *data, tl_dtype dtype, int len)
{
    double *const at = ln_onnx_forest_array(n, (size_t)len, sizeof(*at));
    if (at && len > 0)
        tl_convert_array(at, TL_DOUBLE, data, dtype, (size_t)len);
    return (ln_onnx_numbers){at, at ? len : 0};
}

// A tensor; `*dtype` becomes TL_DOUBLE if its elements are doubles.
static ln_onnx_numbers read_tensor(ln_onnx_node *n, const char *name, tl_dtype *dtype)
{
    const char *const tensor = ln_onnx_attr_tensor(n, name);
    const tl_tensor *const t = tensor ? ln_onnx_value(n, tensor) : NULL;
    if (tensor && !t && !ln_onnx_failed(n))
        ln_emit_fail_as(&n->emit, LN_LIMIT_REACHED,
                        "attribute '%s' has more elements than LightNet reads before a run", name);
    if (!t || ln_onnx_failed(n))
        return (ln_onnx_numbers){0};
    if (!tl_dtype_is_float(t->dtype))
        ln_emit_fail(&n->emit, "attribute '%s' has type %s, expected floats", name,
                     tl_dtype_name(t->dtype));
    if (t->dtype == TL_DOUBLE)
        *dtype = TL_DOUBLE;
    return numbers_of(n, t->data, t->dtype, t->len);
}

// The attribute `name`, or `as_tensor` in its place.
static ln_onnx_numbers read_numbers(ln_onnx_node *n, const char *name, const char *as_tensor,
                                    tl_dtype *dtype)
{
    int len;
    const float *const floats = ln_onnx_floats(n, name, &len);
    const ln_onnx_numbers tensor = read_tensor(n, as_tensor, dtype);
    if (len > 0 && tensor.len > 0)
        ln_emit_fail(&n->emit, "has both attributes '%s' and '%s', expected one of them", name,
                     as_tensor);
    return tensor.len > 0 ? tensor : numbers_of(n, floats, TL_FLOAT, len);
}

// `value` as an index below `limit`; 0 after a failure.
static int to_index(ln_onnx_node *n, const char *name, int i, int64_t value, int64_t limit)
{
    if (value >= 0 && value < limit)
        return (int)value;
    ln_emit_fail(&n->emit, "element %d of attribute '%s' is %lld, expected 0 to %lld", i, name,
                 (long long)value, (long long)limit - 1);
    return 0;
}

// The arrays of `len` vertices; -1 after a failure.
static int make_vertices(ln_onnx_forest *w, int len)
{
    const size_t n = (size_t)len;
    w->len = len;
    w->mode = ln_onnx_forest_array(w->n, n, sizeof(*w->mode));
    w->tracks_true = ln_onnx_forest_array(w->n, n, sizeof(*w->tracks_true));
    w->feature = ln_onnx_forest_array(w->n, n, sizeof(*w->feature));
    w->child = ln_onnx_forest_array(w->n, 2 * n, sizeof(*w->child));
    w->root = ln_onnx_forest_array(w->n, n, sizeof(*w->root));
    return w->root ? 0 : -1;
}

// The comparison of the first `n` vertices, and their branch for NaN.
static void read_branches(ln_onnx_forest *w, int n)
{
    const ints feature = read_ints_of(w->n, "nodes_featureids", n, 0);
    const ints tracks = read_ints_of(w->n, "nodes_missing_value_tracks_true", n, 1);
    for (int i = 0; i < n && !ln_onnx_failed(w->n); i++) {
        if (w->mode[i] != LN_TREE_LEAF)
            w->feature[i] = to_index(w->n, "nodes_featureids", i, feature.at[i], w->features);
        w->tracks_true[i] = tracks.len > 0 && tracks.at[i] != 0;
    }
}

// TreeEnsembleClassifier, TreeEnsembleRegressor: vertices by tree and node

// The name of a vertex.
typedef struct node_name {
    int64_t tree, node;
    int vertex;
} node_name;

static int compare_names(const node_name *a, const node_name *b)
{
    return a->tree != b->tree   ? (a->tree < b->tree ? -1 : 1)
           : a->node != b->node ? (a->node < b->node ? -1 : 1)
                                : 0;
}

static int compare_node_names(const void *a, const void *b)
{
    const node_name *const p = a, *const q = b;
    const int order = compare_names(p, q);
    return order ? order : p->vertex - q->vertex;
}

// All vertices, sorted by name; NULL after a failure, such as two of one name.
static node_name *sort_node_names(const ln_onnx_forest *w, const ints *tree, const ints *node)
{
    node_name *const node_names = ln_onnx_forest_array(w->n, (size_t)w->len, sizeof(*node_names));
    for (int i = 0; node_names && i < w->len; i++)
        node_names[i] = (node_name){tree->at[i], node->at[i], i};
    if (node_names)
        qsort(node_names, (size_t)w->len, sizeof(*node_names), compare_node_names);
    for (int i = 1; node_names && i < w->len; i++)
        if (compare_names(&node_names[i - 1], &node_names[i]) == 0)
            ln_emit_fail(&w->n->emit, "duplicate node %lld of tree %lld, expected each once",
                         (long long)node_names[i].node, (long long)node_names[i].tree);
    return ln_onnx_failed(w->n) ? NULL : node_names;
}

static int compare_for_search(const void *a, const void *b)
{
    return compare_names(a, b);
}

// The vertex of this name; -1 after a failure.
static int find_vertex(const ln_onnx_forest *w, const node_name *node_names, int64_t tree,
                       int64_t node, const char *attribute, int i)
{
    const node_name key = {tree, node, 0};
    const node_name *const found =
        bsearch(&key, node_names, (size_t)w->len, sizeof(*node_names), compare_for_search);
    if (!found)
        ln_emit_fail(&w->n->emit,
                     "element %d of attribute '%s' is node %lld, which tree %lld lacks", i,
                     attribute, (long long)node, (long long)tree);
    return found ? found->vertex : -1;
}

// The root of a tree is its first listed node. Roots are in the order of the list.
static void find_roots(ln_onnx_forest *w, const node_name *node_names)
{
    uint8_t *const is_root = ln_onnx_forest_array(w->n, (size_t)w->len, sizeof(*is_root));
    for (int i = 0; is_root && i < w->len;) {
        int first = node_names[i].vertex, k = i;
        for (; k < w->len && node_names[k].tree == node_names[i].tree; k++)
            first = node_names[k].vertex < first ? node_names[k].vertex : first;
        is_root[first] = 1;
        i = k;
    }
    for (int i = 0; is_root && i < w->len; i++)
        if (is_root[i])
            w->root[w->n_roots++] = i;
}

static void read_modes(ln_onnx_forest *w)
{
    for (int i = 0; i < w->len; i++) {
        const char *const name = ln_onnx_string_at(w->n, "nodes_modes", i);
        int k = 0;
        while (k < LN_TREE_MODES && !(name && mode_names[k] && ln_streq(name, mode_names[k])))
            k++;
        if (k == LN_TREE_MODES) {
            ln_emit_fail(&w->n->emit,
                         "element %d of attribute 'nodes_modes' is '%s', expected BRANCH_LEQ, _LT, "
                         "_GTE, _GT, _EQ, _NEQ, or LEAF",
                         i, name ? name : "");
            return;
        }
        w->mode[i] = (uint8_t)k;
    }
    if (ln_onnx_string_at(w->n, "nodes_modes", w->len))
        ln_emit_fail(&w->n->emit, "attribute 'nodes_modes' has more than %d elements", w->len);
}

static void read_children(ln_onnx_forest *w, const node_name *node_names, const ints *tree)
{
    static const char *const names[] = {"nodes_truenodeids", "nodes_falsenodeids"};
    for (int k = 0; k < 2; k++) {
        const ints to = read_ints_of(w->n, names[k], w->len, 0);
        for (int i = 0; i < w->len && !ln_onnx_failed(w->n); i++)
            if (w->mode[i] != LN_TREE_LEAF)
                w->child[2 * (size_t)i + (size_t)k] =
                    find_vertex(w, node_names, tree->at[i], to.at[i], names[k], i);
    }
}

// The attributes of votes: of targets, or of classes.
typedef struct vote_names {
    const char *tree, *node, *id, *weight, *as_tensor;
} vote_names;

static const vote_names of_targets = {"target_treeids", "target_nodeids", "target_ids",
                                      "target_weights", "target_weights_as_tensor"};
static const vote_names of_classes = {"class_treeids", "class_nodeids", "class_ids",
                                      "class_weights", "class_weights_as_tensor"};

// Votes of branches do not count: some converters write them.
static void read_votes(ln_onnx_forest *w, const node_name *node_names, const vote_names *names)
{
    const ln_onnx_numbers weight = read_numbers(w->n, names->weight, names->as_tensor, &w->dtype);
    const ints tree = read_ints_of(w->n, names->tree, weight.len, 0);
    const ints node = read_ints_of(w->n, names->node, weight.len, 0);
    const ints id = read_ints_of(w->n, names->id, weight.len, 0);
    w->votes.len = weight.len;
    w->votes.weight = weight.at;
    w->votes.vertex = ln_onnx_forest_array(w->n, (size_t)weight.len, sizeof(int));
    w->votes.target = ln_onnx_forest_array(w->n, (size_t)weight.len, sizeof(int));
    for (int i = 0; i < weight.len && !ln_onnx_failed(w->n); i++) {
        w->votes.vertex[i] = find_vertex(w, node_names, tree.at[i], node.at[i], names->node, i);
        w->votes.target[i] = to_index(w->n, names->id, i, id.at[i], w->n_targets);
    }
}

// -1 after a failure.
static int read_named_forest(ln_onnx_forest *w, const vote_names *names)
{
    const ints tree = read_ints(w->n, "nodes_treeids");
    if (tree.len == 0)
        ln_emit_fail(&w->n->emit, "attribute 'nodes_treeids' has no elements, expected trees");
    const ints node = read_ints_of(w->n, "nodes_nodeids", tree.len, 0);
    const ln_onnx_numbers split =
        read_numbers(w->n, "nodes_values", "nodes_values_as_tensor", &w->dtype);
    if (split.len != tree.len)
        ln_emit_fail(&w->n->emit, "attribute 'nodes_values' has %d elements, expected %d",
                     split.len, tree.len);
    if (make_vertices(w, tree.len))
        return -1;
    w->split = split.at;
    read_modes(w);
    read_branches(w, w->len);
    const node_name *const node_names = sort_node_names(w, &tree, &node);
    if (!node_names)
        return -1;
    read_children(w, node_names, &tree);
    find_roots(w, node_names);
    read_votes(w, node_names, names);
    w->base = read_numbers(w->n, "base_values", "base_values_as_tensor", &w->dtype);
    return ln_onnx_failed(w->n) ? -1 : 0;
}

// TreeEnsemble: branches, then leaves

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// membership_values has a set for each branch of mode MEMBER, in order, each ended by NaN. Sorts
// its members, and removes duplicates.
static void read_sets(ln_onnx_forest *w, int n)
{
    const ln_onnx_numbers all = read_tensor(w->n, "membership_values", &w->dtype);
    double *const members = ln_onnx_forest_array(w->n, (size_t)all.len, sizeof(*members));
    int *const set = ln_onnx_forest_array(w->n, (size_t)w->len + 1, sizeof(*set));
    int next = 0, len = 0;
    for (int i = 0; set && i < w->len; i++) {
        set[i] = len;
        if (i >= n || w->mode[i] != LN_TREE_MEMBER)
            continue;
        const int first = next;
        if (next >= all.len) {
            ln_emit_fail(&w->n->emit, "attribute 'membership_values' has no set for node %d", i);
            return;
        }
        while (next < all.len && !isnan(all.at[next]))
            next++;
        memcpy(members + len, all.at + first, (size_t)(next - first) * sizeof(*members));
        qsort(members + len, (size_t)(next - first), sizeof(*members), compare_doubles);
        const int end = len + next - first;
        for (int k = len; k < end; k++)
            if (len == set[i] || members[k] != members[len - 1])
                members[len++] = members[k];
        next += next < all.len;
    }
    if (next < all.len)
        ln_emit_fail(&w->n->emit,
                     "attribute 'membership_values' has more sets than nodes with mode MEMBER");
    if (set)
        set[w->len] = len;
    w->set = set;
    w->members = members;
}

// The children of branches: branches, or leaves, which are after the `n` branches.
static void read_targets_of_branches(ln_onnx_forest *w, int n)
{
    static const char *const names[2][2] = {{"nodes_truenodeids", "nodes_trueleafs"},
                                            {"nodes_falsenodeids", "nodes_falseleafs"}};
    for (int k = 0; k < 2; k++) {
        const ints to = read_ints_of(w->n, names[k][0], n, 0);
        const ints is_leaf = read_ints_of(w->n, names[k][1], n, 0);
        for (int i = 0; i < n && !ln_onnx_failed(w->n); i++)
            w->child[2 * (size_t)i + (size_t)k] =
                is_leaf.at[i] ? n + to_index(w->n, names[k][0], i, to.at[i], w->len - n)
                              : to_index(w->n, names[k][0], i, to.at[i], n);
    }
}

static void read_leaf_votes(ln_onnx_forest *w, int n, const ln_onnx_numbers *weight)
{
    const ints target = read_ints_of(w->n, "leaf_targetids", weight->len, 0);
    w->votes.len = weight->len;
    w->votes.weight = weight->at;
    w->votes.vertex = ln_onnx_forest_array(w->n, (size_t)weight->len, sizeof(int));
    w->votes.target = ln_onnx_forest_array(w->n, (size_t)weight->len, sizeof(int));
    for (int i = 0; i < weight->len && !ln_onnx_failed(w->n); i++) {
        w->mode[n + i] = LN_TREE_LEAF;
        w->votes.vertex[i] = n + i;
        w->votes.target[i] = to_index(w->n, "leaf_targetids", i, target.at[i], w->n_targets);
    }
}

// nodes_modes: bytes.
static void read_mode_bytes(ln_onnx_forest *w, int n)
{
    const char *const tensor = ln_onnx_attr_tensor(w->n, "nodes_modes");
    const tl_tensor *const t = tensor ? ln_onnx_value(w->n, tensor) : NULL;
    if (!t || t->dtype != TL_UINT8 || t->len != n) {
        ln_emit_fail(&w->n->emit,
                     "attribute 'nodes_modes' has %d elements of %s, expected %d of TL_UINT8",
                     t ? t->len : 0, t ? tl_dtype_name(t->dtype) : "no type", n);
        return;
    }
    for (int i = 0; i < n; i++)
        w->mode[i] = (uint8_t)to_index(w->n, "nodes_modes", i, ((const uint8_t *)t->data)[i],
                                       LN_TREE_MEMBER + 1);
}

// -1 after a failure.
static int read_numbered_forest(ln_onnx_forest *w)
{
    const ln_onnx_numbers split = read_tensor(w->n, "nodes_splits", &w->dtype);
    const ln_onnx_numbers weight = read_tensor(w->n, "leaf_weights", &w->dtype);
    const ints roots = read_ints(w->n, "tree_roots");
    const int n = split.len;
    if (n == 0 || weight.len == 0 || roots.len == 0)
        ln_emit_fail(&w->n->emit,
                     "has %d nodes, %d leaves, and %d trees, expected at least 1 of each", n,
                     weight.len, roots.len);
    if (weight.len > INT_MAX / 4 - n)
        ln_emit_fail(&w->n->emit, "has %d nodes and %d leaves, more than LightNet supports", n,
                     weight.len);
    if (ln_onnx_failed(w->n) || make_vertices(w, n + weight.len))
        return -1;
    w->split = split.at;
    read_mode_bytes(w, n);
    read_branches(w, n);
    read_targets_of_branches(w, n);
    read_leaf_votes(w, n, &weight);
    read_sets(w, n);
    w->root = ln_onnx_forest_array(w->n, (size_t)roots.len, sizeof(*w->root));
    for (int i = 0; i < roots.len && !ln_onnx_failed(w->n); i++)
        w->root[w->n_roots++] = to_index(w->n, "tree_roots", i, roots.at[i], n);
    return ln_onnx_failed(w->n) ? -1 : 0;
}

// Operators

// A forest for rows of input 0.
static ln_onnx_forest begin_forest(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    const int axis = t->ndim - 1;
    if (t->ndim != 1 && t->ndim != 2)
        ln_emit_fail(&n->emit, "input 0 has %d dimensions, expected 1 or 2", t->ndim);
    if (!ln_onnx_failed(n))
        ln_onnx_want_fixed_axis(n, src, axis);
    return (ln_onnx_forest){.n = n,
                            .dtype = t->dtype == TL_DOUBLE ? TL_DOUBLE : TL_FLOAT,
                            .features = ln_onnx_failed(n) ? 0 : t->dims[axis],
                            .aggregate = "TL_TREE_SUM"};
}

// The transformed scores as output `i`, in this type.
static void emit_scores(ln_onnx_node *n, ln_onnx_ml_post post, const char *scores, tl_dtype dtype,
                        int i)
{
    if (ln_onnx_failed(n))
        return;
    const int is_done = ln_onnx_tensor_of(n, scores)->dtype == dtype;
    if (post == LN_ONNX_ML_NONE && is_done)
        ln_onnx_alias(n, i, scores);
    else if (post == LN_ONNX_ML_NONE)
        ln_emit_cast(&n->emit, scores, dtype, i);
    else if (is_done)
        ln_onnx_ml_emit_post(n, post, scores, i);
    else
        ln_emit_cast(&n->emit, ln_onnx_ml_emit_post(n, post, scores, LN_EMIT_TEMP), dtype, i);
}

// base_values: none, or `n` of them.
static void want_base(const ln_onnx_forest *w, int n)
{
    if (w->base.len != 0 && w->base.len != n)
        ln_emit_fail(&w->n->emit, "attribute 'base_values' has %d elements, expected 0 or %d",
                     w->base.len, n);
}

// A single score is transformed by PROBIT only, as in ONNX Runtime.
static ln_onnx_ml_post post_of_targets(ln_onnx_ml_post post, int n_targets)
{
    return n_targets > 1 || post == LN_ONNX_ML_PROBIT ? post : LN_ONNX_ML_NONE;
}

static void translate_regressor(ln_onnx_node *n)
{
    static const ln_attr_word aggregates[] = {
        {"SUM", "TL_TREE_SUM"},
        {"AVERAGE", "TL_TREE_AVERAGE"},
        {"MIN", "TL_TREE_MIN"},
        {"MAX", "TL_TREE_MAX"},
        {0},
    };
    ln_onnx_forest w = begin_forest(n);
    const ln_onnx_ml_post post = ln_onnx_ml_post_of(n);
    w.n_targets = ln_attr_int_in(&n->emit, "n_targets", 0, 1, INT_MAX);
    w.aggregate = ln_attr_choose(&n->emit, "aggregate_function", "SUM", aggregates);
    if (ln_onnx_failed(n) || read_named_forest(&w, &of_targets))
        return;
    want_base(&w, w.n_targets);
    emit_scores(n, post_of_targets(post, w.n_targets), ln_onnx_emit_forest(&w), TL_FLOAT, 0);
}

// The class of all votes; -1: several, or no votes.
static int only_class(const ln_onnx_votes *votes)
{
    for (int i = 1; i < votes->len; i++)
        if (votes->target[i] != votes->target[0])
            return -1;
    return votes->len > 0 ? votes->target[0] : -1;
}

static int has_negative(const ln_onnx_votes *votes)
{
    for (int i = 0; i < votes->len; i++)
        if (votes->weight[i] < 0)
            return 1;
    return 0;
}

// One label, 1, for a score above 0; otherwise 0.
static void emit_one_class(ln_onnx_forest *w, const ln_onnx_ml_labels *labels, ln_onnx_ml_post post)
{
    want_base(w, 1);
    if (labels->strings || (labels->ints && labels->ints[0] != 1))
        ln_emit_fail_as(&w->n->emit, LN_UNSUPPORTED,
                        "has a single class whose label is not 1, expected 1 or two classes");
    const char *const score = ln_onnx_emit_forest(w);
    if (ln_onnx_failed(w->n))
        return;
    ln_onnx_alias(w->n, 0, ln_onnx_ml_above(w->n, score, 0));
    emit_scores(w->n, post_of_targets(post, 1), score, TL_FLOAT, 1);
}

// Two classes, and votes for one only. The second one wins above 0.5 if no vote is negative, else
// above 0. Votes for the first class are the score of the second one.
static void emit_two_classes(ln_onnx_forest *w, const ln_onnx_ml_labels *labels,
                             ln_onnx_ml_post post, int class_of_votes)
{
    const int is_probability = !has_negative(&w->votes);
    ln_emit *const e = &w->n->emit;
    if (class_of_votes == 0) {
        w->n_targets = 1;
        if (w->base.len != 1)
            want_base(w, 2);
        w->base.len = w->base.len > 0; // the one of the first class
    } else
        want_base(w, 2);
    const char *const scores = ln_onnx_emit_forest(w);
    if (ln_onnx_failed(w->n))
        return;
    const char *const score =
        class_of_votes == 0 ? scores
                            : LN_EMIT(e, LN_EMIT_TEMP, LN_OP_SLICE, LN_ARG("src", scores),
                                      LN_INT("axis", 1), LN_INT("start", 1), LN_INT("len", 1));
    ln_onnx_ml_emit_labels(w->n, ln_onnx_ml_above(w->n, score, is_probability ? 0.5 : 0), labels,
                           0);
    if (class_of_votes == 1)
        emit_scores(w->n, post, scores, TL_FLOAT, 1);
    else if (post == LN_ONNX_ML_LOGISTIC || post == LN_ONNX_ML_PROBIT)
        emit_scores(w->n, post, ln_onnx_ml_two_columns(w->n, score, post == LN_ONNX_ML_PROBIT),
                    TL_FLOAT, 1);
    else
        emit_scores(w->n, LN_ONNX_ML_NONE, ln_onnx_ml_two_columns(w->n, score, is_probability),
                    TL_FLOAT, 1);
}

static void translate_classifier(ln_onnx_node *n)
{
    ln_onnx_forest w = begin_forest(n);
    const ln_onnx_ml_labels labels =
        ln_onnx_ml_labels_of(n, "classlabels_int64s", "classlabels_strings");
    const ln_onnx_ml_post post = ln_onnx_ml_post_of(n);
    w.n_targets = labels.len;
    if (ln_onnx_failed(n) || read_named_forest(&w, &of_classes))
        return;
    const int only = only_class(&w.votes);
    if (w.n_targets == 1) {
        emit_one_class(&w, &labels, post);
        return;
    }
    if (w.n_targets == 2 && only >= 0) {
        emit_two_classes(&w, &labels, post, only);
        return;
    }
    want_base(&w, w.n_targets);
    const char *const scores = ln_onnx_emit_forest(&w);
    if (ln_onnx_failed(n))
        return;
    ln_onnx_ml_emit_labels(n, ln_onnx_ml_best(n, scores), &labels, 0);
    emit_scores(n, post, scores, TL_FLOAT, 1);
}

static void translate_ensemble(ln_onnx_node *n)
{
    static const char *const aggregates[] = {"TL_TREE_AVERAGE", "TL_TREE_SUM", "TL_TREE_MIN",
                                             "TL_TREE_MAX"};
    ln_onnx_forest w = begin_forest(n);
    const tl_dtype dtype = ln_onnx_tensor_of(n, ln_onnx_in(n, 0))->dtype;
    const ln_onnx_ml_post post = (ln_onnx_ml_post)ln_attr_int_in(
        &n->emit, "post_transform", LN_ONNX_ML_NONE, LN_ONNX_ML_NONE, LN_ONNX_ML_PROBIT);
    w.n_targets = ln_attr_int_in(&n->emit, "n_targets", 0, 1, INT_MAX);
    w.aggregate = aggregates[ln_attr_int_in(&n->emit, "aggregate_function", 1, 0, 3)];
    if (!tl_dtype_is_float(dtype))
        ln_emit_fail(&n->emit, "input 0 has type %s, expected floats", tl_dtype_name(dtype));
    if (ln_onnx_failed(n) || read_numbered_forest(&w))
        return;
    emit_scores(n, post_of_targets(post, w.n_targets), ln_onnx_emit_forest(&w), dtype, 0);
}

const ln_onnx_row ln_onnx_rows_ml_trees[] = {
    {"TreeEnsemble", 5, translate_ensemble},
    {"TreeEnsembleClassifier", 1, translate_classifier},
    {"TreeEnsembleRegressor", 1, translate_regressor},
    {NULL},
};
