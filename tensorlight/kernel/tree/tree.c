// SPDX-License-Identifier: Apache-2.0
// Decision trees: checks, choice of the kernel, scratch memory, threads.

#include "kernel/tree/tree.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "tensor/tl_name.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_util.h"

TL_KERNEL_TABLE(pick_find, tl_tree_find, TL_TREE_KERNELS)

static const char *const aggregates[] = {
    [TL_TREE_SUM] = "TL_TREE_SUM",
    [TL_TREE_AVERAGE] = "TL_TREE_AVERAGE",
    [TL_TREE_MIN] = "TL_TREE_MIN",
    [TL_TREE_MAX] = "TL_TREE_MAX",
};

TL_NAME_AND_FROM_STR(tl_tree_aggregate, aggregates, TL_TREE_SIZE)

// Checks

static const int32_t *ints_of(const tl_tensor *t)
{
    return t ? t->data : NULL;
}

// -1 with a reason: a value is not in 0 .. limit-1.
static int check_range(const tl_tensor *t, const char *what, int64_t limit)
{
    const int32_t *const ints = ints_of(t);
    for (int i = 0; t && i < t->len; i++)
        if (ints[i] < 0 || ints[i] >= limit)
            return tl_fail("%s %d is %d, expected 0 to %lld", what, i, (int)ints[i],
                           (long long)limit - 1);
    return 0;
}

int tl_tree_check_votes(const tl_tree_votes *votes, int targets, size_t *n_leaves)
{
    const int32_t *const start = ints_of(votes->start);
    const int n_votes = votes->weight->len, n = start ? votes->start->len - 1 : n_votes;
    if (n < 0)
        return tl_fail("'start' is empty, expected the index of each leaf's first vote, then the "
                       "number of votes");
    for (int i = 0; start && i <= n; i++)
        if (start[i] < (i ? start[i - 1] : 0) || start[i] > n_votes)
            return tl_fail("leaf %d has votes from %d on, expected %d to %d", i, (int)start[i],
                           i ? (int)start[i - 1] : 0, n_votes);
    *n_leaves = (size_t)n;
    return targets < 1 && n_votes > 0 ? tl_fail("%d targets, expected at least 1", targets)
                                      : check_range(votes->target, "the target of vote", targets);
}

int tl_tree_check_nodes(const tl_trees *trees, int features, size_t n_leaves)
{
    const int32_t *const feature = trees->feature->data, *const child = trees->child->data;
    const int n = trees->split->len;
    for (int i = 0; i < n; i++) {
        const int32_t *const to = child + 2 * (size_t)i;
        if (feature[i] >= 2 * (int64_t)features)
            return tl_fail("node %d has feature %d, expected less than twice the features, %d", i,
                           (int)feature[i], features);
        if (feature[i] < 0 && (to[0] < 0 || (size_t)to[0] >= n_leaves))
            return tl_fail("node %d is leaf %d, expected 0 to %lld", i, (int)to[0],
                           (long long)n_leaves - 1);
        for (int k = 0; feature[i] >= 0 && k < 2; k++)
            if (to[k] < 0 || to[k] >= n)
                return tl_fail("node %d has child %d, expected 0 to %d", i, (int)to[k], n - 1);
    }
    return check_range(trees->root, "the root of tree", n);
}

static void assert_tensors(const tl_tensor *src, const tl_tree_votes *votes, const tl_tensor *base,
                           const tl_tensor *dst)
{
    assert(src->ndim == 2 && dst->ndim == 2 && src->dims[0] == dst->dims[0]);
    assert(src->dtype == TL_FLOAT || src->dtype == TL_DOUBLE);
    assert(dst->dtype == src->dtype && votes->weight->dtype == src->dtype);
    assert(!base || (base->dtype == src->dtype && base->len == dst->dims[1]));
    assert(!votes->target || votes->target->len == votes->weight->len);
    (void)src, (void)votes, (void)base, (void)dst;
}

