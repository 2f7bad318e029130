// SPDX-License-Identifier: Apache-2.0
// The memory of a context: allocated when it is loaded, freed when it is unloaded, emptied or
// freed.

#include "run/ln_load.h"

#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_limits.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_util.h"
#include "plan/ln_plan.h"
#include "run/ln_sharing.h"
#include "run/ln_update.h"

// Calls `visit` for every tensor of the context, in the order of their producers.
static void for_each_tensor(ln_context *ctx, void (*visit)(ln_context *, ln_tensor_entry *))
{
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        ln_tensor_entry *te;
        LN_OUTPUTS_FOREACH (te, op->op_arg)
            visit(ctx, te);
    }
}

static void bind_data(ln_context *ctx, ln_tensor_entry *te)
{
    char *start = ctx->mem_starts[te->mtype];
    if (ctx->sharing && te->mtype == LN_MEM_CPU)
        te->tensor->data = ln_sharing_address(ctx, te);
    else
        te->tensor->data = start ? start + te->offset : NULL;
}

void ln_memory_bind(ln_context *ctx)
{
    for_each_tensor(ctx, bind_data);
}

static int alloc_type(ln_context *ctx, ln_mem_type m)
{
    const ln_mem_info info = ln_mem_type_info(m);
    if (!info.alloc_func)
        return ln_fail(ctx, "the model needs %zu bytes of %s, which no loaded plug-in provides",
                       ctx->mem_sizes[m], info.name);
    ctx->mem_starts[m] = info.alloc_func(ctx->mem_sizes[m]);
    if (!ctx->mem_starts[m])
        return ln_fail_last(ctx);
    ln_limits_take(ctx, ctx->mem_sizes[m]);
    return 0;
}

static int share(ln_context *ctx)
{
    ln_lifetime life;
    if (ln_plan_find_checked(ctx, &life))
        return -1;
    const int status = ln_sharing_begin(ctx, &life);
    ln_lifetime_free(&life);
    return status;
}

static int alloc_all(ln_context *ctx)
{
    for (int m = LN_MEM_NONE + 1; m < LN_MEM_TYPE_SIZE; m++) {
        // A model without tensors has memory, too, which marks it as loaded.
        const int has_memory = ctx->mem_starts[m] || (!ctx->mem_sizes[m] && m != LN_MEM_CPU);
        if (!has_memory && alloc_type(ctx, m))
            return -1;
    }
    ln_memory_bind(ctx);
    return 0;
}

int ln_context_alloc_mem(ln_context *ctx)
{
    ln_context_clear_error(ctx);
    if (ln_context_is_loaded(ctx))
        return ln_fail(ctx, "the context is loaded already; unload it first");
    if (ln_dynamic_forget_runs(ctx))
        return -1;
    if (ctx->store ? share(ctx) : ln_context_check_plan(ctx) || ln_limits_check_plan(ctx))
        return -1;
    if (!alloc_all(ctx) && !ln_steps_find(ctx))
        return 0;
    ln_context_dealloc_mem(ctx);
    return -1;
}

void ln_memory_move(ln_context *ctx, void *region)
{
    ln_sharing_move(ctx, region);
    ln_memory_bind(ctx);
}

void ln_context_dealloc_mem(ln_context *ctx)
{
    ln_steps_forget(ctx);
    ln_update_forget(ctx);
    ln_sharing_end(ctx);
    for (int m = LN_MEM_NONE + 1; m < LN_MEM_TYPE_SIZE; m++) {
        if (!ctx->mem_starts[m])
            continue;
        ln_mem_type_info(m).free_func(ctx->mem_starts[m]);
        ctx->mem_starts[m] = NULL;
        ln_limits_give(ctx, ctx->mem_sizes[m]);
    }
    ln_memory_bind(ctx);
}

// The rest of the memory limit, at least 1, since 0 is no limit.
static size_t strings_limit(const ln_context *ctx)
{
    const size_t limit = ln_limits_memory(ctx), held = ln_limits_held(ctx);
    return !limit ? 0 : held < limit ? limit - held : 1;
}

void ln_strings_begin(ln_context *ctx, int is_running)
{
    ctx->is_running = is_running;
    if (is_running)
        tl_strings_clear(&ctx->strings[1]);
    tl_strings *const arena = &ctx->strings[is_running];
    const size_t limit = strings_limit(ctx), others = ctx->strings[!is_running].held;
    arena->limit = limit > others ? limit - others : limit ? 1 : 0;
    arena->is_over = 0;
}

void ln_strings_end(ln_context *ctx)
{
    tl_strings_free(&ctx->strings[0]);
    tl_strings_free(&ctx->strings[1]);
    ln_texts_free(ctx);
}

void ln_context_unload(ln_context *ctx)
{
    ln_budget *const before = ln_limits_enter(ctx);
    if (ln_context_is_loaded(ctx))
        ln_context_dealloc_mem(ctx);
    ln_strings_end(ctx);
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
