// SPDX-License-Identifier: Apache-2.0
// The drivers that apply an architecture's rewrites, and the record of which rules fired.

#include "lightnet/ln_pass.h"

#include <string.h>

#include "ir/ln_context_ops.h"
#include "lightnet/ln_util.h"

// What a driver may do before it is taken to go in circles: more than any sensible set of rules
// needs.
static int budget(const ln_context *ctx)
{
    return 1000 + 20 * ln_list_length(ctx->ops);
}

static int endless(const ln_context *ctx)
{
    return ln_fail(ctx, "the rewrites do not come to an end; the last one was '%s'",
                   ctx->fired ? ctx->fired : "of unknown name");
}

static int is_disabled(const ln_context *ctx, const char *name)
{
    return ln_list_find_custom(ctx->disabled, (void *)name, ln_str_cmp) != NULL;
}

int ln_pass_lowering_begins(const ln_context *ctx, const char *name)
{
    return !is_disabled(ctx, name);
}

int ln_pass_rule_begins(const ln_context *ctx, const char *name)
{
    return ctx->optimize && !is_disabled(ctx, name);
}

void ln_pass_rule_fires(const ln_context *ctx, const char *name, ln_list *new_ops)
{
    ln_op *op;
    LN_LIST_FOREACH(op, new_ops)
    {
        op->op_arg->rule = name;
    }
    ((ln_context *)ctx)->fired = name;
}

static ln_rule_count *find_count(const ln_context *ctx, const char *name)
{
    ln_rule_count *rule;
    LN_LIST_FOREACH(rule, ctx->rules)
    {
        if (ln_streq(rule->name, name))
            return rule;
    }
    return NULL;
}

static int count_fired(ln_context *ctx)
{
    if (!ctx->fired)
        return 0;
    ln_rule_count *rule = find_count(ctx, ctx->fired);
    if (!rule) {
        rule = ln_alloc(sizeof(*rule));
        ln_list *longer = rule ? ln_list_append(ctx->rules, rule) : NULL;
        if (!longer) {
            ln_free(rule);
            return ln_fail(ctx, "out of memory");
        }
        ctx->rules = longer;
        *rule = (ln_rule_count){.name = ctx->fired};
    }
    rule->count++;
    return 0;
}

static int touches_mutated(const ln_context *ctx, const ln_list *tensors)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, tensors)
    {
        if (ln_context_is_mutated(ctx, tle->name))
            return 1;
    }
    return 0;
}

// Moving operators together must not carry a reader past an operator that writes the same memory in
// place.
static int may_move(const ln_context *ctx, const ln_list *ops)
{
    const ln_op *op;
    if (!ops->next)
        return 1;
    LN_LIST_FOREACH(op, ops)
    {
        if (touches_mutated(ctx, op->op_arg->tensors_in) ||
            touches_mutated(ctx, op->op_arg->tensors_out))
            return 0;
    }
    return 1;
}

// Puts `new_ops` in place of `old_ops` unless that is unsafe. Returns 1 when it did, 0 when not, -1
// on failure.
static int apply(ln_context *ctx, ln_list *old_ops, ln_list *new_ops, ln_list **next)
{
    if (!may_move(ctx, old_ops)) {
        ln_list_free_deep(new_ops, (ln_free_func)ln_op_free_lists_too);
        return 0;
    }
    if (count_fired(ctx) || ln_context_substitute(ctx, old_ops, new_ops, next)) {
        if (ctx->fired)
            ln_fail_at(ctx, "rule '%s'", ctx->fired);
        return -1;
    }
    return 1;
}

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

// What a driver offers: one of the three kinds of functions, and how.
typedef struct rewriter {
    int (*offer)(ln_context *ctx, ln_list *node, const struct rewriter *with, ln_list **next);
    const ln_expander_func *ep_funcs;
    const ln_combiner_func *cb_funcs;
    const ln_subgraph_func *sg_funcs;
    size_t win_size;
} rewriter;

// Each offer returns 1 when a function rewrote (*next is where to go on), 0 when none applies, -1
// on failure.

