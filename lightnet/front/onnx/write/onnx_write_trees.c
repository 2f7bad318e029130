// SPDX-License-Identifier: Apache-2.0
// Writing tree ensembles: a regressor of the domain ai.onnx.ml, whose trees share no nodes, as ONNX
// Runtime wants them.

#include <math.h>
#include <string.h>

#include "front/onnx/write/ln_onnx_write.h"

// A written ensemble may have MAX_COPIES nodes for each of the operator's, which its trees may
// share, but no more than MAX_NODES nodes and votes, and in any case MIN_LIMIT nodes.
enum { MAX_NODES = 1 << 24, MAX_COPIES = 16, MIN_LIMIT = 1 << 16 };

// A node of a written tree, a copy of one of the operator's.
typedef struct tree_node {
    int node, tree, id; // `node`: the operator's; `id`: within the tree, where the root is 0
    int yes, no;        // the ids of its children
} tree_node;

// An ensemble: the operator's constants, the written nodes, and the attributes.
typedef struct forest {
    ln_onnx_op *n;
    tl_dtype dtype;
    const void *split, *weight;
    const int32_t *feature, *child, *root, *target, *start;
    int n_nodes, n_roots, n_votes, n_leaves, features;
    tree_node *copies;
    int len, max, n_voted, n_targets, has_tracks;
    int64_t *tree, *id, *featureid, *yes, *no, *tracks;
    const char **mode;
    double *value;
    int64_t *vote_tree, *vote_id, *vote_target;
    double *vote_weight;
} forest;

// What a branch compares.
typedef struct branch {
    const char *mode;
    int feature, yes, no, tracks; // `tracks`: NaN goes to `yes`
    double split;
} branch;

static double number_at(const forest *f, const void *numbers, int i)
{
    return f->dtype == TL_DOUBLE ? ((const double *)numbers)[i]
                                 : (double)((const float *)numbers)[i];
}

static void *allocate(const forest *f, int len, size_t size)
{
    void *const memory = ln_translation_alloc(&f->n->writer->base, ((size_t)len + 1) * size);
    if (memory)
        memset(memory, 0, ((size_t)len + 1) * size);
    return memory;
}

static const void *optional_elements(ln_onnx_op *n, const char *arg)
{
    return ln_op_input_name(n->op, arg) ? ln_onnx_op_elements(n, arg) : NULL;
}

// 0 after a failure.
static int read_forest(forest *f)
{
    ln_onnx_op *const n = f->n;
    f->dtype = ln_onnx_op_tensor(n, "src")->dtype;
    f->features = ln_onnx_op_tensor(n, "src")->dims[1];
    f->n_nodes = ln_onnx_op_tensor(n, "split")->len;
    f->n_roots = ln_onnx_op_tensor(n, "root")->len;
    f->n_votes = ln_onnx_op_tensor(n, "weight")->len;
    f->split = ln_onnx_op_elements(n, "split");
    f->feature = ln_onnx_op_elements(n, "feature");
    f->child = ln_onnx_op_elements(n, "child");
    f->root = ln_onnx_op_elements(n, "root");
    f->weight = ln_onnx_op_elements(n, "weight");
    f->target = optional_elements(n, "target");
    f->start = optional_elements(n, "start");
    f->max = f->n_nodes < MIN_LIMIT / MAX_COPIES   ? MIN_LIMIT
             : f->n_nodes < MAX_NODES / MAX_COPIES ? f->n_nodes * MAX_COPIES
                                                   : MAX_NODES;
    f->n_targets = ln_op_int(n->op, "targets");
    f->n_leaves = f->start ? ln_onnx_op_tensor(n, "start")->len - 1 : f->n_votes;
    return !n->is_rejected && !ln_onnx_op_failed(n);
}

static int is_valid(const forest *f)
{
    for (int i = 0; i < f->n_nodes; i++)
        for (size_t k = 0; k < 2 && f->feature[i] >= 0; k++)
            if (f->child[2 * (size_t)i + k] < 0 || f->child[2 * (size_t)i + k] >= f->n_nodes ||
                f->feature[i] / 2 >= f->features)
                return 0;
    for (int t = 0; t < f->n_roots; t++)
        if (f->root[t] < 0 || f->root[t] >= f->n_nodes)
            return 0;
    return 1;
}

// The next number of the ensemble's type from x toward `to`.
static double next_toward(const forest *f, double x, double to)
{
    return f->dtype == TL_FLOAT ? (double)nextafterf((float)x, (float)to) : nextafter(x, to);
}

// Whether node k has the same feature, negated.
static int is_opposite(const forest *f, int node, int k)
{
    return f->feature[k] >= 0 && f->feature[node] < f->features &&
           f->feature[k] - f->features == f->feature[node];
}

