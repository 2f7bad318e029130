// SPDX-License-Identifier: Apache-2.0
// The drivers of expanders and subgraph functions.

#include "lightnet/ln_pass.h"

#include "ir/ln_context_ops.h"
#include "ir/ln_limits.h"
#include "lightnet/ln_util.h"
#include "pass/ln_pass_walk.h"
#include "plan/ln_plan.h"

// What a driver may do before it is taken to go in circles: more than any sensible set of rules
// needs.
static int budget(const ln_context *ctx)
{
    return 1000 + 20 * ln_hash_size(ctx->op_table);
}

static int endless(const ln_context *ctx)
{
    return ln_fail(ctx, "the rewrites do not terminate; the last one was '%s'",
                   ctx->rewriting->fired ? ctx->rewriting->fired : "of unknown name");
}

static int touches_mutated(const ln_context *ctx, const ln_list *tensors)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, tensors)
    {
        if (ln_entry_is_mutated(ln_entry_of(tle, ctx->tensor_table)))
            return 1;
    }
    return 0;
}

// Moving operators together must not carry a reader past an operator that writes the same memory in
// place.
static int may_move(const ln_context *ctx, const ln_list *ops)
{
    const ln_op *op;
    if (!ops || !ops->next)
        return 1;
    LN_LIST_FOREACH(op, ops)
    {
        if (touches_mutated(ctx, op->op_arg->tensors_in) ||
            touches_mutated(ctx, op->op_arg->tensors_out))
            return 0;
    }
    return 1;
}

int ln_pass_apply(ln_context *ctx, ln_list *old_ops, ln_list *new_ops, ln_list **next)
{
    if (ln_pass_has_failed(ctx) || !may_move(ctx, old_ops)) {
        ln_op_list_free_lists_too(new_ops);
        return ln_pass_has_failed(ctx) ? -1 : 0;
    }
    if (ln_rewriting_count(ctx)) {
        ln_op_list_free_lists_too(new_ops);
        return -1;
    }
    if (!ln_context_substitute(ctx, old_ops, new_ops, next))
        return 1;
    return ctx->rewriting->fired ? ln_fail_at(ctx, "rule '%s'", ctx->rewriting->fired) : -1;
}

static int offer_op(ln_context *ctx, ln_list *node, const ln_pass_rewriter *with, ln_list **next)
{
    ln_list old_ops = {.data = node->data}; // a list of its own: nothing is allocated for a look
    int status = 0;
    for (const ln_expander_func *func = with->ep_funcs; *func && !status; func++) {
        int match = 0;
        ctx->rewriting->fired = NULL;
        ln_list *new_ops = (*func)(ctx, node->data, &match);
        if (match || ln_pass_has_failed(ctx))
            status = ln_pass_apply(ctx, &old_ops, new_ops, next);
    }
    return status;
}

static int offer_anchor(ln_context *ctx, ln_list *node, const ln_pass_rewriter *with,
                        ln_list **next)
{
    int status = 0;
    ctx->rewriting->anchor = node->data;
    for (const ln_subgraph_func *func = with->sg_funcs; *func && !status; func++) {
        ln_list *old_ops = NULL;
        ctx->rewriting->fired = NULL;
        ln_list *new_ops = (*func)(ctx, &old_ops);
        if (old_ops || ln_pass_has_failed(ctx))
            status = ln_pass_apply(ctx, old_ops, new_ops, next);
        ln_list_free(old_ops);
    }
    ctx->rewriting->anchor = NULL;
    return status;
}

static int walk(ln_context *ctx, const ln_pass_rewriter *with)
{
    int n = 0;
    const int most = budget(ctx);
    for (ln_list *node = ctx->ops; node;) {
        ln_list *next = NULL;
        const int status = ln_limits_check(ctx) ? -1 : with->offer(ctx, node, with, &next);
        if (status < 0)
            return -1;
        n += status;
        if (n > most)
            return endless(ctx);
        node = status ? next : node->next;
    }
    return n;
}

int ln_pass_walk(ln_context *ctx, const ln_pass_rewriter *with)
{
    if (ln_rewriting_begin(ctx))
        return -1;
    const int n = walk(ctx, with);
    ln_rewriting_end(ctx);
    return n;
}

int ln_pass_mem_plan(ln_context *ctx)
{
    return ln_plan_memory(ctx);
}

int ln_pass_expander(ln_context *ctx, const ln_expander_func *ep_funcs)
{
    const ln_pass_rewriter with = {.offer = offer_op, .ep_funcs = ep_funcs};
    return ep_funcs && *ep_funcs ? ln_pass_walk(ctx, &with) : 0;
}

int ln_pass_subgraph(ln_context *ctx, const ln_subgraph_func *sg_funcs)
{
    const ln_pass_rewriter with = {.offer = offer_anchor, .sg_funcs = sg_funcs};
    return sg_funcs && *sg_funcs ? ln_pass_walk(ctx, &with) : 0;
}