static int offer_op(ln_context *ctx, ln_list *node, const rewriter *with, ln_list **next)
{
    ln_list *old_ops = window(node, 1);
    int status = old_ops ? 0 : ln_fail(ctx, "out of memory");
    for (const ln_expander_func *func = with->ep_funcs; *func && !status; func++) {
        int match = 0;
        ctx->fired = NULL;
        ln_list *new_ops = (*func)(ctx, node->data, &match);
        if (match)
            status = apply(ctx, old_ops, new_ops, next);
    }
    ln_list_free(old_ops);
    return status;
}

static int offer_window(ln_context *ctx, ln_list *node, const rewriter *with, ln_list **next)
{
    ln_list *ops = window(node, with->win_size);
    int status = ops ? 0 : ln_fail(ctx, "out of memory");
    const int whole = (size_t)ln_list_length(ops) == with->win_size;
    for (const ln_combiner_func *func = with->cb_funcs; whole && *func && !status; func++) {
        int match = 0;
        ctx->fired = NULL;
        ln_list *new_ops = (*func)(ctx, ops, with->win_size, &match);
        if (match)
            status = apply(ctx, ops, new_ops, next);
    }
    ln_list_free(ops);
    return status;
}

static int offer_anchor(ln_context *ctx, ln_list *node, const rewriter *with, ln_list **next)
{
    int status = 0;
    ctx->anchor = node->data;
    for (const ln_subgraph_func *func = with->sg_funcs; *func && !status; func++) {
        ln_list *old_ops = NULL;
        ctx->fired = NULL;
        ln_list *new_ops = (*func)(ctx, &old_ops);
        if (old_ops)
            status = apply(ctx, old_ops, new_ops, next);
        ln_list_free(old_ops);
    }
    ctx->anchor = NULL;
    return status;
}

// One walk over the list, going on at what was rewritten. Returns the number of rewrites, or -1.
static int walk(ln_context *ctx, const rewriter *with)
{
    int n = 0;
    const int most = budget(ctx);
    for (ln_list *node = ctx->ops; node;) {
        ln_list *next = NULL;
        const int status = with->offer(ctx, node, with, &next);
        if (status < 0 || *ln_context_error(ctx)) // a function may have failed without a match
            return -1;
        n += status;
        if (n > most)
            return endless(ctx);
        node = status ? next : node->next;
    }
    return n;
}

int ln_pass_expander(ln_context *ctx, const ln_expander_func *ep_funcs)
{
    const rewriter with = {.offer = offer_op, .ep_funcs = ep_funcs};
    return ep_funcs ? walk(ctx, &with) : 0;
}

int ln_pass_combiner(ln_context *ctx, size_t win_size, const ln_combiner_func *cb_funcs)
{
    const rewriter with = {.offer = offer_window, .cb_funcs = cb_funcs, .win_size = win_size};
    return cb_funcs && win_size ? walk(ctx, &with) : 0;
}

int ln_pass_subgraph(ln_context *ctx, const ln_subgraph_func *sg_funcs)
{
    const rewriter with = {.offer = offer_anchor, .sg_funcs = sg_funcs};
    return sg_funcs ? walk(ctx, &with) : 0;
}

static int is_permutation(ln_context *ctx, const ln_list *ops)
{
    const ln_op *op;
    int n = 0;
    LN_LIST_FOREACH(op, ops)
    {
        n++;
        if (ln_op_table_find(ctx->op_table, op->op_arg->name) != op)
            return 0;
    }
    return n == ln_list_length(ctx->ops);
}

static void renumber(ln_context *ctx)
{
    for (ln_list *node = ctx->ops; node; node = node->next)
        ((ln_op *)node->data)->op_arg->node = node;
}

int ln_pass_schedule(ln_context *ctx, const ln_schedule_func *sd_funcs)
{
    for (; sd_funcs && *sd_funcs; sd_funcs++) {
        ln_list *ops = (*sd_funcs)(ctx);
        if (!is_permutation(ctx, ops)) {
            ln_list_free(ops);
            return ln_fail(ctx, "a schedule function returned other operators than it was given");
        }
        ln_list_free(ctx->ops);
        ctx->ops = ops;
        renumber(ctx);
        if (ln_context_check(ctx))
            return ln_fail_at(ctx, "a schedule function broke the order");
    }
    return 0;
}