// -x <= s of a negated feature is x >= -s. Two nodes that share a child may be one BRANCH_EQ
// (onnx_ml_forest.c).
static branch branch_of(const forest *f, int node)
{
    const int32_t *const to = f->child + 2 * (size_t)node;
    const int32_t *const below = f->child + 2 * (size_t)to[0];
    const int32_t *const above = f->child + 2 * (size_t)to[1];
    const int feature = f->feature[node];
    const double split = number_at(f, f->split, node), up = next_toward(f, split, INFINITY);
    if (is_opposite(f, node, to[0]) && below[1] == to[1] && number_at(f, f->split, to[0]) == -split)
        return (branch){"BRANCH_EQ", feature, below[0], to[1], 0, split};
    if (is_opposite(f, node, to[1]) && above[0] == to[0] &&
        number_at(f, f->split, to[1]) == next_toward(f, -up, -INFINITY))
        return (branch){"BRANCH_EQ", feature, above[1], to[0], 1, up};
    if (feature >= f->features)
        return (branch){"BRANCH_GTE", feature - f->features, to[0], to[1], 0, -split};
    return (branch){"BRANCH_LEQ", feature, to[0], to[1], 0, split};
}

// Appends a written node. 0: too many, or after a failure.
static int add_node(forest *f, int node, int tree, int id)
{
    tree_node *const grown = f->len < f->max ? ln_translation_grow(&f->n->writer->base, f->copies,
                                                                   (size_t)f->len, sizeof(*grown))
                                             : NULL;
    if (!grown)
        return 0;
    f->copies = grown;
    f->copies[f->len++] = (tree_node){.node = node, .tree = tree, .id = id};
    return 1;
}

// Appends a tree, with a copy of a node for each path to it. 0: too many nodes, or a failure.
static int add_tree(forest *f, int tree)
{
    const int first = f->len;
    if (!add_node(f, f->root[tree], tree, 0))
        return 0;
    for (int i = first; i < f->len; i++) {
        const int node = f->copies[i].node, id = f->len - first;
        if (f->feature[node] < 0)
            continue;
        const branch b = branch_of(f, node);
        f->copies[i].yes = id;
        f->copies[i].no = id + 1;
        if (!add_node(f, b.yes, tree, id) || !add_node(f, b.no, tree, id + 1))
            return 0;
    }
    return 1;
}

// The votes of a leaf. -1: the data is invalid.
static int votes_of(const forest *f, int node, int *first, int *end)
{
    const int leaf = f->child[2 * (size_t)node];
    if (leaf < 0 || leaf >= f->n_leaves)
        return -1;
    *first = f->start ? f->start[leaf] : leaf;
    *end = f->start ? f->start[leaf + 1] : leaf + 1;
    return -(*first < 0 || *first > *end || *end > f->n_votes);
}

// ONNX Runtime requires one vote for each leaf of a single target, and supports any number for two
// targets. -1: the data is invalid, or too large.
static int count_votes(forest *f)
{
    for (int i = 0; i < f->len; i++) {
        int first = 0, end = 0;
        if (f->feature[f->copies[i].node] < 0 && votes_of(f, f->copies[i].node, &first, &end))
            return -1;
        if (end - first > MAX_NODES - f->n_voted)
            return -1;
        f->n_voted += end - first;
        if (f->feature[f->copies[i].node] < 0 && end - first != 1 && f->n_targets == 1)
            f->n_targets = 2;
    }
    return 0;
}

static int allocate_attributes(forest *f)
{
    f->tree = allocate(f, f->len, sizeof(*f->tree));
    f->id = allocate(f, f->len, sizeof(*f->id));
    f->featureid = allocate(f, f->len, sizeof(*f->featureid));
    f->yes = allocate(f, f->len, sizeof(*f->yes));
    f->no = allocate(f, f->len, sizeof(*f->no));
    f->tracks = allocate(f, f->len, sizeof(*f->tracks));
    f->mode = allocate(f, f->len, sizeof(*f->mode));
    f->value = allocate(f, f->len, sizeof(*f->value));
    f->vote_tree = allocate(f, f->n_voted, sizeof(*f->vote_tree));
    f->vote_id = allocate(f, f->n_voted, sizeof(*f->vote_id));
    f->vote_target = allocate(f, f->n_voted, sizeof(*f->vote_target));
    f->vote_weight = allocate(f, f->n_voted, sizeof(*f->vote_weight));
    return !ln_onnx_op_failed(f->n);
}

static void set_votes(forest *f, const tree_node *p)
{
    int first = 0, end = 0;
    votes_of(f, p->node, &first, &end);
    for (int k = first; k < end; k++, f->n_voted++) {
        f->vote_tree[f->n_voted] = p->tree;
        f->vote_id[f->n_voted] = p->id;
        f->vote_target[f->n_voted] = f->target ? f->target[k] : 0;
        f->vote_weight[f->n_voted] = number_at(f, f->weight, k);
    }
}

static void set_branch(forest *f, int i)
{
    const branch b = branch_of(f, f->copies[i].node);
    f->mode[i] = b.mode;
    f->value[i] = b.split;
    f->featureid[i] = b.feature;
    f->tracks[i] = b.tracks;
    f->has_tracks |= b.tracks;
    f->yes[i] = f->copies[i].yes;
    f->no[i] = f->copies[i].no;
}

