// SPDX-License-Identifier: Apache-2.0
// Decision trees in plain C: the direct walk, which defines the result, and all work on packed
// trees but the search of blocks in vectors.

#ifndef T // once

#include <string.h>

#include "kernel/tree/tree.h"
#include "kernel/tree/tree_walk.h"
#include "tensorlight/tl_util.h"

TL_TREE_WALK(f64, double)
TL_TREE_WALK(f32, float)

// A NaN that no computation produces: a target without votes for the min or max.
static const uint64_t no_vote_f64 = 0x7ff80000deadbeef;
static const uint32_t no_vote_f32 = 0x7fc0dead;

static int32_t int_at(const tl_tensor *t, size_t i)
{
    return ((const int32_t *)t->data)[i];
}

static int is_sum(const tl_tree_job *job)
{
    return job->aggregate == TL_TREE_SUM || job->aggregate == TL_TREE_AVERAGE;
}

#define TL_TEMPLATE "kernel/tree/tree_c.c"
#define TL_TAG      f64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG f32
#include "tensor/tl_one_type.inc.h"

#else // for each type

#define TREE    TL_PASTE(tl_tree_, TL_TAG, )
#define NODE    TL_PASTE(tl_tree_node_, TL_TAG, )
#define NO_VOTE TL_PASTE(no_vote_, TL_TAG, )

// Votes

// Initializes the targets: 0 for sums, NO_VOTE for the min and max.
static void NAME(begin, votes)(const tl_tree_job *job, size_t begin, size_t end)
{
    T *const dst = (T *)job->dst + begin * job->targets;
    const size_t len = (end - begin) * job->targets;
    T first = 0;
    if (!is_sum(job))
        memcpy(&first, &NO_VOTE, sizeof(first));
    for (size_t i = 0; i < len; i++)
        dst[i] = first;
}

static void NAME(pick, vote)(T *dst, T vote, int is_max)
{
    if (memcmp(dst, &NO_VOTE, sizeof(vote)) == 0 || (is_max ? vote > *dst : vote < *dst))
        *dst = vote;
}

// Adds the votes of a leaf to the targets `dst` of a row.
static void NAME(add, votes)(const tl_tree_job *job, size_t leaf, T *dst)
{
    const tl_tensor *const start = job->votes.start, *const target = job->votes.target;
    const T *const weight = job->votes.weight->data;
    if (leaf >= job->n_leaves) // only in hand-made packed trees
        return;
    const size_t first = start ? (size_t)int_at(start, leaf) : leaf;
    const size_t end = start ? (size_t)int_at(start, leaf + 1) : leaf + 1;
    const int sums = is_sum(job), is_max = job->aggregate == TL_TREE_MAX;
    for (size_t k = first; k < end; k++) {
        T *const sum = dst + (target ? int_at(target, k) : 0);
        if (sums)
            *sum += weight[k];
        else
            NAME(pick, vote)(sum, weight[k], is_max);
    }
}

// Turns the votes of `n_trees` trees into the result.
static void NAME(end, votes)(const tl_tree_job *job, size_t n_trees, size_t begin, size_t end)
{
    const T *const base = job->base;
    for (size_t r = begin; r < end; r++) {
        T *const dst = (T *)job->dst + r * job->targets;
        for (size_t j = 0; j < job->targets; j++) {
            T sum = dst[j];
            if (!is_sum(job) && memcmp(&sum, &NO_VOTE, sizeof(sum)) == 0)
                sum = 0;
            if (job->aggregate == TL_TREE_AVERAGE)
                sum /= (T)n_trees;
            dst[j] = base ? sum + base[j] : sum;
        }
    }
}

// The direct walk

// The leaf of a row; SIZE_MAX: none, since the nodes have a cycle.
static size_t NAME(walk, direct)(const tl_trees *trees, const T *row, size_t features, size_t node)
{
    const T *const split = trees->split->data;
    for (int steps = 0; steps < trees->split->len; steps++) {
        const int32_t feature = int_at(trees->feature, node);
        if (feature < 0)
            return (size_t)int_at(trees->child, 2 * node);
        const size_t f = (size_t)feature;
        const T x = f < features ? row[f] : -row[f - features];
        node = (size_t)int_at(trees->child, 2 * node + !(x <= split[node]));
    }
    return SIZE_MAX;
}

