// SPDX-License-Identifier: Apache-2.0
// The driver of combiners: functions that rewrite operators that stand side by side in the list.

#include "ir/ln_context_ops.h"
#include "lightnet/ln_pass.h"
#include "pass/ln_pass_walk.h"

static ln_list *window(const ln_list *node, size_t size)
{
    ln_list *ops = NULL;
    for (; node && size; node = node->next, size--) {
        ln_list *longer = ln_list_prepend(ops, node->data);
        if (!longer) {
            ln_list_free(ops);
            return NULL;
        }
        ops = longer;
    }
    return ln_list_reverse(ops);
}

static int offer_window(ln_context *ctx, ln_list *node, const ln_pass_rewriter *with,
                        ln_list **next)
{
    ln_list *ops = window(node, with->win_size);
    int status = ops ? 0 : ln_fail_memory(ctx);
    const int whole = (size_t)ln_list_length(ops) == with->win_size;
    for (const ln_combiner_func *func = with->cb_funcs; whole && *func && !status; func++) {
        int match = 0;
        ctx->rewriting->fired = NULL;
        ln_list *new_ops = (*func)(ctx, ops, with->win_size, &match);
        if (match || ln_pass_has_failed(ctx))
            status = ln_pass_apply(ctx, ops, new_ops, next);
    }
    ln_list_free(ops);
    return status;
}

int ln_pass_combiner(ln_context *ctx, size_t win_size, const ln_combiner_func *cb_funcs)
{
    const ln_pass_rewriter with = {
        .offer = offer_window, .cb_funcs = cb_funcs, .win_size = win_size};
    return cb_funcs && *cb_funcs && win_size ? ln_pass_walk(ctx, &with) : 0;
}