static void set_attributes(forest *f)
{
    f->n_voted = 0;
    for (int i = 0; i < f->len; i++) {
        f->tree[i] = f->copies[i].tree;
        f->id[i] = f->copies[i].id;
        f->mode[i] = "LEAF";
        if (f->feature[f->copies[i].node] < 0)
            set_votes(f, &f->copies[i]);
        else
            set_branch(f, i);
    }
    if (f->n_voted == 0) {
        const tree_node *const leaf = &f->copies[f->len - 1]; // the last node is one
        f->vote_tree[0] = leaf->tree;
        f->vote_id[0] = leaf->id;
        f->n_voted = 1;
    }
}

// Sets attribute `name` to floats, or `as_tensor` to doubles.
static void put_numbers(forest *f, const char *name, const char *as_tensor, int len,
                        const double *numbers)
{
    if (f->dtype == TL_DOUBLE)
        ln_onnx_put_tensor(f->n, as_tensor, ln_onnx_put_elements(f->n, TL_DOUBLE, len, numbers));
    else
        ln_onnx_put_set(f->n, LN_NUMBERS(name, len, numbers));
}

static void put_base(forest *f)
{
    const void *const base = optional_elements(f->n, "base");
    double *const number = base ? allocate(f, 1, sizeof(*number)) : NULL;
    if (!number)
        return;
    *number = number_at(f, base, 0);
    put_numbers(f, "base_values", "base_values_as_tensor", 1, number);
}

static void put_forest(forest *f, const char *src, const char *out)
{
    ln_onnx_op *const n = f->n;
    ln_onnx_put_begin(n, "ai.onnx.ml:TreeEnsembleRegressor");
    ln_onnx_put_set(n, LN_ONNX_SRC(src));
    ln_onnx_put_set(n, LN_INT("n_targets", f->n_targets));
    ln_onnx_put_set(
        n, LN_TEXT("aggregate_function", ln_op_string(n->op, "aggregate") + strlen("TL_TREE_")));
    ln_onnx_put_int64s(n, "nodes_treeids", f->len, f->tree);
    ln_onnx_put_int64s(n, "nodes_nodeids", f->len, f->id);
    ln_onnx_put_int64s(n, "nodes_featureids", f->len, f->featureid);
    ln_onnx_put_int64s(n, "nodes_truenodeids", f->len, f->yes);
    ln_onnx_put_int64s(n, "nodes_falsenodeids", f->len, f->no);
    if (f->has_tracks)
        ln_onnx_put_int64s(n, "nodes_missing_value_tracks_true", f->len, f->tracks);
    ln_onnx_put_words(n, "nodes_modes", f->len, f->mode);
    put_numbers(f, "nodes_values", "nodes_values_as_tensor", f->len, f->value);
    ln_onnx_put_int64s(n, "target_treeids", f->n_voted, f->vote_tree);
    ln_onnx_put_int64s(n, "target_nodeids", f->n_voted, f->vote_id);
    ln_onnx_put_int64s(n, "target_ids", f->n_voted, f->vote_target);
    put_numbers(f, "target_weights", "target_weights_as_tensor", f->n_voted, f->vote_weight);
    if (f->n_targets == 1)
        put_base(f);
    ln_onnx_note_type(n->writer, out, TL_FLOAT);
    ln_onnx_put_end(n, 1, &out);
}

// Appends all trees. -1: the data is invalid or too large, or after a failure.
static int add_trees(forest *f)
{
    if (!is_valid(f))
        return -1;
    for (int t = 0; t < f->n_roots; t++)
        if (!add_tree(f, t))
            return -1;
    return count_votes(f);
}

// Slices the operator's targets, converts float32, and adds the base values, which ONNX Runtime
// ignores for targets without votes.
static const char *finish_scores(forest *f, const char *scores)
{
    ln_onnx_op *const n = f->n;
    const int targets = ln_op_int(n->op, "targets");
    if (f->n_targets > targets)
        scores = ln_onnx_put_slice(n, scores, 1, 0, targets);
    if (f->dtype == TL_DOUBLE)
        scores = ln_onnx_put_cast(n, scores, TL_DOUBLE);
    const char *const base = f->n_targets > 1 ? ln_onnx_op_optional(n, "base") : NULL;
    return base ? ln_onnx_put_pair(n, "Add", scores, base) : scores;
}

static void write_trees(ln_onnx_op *n)
{
    forest f = {.n = n};
    const char *const src = ln_onnx_op_in(n, "src");
    if (!read_forest(&f))
        return;
    if (add_trees(&f)) {
        ln_onnx_op_reject(n,
                          "its trees are invalid, or have more than %d nodes, counting shared "
                          "ones in each tree",
                          f.max);
        return;
    }
    if (!allocate_attributes(&f))
        return;
    set_attributes(&f);
    const char *const all = ln_onnx_put_name(n, "TreeEnsembleRegressor");
    put_forest(&f, src, all);
    ln_onnx_op_ends_with(n, "dst", finish_scores(&f, all));
}

const ln_onnx_op_row ln_onnx_write_rows_trees[] = {
    {LN_OP_TREE_ENSEMBLE, write_trees},
    {NULL},
};