static void NAME(direct, rows)(void *arg, size_t begin, size_t end)
{
    tl_tree_job *const job = arg;
    const size_t n_trees = (size_t)job->direct->root->len;
    NAME(begin, votes)(job, begin, end);
    for (size_t r = begin; r < end; r++) {
        const T *const row = (const T *)job->src + r * job->features;
        T *const dst = (T *)job->dst + r * job->targets;
        for (size_t t = 0; t < n_trees; t++) {
            const size_t root = (size_t)int_at(job->direct->root, t);
            const size_t leaf = NAME(walk, direct)(job->direct, row, job->features, root);
            if (leaf == SIZE_MAX)
                __atomic_store_n(&job->is_cyclic, 1, __ATOMIC_RELAXED);
            NAME(add, votes)(job, leaf, dst);
        }
    }
    NAME(end, votes)(job, n_trees, begin, end);
}

// Packed trees

void NAME(tl_tree_find, c)(const void *tree, const void *nodes, const void *block, size_t rows,
                           uint32_t *at)
{
    const TREE *const t = tree;
    for (size_t r = 0; r < rows; r += TL_TREE_LANES) {
        for (int k = 0; k < TL_TREE_LANES; k++)
            at[r + (size_t)k] = t->root;
        NAME(tl_tree_walk, each)(nodes, (const T *)block + r, 0, 1, t->depth, at + r);
    }
}

// Adds the votes of the nodes `at` to `n` rows at `dst`, `step` apart; 0: all to one row.
static void NAME(add, nodes)(const tl_tree_job *job, const uint32_t *at, size_t n, T *dst,
                             size_t step)
{
    const NODE *const nodes = job->nodes;
    if (job->header->is_simple && is_sum(job))
        for (size_t i = 0; i < n; i++)
            dst[i * step] += nodes[at[i]].u.split;
    else if (job->header->is_simple)
        for (size_t i = 0; i < n; i++)
            NAME(pick, vote)(dst + i * step, nodes[at[i]].u.split, job->aggregate == TL_TREE_MAX);
    else
        for (size_t i = 0; i < n; i++)
            NAME(add, votes)(job, nodes[at[i]].u.leaf, dst + i * step);
}

// The value of a column in a row.
static T NAME(value, of)(const tl_tree_job *job, size_t row, size_t column)
{
    const size_t f = job->columns[column];
    const T *const src = (const T *)job->src + row * job->features;
    return f < job->features ? src[f] : -src[f - job->features];
}

// The block of `n` rows from `row` on, [columns, TL_TREE_ROWS]: rows up to a multiple of 16 are 0,
// also in the column 0 that only leaves have.
static void NAME(fill, block)(const tl_tree_job *job, size_t row, size_t n, T *block)
{
    const size_t all = (n + 15) / 16 * 16;
    for (size_t c = 0; c < job->header->columns || c == 0; c++) {
        T *const column = block + c * TL_TREE_ROWS;
        const size_t filled = c < job->header->columns ? n : 0;
        for (size_t r = 0; r < filled; r++)
            column[r] = NAME(value, of)(job, row + r, c);
        for (size_t r = filled; r < all; r++)
            column[r] = 0;
    }
}

// Computes a unit: all blocks for a group of trees, which stay in a cache, then the next group.
static void NAME(find, unit)(const tl_tree_job *job, size_t begin, size_t end, T *blocks)
{
    const size_t block_len = (job->header->columns ? job->header->columns : 1) * TL_TREE_ROWS;
    const char *const trees = job->trees;
    uint32_t at[TL_TREE_ROWS];
    for (size_t r = begin, b = 0; r < end; r += TL_TREE_ROWS, b++)
        NAME(fill, block)(job, r, tl_min_size(end - r, TL_TREE_ROWS), blocks + b * block_len);
    for (size_t first = 0; first < job->header->trees; first += job->group) {
        const size_t stop = tl_min_size(first + job->group, job->header->trees);
        if (tl_stop_is_requested(job->stop))
            return;
        for (size_t r = begin, b = 0; r < end; r += TL_TREE_ROWS, b++) {
            const size_t n = tl_min_size(end - r, TL_TREE_ROWS);
            for (size_t t = first; t < stop; t++) {
                job->find(trees + t * sizeof(TREE), job->nodes, blocks + b * block_len, n, at);
                NAME(add, nodes)(job, at, n, (T *)job->dst + r * job->targets, job->targets);
            }
        }
    }
}

static void NAME(find, units)(void *arg, size_t slot, size_t begin, size_t end)
{
    const tl_tree_job *const job = arg;
    for (size_t u = begin; u < end; u++) {
        const size_t row = u * job->unit, stop = tl_min_size(row + job->unit, job->rows);
        NAME(begin, votes)(job, row, stop);
        NAME(find, unit)(job, row, stop, (T *)(job->scratch + slot * job->slot_size));
        NAME(end, votes)(job, job->header->trees, row, stop);
    }
}

static void NAME(fill, values)(const tl_tree_job *job, void *values)
{
    T *const dst = values;
    const size_t columns = job->header->columns;
    for (size_t r = 0; r < job->rows; r++)
        for (size_t c = 0; c < columns; c++)
            dst[r * columns + c] = NAME(value, of)(job, r, c);
}

