// SPDX-License-Identifier: Apache-2.0
// Planning a context that is not loaded, and its bodies.

#include "plan/ln_plan.h"

#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_limits.h"

int ln_plan(ln_context *ctx)
{
    return ln_limits_check(ctx) || ln_context_recheck(ctx) || ln_limits_check(ctx) ||
                   ln_plan_memory(ctx) || ln_context_check(ctx)
               ? -1
               : 0;
}

int ln_plan_all(ln_context *ctx)
{
    ln_context *body;
    LN_LIST_FOREACH(body, ctx->bodies)
    {
        if (ln_plan(body))
            return ln_fail_at(ctx, "body '%s'", ln_body_name(body));
    }
    return ln_plan(ctx);
}
