// SPDX-License-Identifier: Apache-2.0
// The memory planner: gives every tensor and every piece of scratch memory its offset before
// anything runs.
//
// Blocks are boxes in a strip: time goes across, the address up; two boxes may not overlap, and the
// strip shall be low. That is NP-hard, so several orders of placing are tried, each box going to
// the smallest gap among the boxes already placed that are alive at the same time, and the lowest
// strip is kept. Models with very many blocks are placed in order of time with a memory pool.

#include <stdlib.h>
#include <string.h>

#include "ir/ln_lifetime.h"
#include "lightnet/ln_pass.h"
#include "lightnet/ln_util.h"

// Above this many blocks the search for gaps, which grows with the square of the number, gives way
// to the pool.
enum { MAX_SEARCHED = 4096 };

typedef int (*block_order)(const void *, const void *);

typedef struct plan {
    const ln_context *ctx;
    ln_block **blocks; // those to place, all of one memory type
    ln_block **placed; // the ones placed so far, by offset
    size_t *best;      // offsets of the best plan so far, in the blocks' original order
    size_t n;
    size_t align;
    size_t max_size;
} plan;

static ln_block *block_at(const void *p)
{
    return *(ln_block *const *)p;
}

static int compare(size_t a, size_t b)
{
    return a < b ? -1 : a > b;
}

static size_t duration(const ln_block *block)
{
    return (size_t)(block->last - block->first) + 1;
}

static int by_address(const void *a, const void *b)
{
    return compare((size_t)(uintptr_t)block_at(a), (size_t)(uintptr_t)block_at(b));
}

static int largest_first(const void *a, const void *b)
{
    const int c = compare(block_at(b)->size, block_at(a)->size);
    return c ? c : by_address(a, b);
}

static int longest_first(const void *a, const void *b)
{
    const int c = compare(duration(block_at(b)), duration(block_at(a)));
    return c ? c : largest_first(a, b);
}

static int earliest_first(const void *a, const void *b)
{
    const int c = compare((size_t)block_at(a)->first, (size_t)block_at(b)->first);
    return c ? c : largest_first(a, b);
}

static const block_order orders[] = {largest_first, longest_first, earliest_first};

static size_t align_up(size_t n, size_t align)
{
    return (n + align - 1) / align * align;
}

static int alive_together(const ln_block *a, const ln_block *b)
{
    return a->first <= b->last && b->first <= a->last;
}

// The offset of the smallest gap, below or between the placed blocks alive together with `block`,
// that holds it; else above them.
static size_t smallest_gap(const plan *p, size_t n_placed, const ln_block *block)
{
    size_t at = p->align, best = 0, best_gap = SIZE_MAX;
    for (size_t i = 0; i < n_placed; i++) {
        const ln_block *other = p->placed[i];
        if (!alive_together(block, other))
            continue;
        if (other->offset > at && other->offset - at >= block->size &&
            other->offset - at < best_gap) {
            best = at;
            best_gap = other->offset - at;
        }
        const size_t end = align_up(other->offset + other->size, p->align);
        if (end > at)
            at = end;
    }
    return best ? best : at;
}

static void keep_sorted(ln_block **placed, size_t n_placed, ln_block *block)
{
    size_t i = n_placed;
    for (; i > 0 && placed[i - 1]->offset > block->offset; i--)
        placed[i] = placed[i - 1];
    placed[i] = block;
}

static size_t place_in_order(plan *p, block_order order)
{
    size_t peak = 0;
    qsort(p->blocks, p->n, sizeof(*p->blocks), order);
    for (size_t i = 0; i < p->n; i++) {
        ln_block *block = p->blocks[i];
        block->offset = smallest_gap(p, i, block);
        keep_sorted(p->placed, i, block);
        if (block->offset + block->size > peak)
            peak = block->offset + block->size;
    }
    return peak;
}

static int earliest_end(const void *a, const void *b)
{
    const int c = compare((size_t)block_at(a)->last, (size_t)block_at(b)->last);
    return c ? c : by_address(a, b);
}

// Plays the program with a pool: a block is allocated when its life begins, and given back when it
// ended. Returns 0 on failure.
static size_t place_with_pool(plan *p)
{
    size_t peak = 0, ended = 0;
    ln_mem_pool *pool = ln_mem_pool_create(p->max_size, p->align);
    if (!pool)
        return 0;
    qsort(p->blocks, p->n, sizeof(*p->blocks), earliest_first);
    memcpy(p->placed, p->blocks, p->n * sizeof(*p->blocks));
    qsort(p->placed, p->n, sizeof(*p->placed), earliest_end);
    for (size_t i = 0; i < p->n; i++) {
        ln_block *block = p->blocks[i];
        for (; p->placed[ended]->last < block->first; ended++)
            ln_mem_pool_dealloc(pool, p->placed[ended]->offset);
        block->offset = ln_mem_pool_alloc(pool, block->size ? block->size : 1);
        if (!block->offset) {
            peak = 0;
            break;
        }
        if (block->offset + block->size > peak)
            peak = block->offset + block->size;
    }
    ln_mem_pool_free(pool);
    return peak;
}

static void remember(plan *p)
{
    qsort(p->blocks, p->n, sizeof(*p->blocks), by_address);
    for (size_t i = 0; i < p->n; i++)
        p->best[i] = p->blocks[i]->offset;
}

static void recall(plan *p)
{
    qsort(p->blocks, p->n, sizeof(*p->blocks), by_address);
    for (size_t i = 0; i < p->n; i++)
        p->blocks[i]->offset = p->best[i];
}

