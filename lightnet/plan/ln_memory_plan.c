// SPDX-License-Identifier: Apache-2.0
// The memory plan of a context, for callers.

#include "lightnet/ln_memory_plan.h"

#include <string.h>

#include "ir/ln_context_ops.h"
#include "lightnet/ln_context.h"
#include "plan/ln_lifetime.h"

// The blocks of a context, and the callback that receives them.
typedef struct listing {
    const ln_context *ctx;
    const ln_lifetime *life;
    const char **ops; // names of operators by position, from 1
    ln_memory_func func;
    void *data;
} listing;

static const char **name_ops(const ln_context *ctx, const ln_lifetime *life)
{
    const char **names = ln_alloc_array((size_t)life->end + 1, sizeof(*names));
    int position = 0;
    LN_FOREACH (const ln_op *, op, names ? ctx->ops : NULL)
        names[++position] = op->op_arg->name;
    return names;
}

static const char *op_at(const listing *l, int time)
{
    const int position = time < 0 ? time + l->life->end : time;
    return position > 0 && position < l->life->end ? l->ops[position] : NULL;
}

static int list_block(const listing *l, const ln_block *block)
{
    const ln_block *const whole = &l->life->blocks[block->part_of];
    const ln_memory_block row = {
        .name = block->name,
        .mtype = block->mtype,
        .size = block->size,
        .offset = block->offset,
        .first = block->first,
        .last = block->last,
        .first_op = op_at(l, block->first),
        .last_op = op_at(l, block->last),
        .reuses = whole == block ? NULL : whole->name,
        .is_scratch = block->scratch != NULL,
        .is_constant = block->is_constant,
    };
    return l->func(l->data, &row) ? ln_fail(l->ctx, "the caller ended the list of blocks") : 0;
}

static int list_blocks(const ln_context *ctx, const ln_lifetime *life, ln_memory_func func,
                       void *data)
{
    const listing l = {ctx, life, name_ops(ctx, life), func, data};
    int status = l.ops ? 0 : ln_fail_last(ctx);
    for (size_t i = 0; !status && i < life->n; i++)
        status = list_block(&l, &life->blocks[i]);
    ln_free(l.ops);
    return status;
}

static int sum_up(const ln_context *ctx, const ln_lifetime *life, ln_memory_total *totals)
{
    memset(totals, 0, sizeof(*totals) * LN_MEM_TYPE_SIZE);
    for (int m = LN_MEM_CPU; m < LN_MEM_TYPE_SIZE; m++) {
        totals[m].size = ctx->mem_sizes[m];
        if (ln_lifetime_bound(ctx, life, (ln_mem_type)m, &totals[m].bound))
            return -1;
    }
    return 0;
}

int ln_context_memory_plan(const ln_context *ctx, ln_memory_func func, void *data,
                           ln_memory_total *totals)
{
    ln_lifetime life;
    if (!ctx->target)
        return ln_fail(ctx, "the model is not compiled: it has no memory plan");
    if (ln_lifetime_find(ctx, &life))
        return -1;
    const int status =
        -((totals && sum_up(ctx, &life, totals)) || (func && list_blocks(ctx, &life, func, data)));
    ln_lifetime_free(&life);
    return status;
}