static tl_tree_job job_of(const tl_tensor *src, const tl_tree_votes *votes, const tl_tensor *base,
                          tl_tensor *dst, tl_tree_aggregate aggregate)
{
    assert_tensors(src, votes, base, dst);
    return (tl_tree_job){
        .votes = *votes,
        .n_leaves = (size_t)(votes->start ? votes->start->len - 1 : votes->weight->len),
        .src = src->data,
        .base = base ? base->data : NULL,
        .dst = dst->data,
        .rows = (size_t)src->dims[0],
        .features = (size_t)src->dims[1],
        .targets = (size_t)dst->dims[1],
        .aggregate = aggregate,
        .type = tl_tree_type_of(src->dtype),
    };
}

// The direct walk

int tl_exec_trees(const tl_exec *exec, const tl_tensor *src, const tl_trees *trees,
                  const tl_tensor *base, tl_tensor *dst, tl_tree_aggregate aggregate)
{
    size_t n_leaves;
    assert(trees->feature->len == trees->split->len && trees->child->len / 2 == trees->split->len);
    if (tl_tree_check_votes(&trees->votes, dst->dims[1], &n_leaves) < 0 ||
        tl_tree_check_nodes(trees, src->dims[1], n_leaves) < 0)
        return -1;
    tl_tree_job job = job_of(src, &trees->votes, base, dst, aggregate);
    job.direct = trees;
    if (dst->len > 0)
        tl_parallel(exec, job.rows, 1 + TL_GRAIN_COMPUTE_BOUND / ((size_t)trees->root->len * 8 + 1),
                    job.type->direct, &job);
    return job.is_cyclic ? tl_fail("the nodes have a cycle, expected trees") : 0;
}

// Packed trees

static const void *part(const tl_tensor *packed, size_t offset)
{
    return (const char *)packed->data + offset;
}

// Max columns and trees of packed trees of a size.
typedef struct max {
    size_t columns, trees;
} max;

static max max_of(tl_dtype dtype, size_t features, size_t packed)
{
    const tl_tree_type *const type = tl_tree_type_of(dtype);
    const size_t nodes = packed / type->node_size;
    return (max){tl_min_size(2 * features, nodes) + 1, packed / type->tree_size + 1};
}

int tl_trees_check(const tl_tensor *packed, tl_dtype dtype, int features,
                   const tl_tree_votes *votes, int targets)
{
    const tl_tree_header *const h = packed->data;
    size_t n_leaves;
    if (tl_tree_check_votes(votes, targets, &n_leaves) < 0)
        return -1;
    if (packed->len < TL_TREE_ALIGN || h->dtype != (uint32_t)dtype || h->nodes > INT_MAX ||
        h->trees > INT_MAX || h->is_simple > 1 || (h->is_simple && targets < 1) ||
        h->columns >= max_of(dtype, (size_t)features, (size_t)packed->len).columns)
        return tl_fail("'packed' has an invalid header, expected packed trees");
    const tl_tree_parts parts = tl_tree_parts_of(dtype, h->nodes, h->trees, h->columns);
    const uint32_t *const columns = part(packed, parts.columns);
    if (parts.size > (size_t)packed->len)
        return tl_fail("'packed' has %d bytes, expected %zu", packed->len, parts.size);
    for (size_t i = 0; i < h->columns; i++)
        if (columns[i] >= 2 * (uint64_t)features)
            return tl_fail("'packed' has feature %u, expected less than twice the features, %d",
                           (unsigned)columns[i], features);
    if (!tl_tree_type_of(dtype)->is_valid(h, part(packed, parts.trees), part(packed, parts.nodes)))
        return tl_fail("'packed' has a node, column or depth that is out of range");
    return 0;
}

static uint64_t block_size(size_t columns, size_t element_size)
{
    return (uint64_t)columns * TL_TREE_ROWS * element_size; // columns are fewer than 2^28
}

// As many blocks as fit in about half of an L2 cache.
static size_t blocks_of(size_t columns, size_t element_size)
{
    const uint64_t n = ((uint64_t)256 << 10) / block_size(columns, element_size);
    return n < 1 ? 1 : tl_min_size((size_t)n, TL_TREE_BLOCKS);
}

static size_t slot_size(size_t columns, size_t element_size)
{
    const uint64_t size = block_size(columns, element_size) * blocks_of(columns, element_size);
    return (size_t)size == size ? (size_t)size : SIZE_MAX;
}