// Places the blocks of the plan; returns the memory needed, 0 with a reason on failure.
static size_t place_all(plan *p)
{
    size_t lowest = place_with_pool(p);
    if (!lowest) {
        ln_fail_last(p->ctx);
        return 0;
    }
    remember(p);
    for (size_t k = 0; p->n <= MAX_SEARCHED && k < sizeof(orders) / sizeof(orders[0]); k++) {
        const size_t peak = place_in_order(p, orders[k]);
        if (peak < lowest) {
            lowest = peak;
            remember(p);
        }
    }
    recall(p);
    return lowest;
}

static int check_total(const ln_context *ctx, const plan *p)
{
    size_t total = p->align;
    for (size_t i = 0; i < p->n; i++) {
        if (ln_size_add(total, p->blocks[i]->size, &total) || ln_size_add(total, p->align, &total))
            return ln_fail(ctx, "the tensors together need more memory than an address can name");
    }
    return 0;
}

static int plan_type(ln_context *ctx, ln_lifetime *life, ln_mem_type mtype)
{
    const ln_mem_info info = ln_mem_type_info(mtype);
    plan p = {.ctx = ctx, .align = info.align_size, .max_size = info.max_size};
    int status = -1;
    p.blocks = ln_alloc((life->n + 1) * sizeof(*p.blocks));
    p.placed = ln_alloc((life->n + 1) * sizeof(*p.placed));
    p.best = ln_alloc((life->n + 1) * sizeof(*p.best));
    if (!p.blocks || !p.placed || !p.best) {
        ln_fail(ctx, "out of memory");
        goto done;
    }
    for (size_t i = 0; i < life->n; i++)
        if (life->blocks[i].part_of == (int)i && life->blocks[i].mtype == mtype)
            p.blocks[p.n++] = &life->blocks[i];
    if (check_total(ctx, &p))
        goto done;
    ctx->mem_sizes[mtype] = p.n ? place_all(&p) : 0;
    status = p.n && !ctx->mem_sizes[mtype] ? -1 : 0;
done:
    ln_free(p.blocks);
    ln_free(p.placed);
    ln_free(p.best);
    return status;
}

static int check_runnable(const ln_context *ctx)
{
    const ln_op *op;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        const ln_tensor_list_entry *tle;
        LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
        {
            const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tle->name);
            if (te->mtype == LN_MEM_NONE)
                return ln_fail(ctx,
                               "operator '%s' (%s) cannot run on target '%s': no rewrite gives its "
                               "tensor '%s' a place",
                               op->op_arg->name, op->op_arg->optype, ctx->target, te->name);
        }
    }
    return 0;
}

static void set_list_offsets(ln_context *ctx, const ln_list *tensors)
{
    ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, tensors)
    {
        tle->offset = ln_tensor_table_find(ctx->tensor_table, tle->name)->offset;
    }
}

// The operator that knows where a view lies in its owner: the one that made the view or, when the
// tensor was only later given away to be part of another (a no-copy gather), the one that made
// that.
static size_t view_offset(const ln_context *ctx, ln_tensor_entry *te, const ln_tensor_entry *owner)
{
    const ln_op *maker = ln_context_creater(ctx, te->name);
    const ln_op *owners_maker = ln_context_creater(ctx, owner->name);
    const int given_away =
        ln_tensor_list_find_by_name(maker->op_arg->tensors_in, owner->name) == NULL;
    const ln_op *op = given_away ? owners_maker : maker;
    return op->calc_offset ? op->calc_offset(op->op_arg, te) : owner->offset;
}

static void resolve(const ln_context *ctx, const ln_lifetime *life, ln_tensor_entry *te, int depth)
{
    if (!te->owner) {
        te->offset = ln_lifetime_block(ctx, life, te)->offset;
        return;
    }
    ln_tensor_entry *owner = ln_tensor_table_find(ctx->tensor_table, te->owner);
    if (depth > 0)
        resolve(ctx, life, owner, depth - 1);
    te->offset = view_offset(ctx, te, owner);
}

static void write_offsets(ln_context *ctx, const ln_lifetime *life)
{
    const ln_op *op;
    const int depth = ln_hash_size(ctx->tensor_table);
    LN_LIST_FOREACH(op, ctx->ops)
    {
        const ln_tensor_list_entry *tle;
        LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
        {
            resolve(ctx, life, ln_tensor_table_find(ctx->tensor_table, tle->name), depth);
        }
    }
    LN_LIST_FOREACH(op, ctx->ops)
    {
        set_list_offsets(ctx, op->op_arg->tensors_in);
        set_list_offsets(ctx, op->op_arg->tensors_out);
    }
    for (size_t i = 0; i < life->n; i++)
        if (life->blocks[i].scratch)
            life->blocks[i].scratch->op_arg->scratch_offset = life->blocks[i].offset;
}

int ln_pass_mem_plan(ln_context *ctx)
{
    ln_lifetime life;
    int status = 0;
    if (check_runnable(ctx) || ln_lifetime_find(ctx, &life))
        return -1;
    for (int m = LN_MEM_NONE + 1; m < LN_MEM_TYPE_SIZE && !status; m++)
        status = plan_type(ctx, &life, m);
    if (!status) {
        write_offsets(ctx, &life);
        status = ln_lifetime_check(ctx, &life);
    }
    ln_lifetime_free(&life);
    return status;
}