static void NAME(find, row)(const tl_tree_job *job, const void *values, size_t begin, size_t end,
                            uint32_t *at)
{
    static const T zero[1] = {0}; // column 0 of leaves
    const TREE *const trees = job->trees;
    for (size_t t = begin; t < end; t += TL_TREE_LANES) {
        uint32_t depth = 0, nodes[TL_TREE_LANES];
        for (size_t k = 0; k < TL_TREE_LANES; k++) { // the last one again beyond the end
            const TREE *const tree = &trees[tl_min_size(t + k, end - 1)];
            depth = tree->depth > depth ? tree->depth : depth;
            nodes[k] = tree->root;
        }
        NAME(tl_tree_walk, each)
        (job->nodes, job->header->columns ? values : zero, TL_TREE_SHIFT, 0, depth, nodes);
        for (size_t k = 0; k < TL_TREE_LANES && t + k < end; k++)
            at[t + k] = nodes[k];
    }
}

static void NAME(sum, row)(const tl_tree_job *job, size_t row, const uint32_t *at)
{
    NAME(begin, votes)(job, row, row + 1);
    NAME(add, nodes)(job, at, job->header->trees, (T *)job->dst + row * job->targets, 0);
    NAME(end, votes)(job, job->header->trees, row, row + 1);
}

// Packing

static void NAME(write, node)(void *nodes, size_t node, const tl_trees *trees, int is_simple,
                              uint32_t column)
{
    NODE *const to = (NODE *)nodes + node;
    const int32_t first = int_at(trees->child, 2 * node);
    const int is_leaf = int_at(trees->feature, node) < 0;
    *to = (NODE){.column = column};
    for (size_t k = 0; k < 2; k++)
        to->child[k] = is_leaf ? (uint32_t)node : (uint32_t)int_at(trees->child, 2 * node + k);
    if (!is_leaf)
        to->u.split = ((const T *)trees->split->data)[node];
    else if (is_simple)
        to->u.split = ((const T *)trees->votes.weight->data)[first];
    else
        to->u.leaf = (uint32_t)first;
}

static void NAME(write, tree)(void *trees, size_t tree, const void *nodes, uint32_t root,
                              uint32_t depth)
{
    TREE *const to = (TREE *)trees + tree;
    uint32_t all[TL_TREE_EXITS - 1 + TL_TREE_EXITS] = {root};
    to->root = root;
    to->depth = depth;
    for (size_t i = 0; i < TL_TREE_EXITS - 1; i++) {
        const NODE *const node = (const NODE *)nodes + all[i];
        const int is_leaf = node->child[0] == all[i];
        to->split[i] = is_leaf ? 0 : node->u.split;
        to->column[i] = node->column;
        for (size_t k = 0; k < 2; k++)
            all[2 * i + 1 + k] = node->child[k];
    }
    memcpy(to->exit, all + TL_TREE_EXITS - 1, sizeof(to->exit));
}

// Whether a column exists, or is the column 0 of leaves.
static int NAME(has, column)(const tl_tree_header *header, uint32_t column)
{
    return column % TL_TREE_ROWS == 0 && (column == 0 || column / TL_TREE_ROWS < header->columns);
}

static int NAME(is, valid)(const tl_tree_header *header, const void *trees, const void *nodes)
{
    const TREE *const tree = trees;
    const NODE *const node = nodes;
    int is_valid = 1;
    for (size_t t = 0; t < header->trees; t++) {
        is_valid &= tree[t].root < header->nodes && tree[t].depth <= header->nodes;
        for (size_t i = 0; i < TL_TREE_EXITS; i++)
            is_valid &= tree[t].exit[i] < header->nodes;
        for (size_t i = 0; i < TL_TREE_EXITS - 1; i++)
            is_valid &= NAME(has, column)(header, tree[t].column[i]);
    }
    for (size_t i = 0; i < header->nodes; i++)
        is_valid &= NAME(has, column)(header, node[i].column) && node[i].child[0] < header->nodes &&
                    node[i].child[1] < header->nodes;
    return is_valid;
}

const tl_tree_type NAME(tl_tree_type, c) = {
    .node_size = sizeof(NODE),
    .tree_size = sizeof(TREE),
    .element_size = sizeof(T),
    .direct = NAME(direct, rows),
    .blocks = NAME(find, units),
    .values = NAME(fill, values),
    .find_row = NAME(find, row),
    .sum_row = NAME(sum, row),
    .write = NAME(write, node),
    .write_tree = NAME(write, tree),
    .is_valid = NAME(is, valid),
};

#undef TREE
#undef NODE
#undef NO_VOTE

#endif