// Memory for few rows: the values of their columns, then a node for each tree.
static size_t few_size(const max *m, size_t rows, size_t element_size)
{
    return rows * m->columns * element_size + m->trees * sizeof(uint32_t);
}

size_t tl_trees_scratch(const tl_tensor *src, const tl_tensor *packed, int threads)
{
    const max m = max_of(src->dtype, (size_t)src->dims[1], (size_t)packed->len);
    const size_t rows = (size_t)src->dims[0], size = tl_size_of(src->dtype);
    const size_t blocks = tl_ceil_div(rows, TL_TREE_FEW_ROWS);
    const int slots = blocks < (size_t)threads ? (int)blocks : threads;
    const size_t many =
        rows < TL_TREE_FEW_ROWS ? 0 : tl_slots_size(slot_size(m.columns, size), slots);
    const size_t few = few_size(&m, tl_min_size(rows, TL_TREE_FEW_ROWS - 1), size);
    return many > few ? many : few;
}

static void find_blocks(const tl_exec *exec, tl_tree_job *job, size_t columns)
{
    const size_t size = job->type->element_size, threads = (size_t)tl_pool_size(exec->pool);
    const size_t slots = exec->scratch_size / job->slot_size;
    const size_t max_rows = blocks_of(columns, size) * TL_TREE_ROWS;
    const size_t share = tl_ceil_div(job->rows, tl_min_size(slots, threads));
    // Whole lanes; a unit of one row more than a block takes as long as two blocks.
    const size_t even = tl_ceil_div(share, tl_ceil_div(share, max_rows));
    job->unit = tl_ceil_div(even, TL_TREE_LANES) * TL_TREE_LANES;
    job->group = 1 + (size_t)(((uint64_t)128 << 10) * job->header->trees /
                              ((uint64_t)job->header->nodes * job->type->node_size + 1));
    tl_parallel_slots(exec, tl_ceil_div(job->rows, job->unit), slots, job->type->blocks, job);
}

// Few rows, one after the other: trees are units.
typedef struct few {
    const tl_tree_job *job;
    const char *values;
    uint32_t *at;
    size_t row;
} few;

static void find_in_trees(void *arg, size_t begin, size_t end)
{
    const few *const f = arg;
    const tl_tree_job *const job = f->job;
    const size_t row_size = job->header->columns * job->type->element_size;
    job->type->find_row(job, f->values + f->row * row_size, begin, end, f->at);
}

static void find_rows(const tl_exec *exec, const tl_tree_job *job, size_t columns)
{
    char *const values = exec->scratch;
    uint32_t *const at = (uint32_t *)(values + job->rows * columns * job->type->element_size);
    job->type->values(job, values);
    for (size_t r = 0; r < job->rows; r++) {
        few f = {job, values, at, r};
        tl_parallel(exec, job->header->trees, 256, find_in_trees, &f);
        if (tl_stop_is_requested(exec->stop))
            return;
        job->type->sum_row(job, r, at);
    }
}

int tl_exec_trees_packed(const tl_exec *exec, const tl_tensor *src, const tl_tensor *packed,
                         const tl_tree_votes *votes, const tl_tensor *base, tl_tensor *dst,
                         tl_tree_aggregate aggregate)
{
    const size_t columns = max_of(src->dtype, (size_t)src->dims[1], (size_t)packed->len).columns;
    if (dst->len == 0)
        return 0;
    if (tl_check_scratch(exec, tl_trees_scratch(src, packed, 1), "to search trees") < 0)
        return -1;
    const tl_tree_header *const h = packed->data;
    const tl_tree_parts parts = tl_tree_parts_of(src->dtype, h->nodes, h->trees, h->columns);
    tl_tree_job job = job_of(src, votes, base, dst, aggregate);
    job.header = h;
    job.columns = part(packed, parts.columns);
    job.trees = part(packed, parts.trees);
    job.nodes = part(packed, parts.nodes);
    job.find = pick_find(exec, src->dtype);
    job.scratch = exec->scratch;
    job.slot_size = slot_size(columns, job.type->element_size);
    job.stop = exec->stop;
    if (job.rows < TL_TREE_FEW_ROWS)
        find_rows(exec, &job, columns);
    else
        find_blocks(exec, &job, columns);
    return 0;
}
