// SPDX-License-Identifier: Apache-2.0
// The memory of a context: given when it is loaded, taken back when it is unloaded, emptied or
// freed.

#include "run/ln_memory.h"

#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_limits.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_util.h"
#include "plan/ln_plan.h"
#include "run/ln_dynamic_run.h"
#include "run/ln_update.h"

// Calls `visit` for every tensor of the context, in the order in which the operators make them.
static void for_each_tensor(ln_context *ctx, void (*visit)(ln_context *, ln_tensor_entry *))
{
    const ln_op *op;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        const ln_tensor_list_entry *tle;
        LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
        {
            visit(ctx, ln_tensor_table_find(ctx->tensor_table, tle->name));
        }
    }
}

static void bind_data(ln_context *ctx, ln_tensor_entry *te)
{
    char *start = ctx->mem_starts[te->mtype];
    te->tensor->data = start ? start + te->offset : NULL;
}

void ln_memory_bind(ln_context *ctx)
{
    for_each_tensor(ctx, bind_data);
}

/* What takes the most memory of a plan: a tensor, or an operator's scratch memory. */
typedef struct largest {
    const ln_op *op;
    const ln_tensor_entry *te; /* NULL: scratch memory */
    size_t size;
} largest;

static void find_largest_of(const ln_context *ctx, const ln_op *op, largest *l)
{
    const ln_tensor_list_entry *tle;
    if (op->op_arg->scratch_size > l->size)
        *l = (largest){op, NULL, op->op_arg->scratch_size};
    LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
    {
        const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tle->name);
        if (!te->owner && ln_tensor_entry_capacity(te) > l->size)
            *l = (largest){op, te, ln_tensor_entry_capacity(te)};
    }
}

static int fail_memory_limit(const ln_context *ctx, size_t total)
{
    largest l = {0};
    const ln_op *op;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        find_largest_of(ctx, op, &l);
    }
    if (!l.op)
        return ln_fail(ctx, "%zu bytes of memory exceed the limit of %zu bytes", total,
                       ln_limits_memory(ctx));
    return ln_fail(ctx,
                   "operator '%s' (%s): %s%s%s takes %zu of the %zu bytes of memory planned, which "
                   "exceed the limit of %zu bytes",
                   l.op->op_arg->name, l.op->op_arg->optype, l.te ? "tensor '" : "scratch memory",
                   l.te ? l.te->name : "", l.te ? "'" : "", l.size, total, ln_limits_memory(ctx));
}

static size_t planned_memory(const ln_context *ctx)
{
    size_t total = 0;
    for (int m = LN_MEM_NONE + 1; m < LN_MEM_TYPE_SIZE; m++)
        if (ln_size_add(total, ctx->mem_sizes[m], &total))
            return SIZE_MAX;
    return total;
}

static int check_memory_limit(const ln_context *ctx)
{
    const size_t total = planned_memory(ctx);
    return ln_limits_forbid(ctx, total) ? fail_memory_limit(ctx, total) : 0;
}

int ln_context_alloc_mem(ln_context *ctx)
{
    ln_context_clear_error(ctx);
    if (ln_context_is_loaded(ctx))
        return ln_fail(ctx, "the context is loaded already; unload it first");
    if (ln_dynamic_forget_runs(ctx) || ln_context_check_plan(ctx) || check_memory_limit(ctx))
        return -1;
    for (int m = LN_MEM_NONE + 1; m < LN_MEM_TYPE_SIZE; m++) {
        const ln_mem_info info = ln_mem_type_info(m);
        // A model that computes nothing has memory all the same: that is what being loaded means.
        if (!ctx->mem_sizes[m] && m != LN_MEM_CPU)
            continue;
        ctx->mem_starts[m] = info.alloc_func(ctx->mem_sizes[m]);
        if (!ctx->mem_starts[m]) {
            ln_context_dealloc_mem(ctx);
            return ln_fail(ctx, "cannot allocate %zu bytes of %s", ctx->mem_sizes[m], info.name);
        }
        ln_limits_take(ctx, ctx->mem_sizes[m]);
    }
    ln_memory_bind(ctx);
    return 0;
}

void ln_context_dealloc_mem(ln_context *ctx)
{
    ln_update_forget(ctx);
    for (int m = LN_MEM_NONE + 1; m < LN_MEM_TYPE_SIZE; m++) {
        if (!ctx->mem_starts[m])
            continue;
        ln_mem_type_info(m).free_func(ctx->mem_starts[m]);
        ctx->mem_starts[m] = NULL;
        ln_limits_give(ctx, ctx->mem_sizes[m]);
    }
    ln_memory_bind(ctx);
}

void ln_context_unload(ln_context *ctx)
{
    ln_budget *const before = ln_limits_enter(ctx);
    if (ln_context_is_loaded(ctx))
        ln_context_dealloc_mem(ctx);
    ln_bodies_unload(ctx);
    ln_weights_free(ctx->given);
    ctx->given = NULL;
    ln_list_free_deep(ctx->missing, ln_free);
    ctx->missing = NULL;
    ctx->stale = 0;
    ln_limits_leave(ctx, before, 0);
}

void ln_context_cleanup_ops(ln_context *ctx)
{
    ln_context_unload(ctx);
    ln_context_leave_ops(ctx);
}

void ln_context_cleanup(ln_context *ctx)
{
    ln_context_unload(ctx);
    ln_context_drop_model(ctx);
}

void ln_context_free(ln_context *ctx)
{
    if (ctx)
        ln_context_unload(ctx);
    ln_context_destroy(ctx);
}
