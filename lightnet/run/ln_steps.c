// SPDX-License-Identifier: Apache-2.0
// What each run of a context needs, found before the first one.

#include "ir/ln_sizes.h"
#include "lightnet/ln_util.h"
#include "run/ln_load.h"

// Operators without `run` may have dynamic outputs: views, whose shapes a run infers. A body has no
// load: it runs all.
static int is_step(const ln_context *ctx, const ln_op *op)
{
    return (!op->op_arg->at_load || ctx->body) && (op->run || op->op_arg->isdynamic);
}

int ln_steps_find(ln_context *ctx)
{
    ln_steps_forget(ctx);
    ln_op **const steps = ln_alloc_array((size_t)ln_list_length(ctx->ops) + 1, sizeof(*steps));
    size_t n = 0;
    if (!steps)
        return ln_fail_last(ctx);
    LN_FOREACH (ln_op *, op, ctx->ops)
        if (is_step(ctx, op))
            steps[n++] = op;
    ctx->steps = steps;
    if (ctx->body || !ln_sizes_find_named(ctx)) // the outer context checks its inputs
        return 0;
    ln_steps_forget(ctx);
    return -1;
}

void ln_steps_forget(ln_context *ctx)
{
    ln_sizes_forget_named(ctx);
    ln_free(ctx->steps);
    ctx->steps = NULL;
}
