// SPDX-License-Identifier: Apache-2.0
// What a model is made of and what a run costs: ln_context_stats.

#include <string.h>

#include "plan/ln_lifetime.h"
#include "lightnet/ln_context.h"

static void count_constants(const ln_context *ctx, const ln_op *op, ln_stats *stats)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
    {
        const ln_tensor_entry *te = ln_entry_of(tle, ctx->tensor_table);
        if (!te->isconst || op->op_arg->tensors_in)
            continue;
        stats->params += (size_t)te->tensor->len;
        stats->param_size += tl_tensor_size(te->tensor);
    }
}

static void count_ops(const ln_context *ctx, ln_stats *stats)
{
    const ln_op *op;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        stats->ops++;
        stats->ops_at_load += op->op_arg->at_load && op->run;
        stats->views += !op->run && !op->static_run;
        count_constants(ctx, op, stats);
    }
}

int ln_context_stats(const ln_context *ctx, ln_stats *stats)
{
    const ln_op *op;
    const ln_context *body;
    ln_lifetime life;
    memset(stats, 0, sizeof(*stats));
    count_ops(ctx, stats);
    LN_LIST_FOREACH(body, ctx->bodies)
    {
        count_ops(body, stats);
    }
    // An operator that runs a body tells what that costs.
    LN_LIST_FOREACH(op, ctx->ops)
    {
        stats->macs += op->op_arg->at_load ? 0 : op->op_arg->macs;
    }
    if (!ctx->target)
        return 0;
    if (ln_lifetime_find(ctx, &life))
        return -1;
    stats->memory = ctx->mem_sizes[LN_MEM_CPU];
    const int status = ln_lifetime_bound(ctx, &life, LN_MEM_CPU, &stats->memory_bound);
    ln_lifetime_free(&life);
    return status;
}
