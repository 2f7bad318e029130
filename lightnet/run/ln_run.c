// SPDX-License-Identifier: Apache-2.0
// Running the operators of a loaded context.

#include "ir/ln_context_ops.h"
#include "ir/ln_limits.h"
#include "lightnet/ln_util.h"
#include "run/ln_load.h"
#include "run/ln_update.h"

static int run_op(const ln_op *op)
{
    return ln_dynamic_run((ln_op *)op);
}

// Everything that must hold before a run.
static int prepare_run(const ln_context *ctx)
{
    ln_context_clear_error(ctx);
    if (!ln_context_is_loaded(ctx))
        return ln_fail(ctx, "the context is not loaded");
    const char *missing = ctx->missing ? ctx->missing->data : NULL;
    if (missing && ln_hash_find(ctx->input_names, missing))
        return ln_fail_as(ctx, LN_BAD_ARGUMENT,
                          "input '%s' is not given; its data must be set before the first run",
                          missing);
    if (missing)
        return ln_fail(ctx,
                       "tensor '%s' takes its data from a file: give one when loading (-f FILE, "
                       "option 'weights'), or set it",
                       missing);
    if (ln_limits_check(ctx))
        return -1;
    return ctx->stale ? ln_update_run((ln_context *)ctx) : 0;
}

int ln_context_run(const ln_context *ctx)
{
    const ln_op *op;
    if (prepare_run(ctx))
        return -1;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        if (!op->op_arg->at_load && run_op(op))
            return -1;
    }
    return 0;
}

int ln_context_run_timed(const ln_context *ctx, uint64_t *ns)
{
    const ln_op *op;
    size_t i = 0;
    if (prepare_run(ctx))
        return -1;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        const uint64_t start = tl_clock();
        if (!op->op_arg->at_load && run_op(op))
            return -1;
        ns[i++] += tl_clock() - start;
    }
    return 0;
}

int ln_context_run_each(const ln_context *ctx, int (*seen)(void *data, const ln_op *op), void *data)
{
    const ln_op *op;
    if (prepare_run(ctx))
        return -1;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        if ((!op->op_arg->at_load && run_op(op)) || seen(data, op))
            return -1;
    }
    return 0;
}
