// SPDX-License-Identifier: Apache-2.0
// Packing of decision trees: columns of features, depths, records of trees, nodes.

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "kernel/tree/tree.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_util.h"

static size_t aligned(size_t size)
{
    return tl_ceil_div(size, TL_TREE_ALIGN) * TL_TREE_ALIGN;
}

tl_tree_parts tl_tree_parts_of(tl_dtype dtype, size_t n_nodes, size_t n_trees, size_t n_columns)
{
    const tl_tree_type *const type = tl_tree_type_of(dtype);
    tl_tree_parts p = {.columns = TL_TREE_ALIGN, .size = SIZE_MAX};
    if (n_nodes > INT_MAX / type->node_size || n_trees > INT_MAX / type->tree_size ||
        n_columns > INT_MAX / TL_TREE_ROWS)
        return p;
    p.trees = p.columns + aligned(n_columns * sizeof(uint32_t));
    p.nodes = p.trees + aligned(n_trees * type->tree_size);
    // Three parts of at most INT_MAX bytes each: no overflow, also of 32 bits.
    const uint64_t size = (uint64_t)p.nodes + n_nodes * type->node_size;
    p.size = size > INT_MAX ? SIZE_MAX : (size_t)size;
    return p;
}

// The most columns that these trees may have.
static size_t max_columns(const tl_trees *trees, int features)
{
    return tl_min_size((size_t)trees->split->len, 2 * (size_t)features);
}

size_t tl_trees_packed(const tl_trees *trees, int features)
{
    return tl_tree_parts_of(trees->split->dtype, (size_t)trees->split->len,
                            (size_t)trees->root->len, max_columns(trees, features))
        .size;
}

// Arrays over all nodes and features, in scratch memory.
typedef struct tables {
    uint32_t *parents; // [N]: branches to a node that are not yet in `order`
    uint32_t *order;   // [N]: each node after all that reach it
    uint32_t *depth;   // [N]
    uint32_t *column;  // [2F]: 1 + the column of a feature; 0: none
} tables;

size_t tl_trees_pack_scratch(const tl_trees *trees, int features)
{
    const uint64_t n = 3 * (uint64_t)trees->split->len + 2 * (uint64_t)features + 1;
    return n > SIZE_MAX / sizeof(uint32_t) ? SIZE_MAX : (size_t)n * sizeof(uint32_t);
}

static int is_leaf(const tl_trees *trees, size_t node)
{
    return ((const int32_t *)trees->feature->data)[node] < 0;
}

static size_t child_of(const tl_trees *trees, size_t node, size_t k)
{
    return (size_t)((const int32_t *)trees->child->data)[2 * node + k];
}

// Sorts the nodes topologically; -1 with a reason: they have a cycle.
static int sort_nodes(const tl_trees *trees, tables *s)
{
    const size_t n = (size_t)trees->split->len;
    size_t len = 0;
    memset(s->parents, 0, n * sizeof(*s->parents));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 2 && !is_leaf(trees, i); k++)
            s->parents[child_of(trees, i, k)]++;
    for (size_t i = 0; i < n; i++)
        if (!s->parents[i])
            s->order[len++] = (uint32_t)i;
    for (size_t i = 0; i < len; i++)
        for (size_t k = 0; k < 2 && !is_leaf(trees, s->order[i]); k++) {
            const size_t to = child_of(trees, s->order[i], k);
            if (--s->parents[to] == 0)
                s->order[len++] = (uint32_t)to;
        }
    return len < n ? tl_fail("the nodes have a cycle, expected trees") : 0;
}

// Max branches from each node to a leaf.
static void find_depths(const tl_trees *trees, tables *s)
{
    for (size_t i = (size_t)trees->split->len; i-- > 0;) {
        const size_t node = s->order[i];
        uint32_t depth = 0;
        for (size_t k = 0; k < 2 && !is_leaf(trees, node); k++) {
            const uint32_t below = s->depth[child_of(trees, node, k)] + 1;
            depth = below > depth ? below : depth;
        }
        s->depth[node] = depth;
    }
}

// Numbers the features that branches compare, in the order of nodes. Returns how many.
static size_t find_columns(const tl_trees *trees, int features, tables *s, uint32_t *columns)
{
    size_t len = 0;
    memset(s->column, 0, 2 * (size_t)features * sizeof(*s->column));
    for (size_t i = 0; i < (size_t)trees->split->len; i++) {
        const int32_t feature = ((const int32_t *)trees->feature->data)[i];
        if (feature < 0 || s->column[feature])
            continue;
        columns[len++] = (uint32_t)feature;
        s->column[feature] = (uint32_t)len;
    }
    return len;
}

static void write_all(const tl_trees *trees, const tables *s, const tl_tree_parts *parts,
                      const tl_tree_header *header, char *dst)
{
    const tl_tree_type *const type = tl_tree_type_of(trees->split->dtype);
    const int32_t *const feature = trees->feature->data, *const root = trees->root->data;
    for (size_t i = 0; i < header->nodes; i++)
        type->write(dst + parts->nodes, i, trees, (int)header->is_simple,
                    feature[i] < 0 ? 0 : (s->column[feature[i]] - 1) * TL_TREE_ROWS);
    for (size_t i = 0; i < header->trees; i++)
        type->write_tree(dst + parts->trees, i, dst + parts->nodes, (uint32_t)root[i],
                         s->depth[root[i]]);
}

int tl_exec_trees_pack(const tl_exec *exec, const tl_trees *trees, int features, tl_tensor *dst)
{
    const size_t n = (size_t)trees->split->len;
    char *const data = dst->data;
    size_t n_leaves;
    assert((size_t)dst->len == tl_trees_packed(trees, features) && dst->dtype == TL_UINT8);
    if (tl_check_scratch(exec, tl_trees_pack_scratch(trees, features), "to pack trees") < 0 ||
        tl_tree_check_votes(&trees->votes, INT_MAX, &n_leaves) < 0 ||
        tl_tree_check_nodes(trees, features, n_leaves) < 0)
        return -1;
    uint32_t *const scratch = exec->scratch;
    tables s = {scratch, scratch + n, scratch + 2 * n, scratch + 3 * n};
    if (sort_nodes(trees, &s) < 0)
        return -1;
    memset(data, 0, (size_t)dst->len);
    const tl_tree_header header = {
        .dtype = (uint32_t)trees->split->dtype,
        .nodes = (uint32_t)n,
        .trees = (uint32_t)trees->root->len,
        .columns = (uint32_t)find_columns(trees, features, &s, (uint32_t *)(data + TL_TREE_ALIGN)),
        .is_simple = !trees->votes.start && !trees->votes.target,
    };
    find_depths(trees, &s);
    const tl_tree_parts parts =
        tl_tree_parts_of(trees->split->dtype, n, header.trees, header.columns);
    memcpy(data, &header, sizeof(header));
    write_all(trees, &s, &parts, &header, data);
    return 0;
}
