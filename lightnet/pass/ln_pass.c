// SPDX-License-Identifier: Apache-2.0
// The drivers of expanders, combiners and subgraph functions, and their state.

#include "lightnet/ln_pass.h"

#include "base/ln_list_end.h"
#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_fixed.h"
#include "ir/ln_limits.h"
#include "lightnet/ln_util.h"
#include "pass/ln_rewriting.h"
#include "plan/ln_plan.h"

// The state of drivers and rules, and which rules fired

int ln_rewriting_begin(ln_context *ctx)
{
    if (!ctx->rewriting) {
        ctx->rewriting = ln_alloc(sizeof(*ctx->rewriting));
        if (!ctx->rewriting)
            return ln_fail_memory(ctx);
        *ctx->rewriting =
            (ln_rewriting){.warned = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL)};
    }
    ctx->rewriting->depth++;
    if (ctx->rewriting->warned)
        return 0;
    ln_rewriting_end(ctx);
    return ln_fail_memory(ctx);
}

static void forget_inspected(ln_rewriting *rewriting)
{
    ln_list_free_deep(rewriting->inspected, ln_fixed_value_free);
    rewriting->inspected = NULL;
}

void ln_rewriting_end(ln_context *ctx)
{
    if (--ctx->rewriting->depth)
        return;
    forget_inspected(ctx->rewriting);
    ln_hash_free(ctx->rewriting->warned);
    ln_free(ctx->rewriting);
    ctx->rewriting = NULL;
}

const ln_op *ln_pass_anchor(const ln_context *ctx)
{
    return ln_rewriting_anchor(ctx);
}

static int is_disabled(const ln_context *ctx, const char *name)
{
    return ctx->disabled && ln_list_find_custom(ctx->disabled, (void *)name, ln_str_cmp);
}

// Whether rules are asked for their matches only: those that are functions take no part.
static int has_winner(const ln_context *ctx)
{
    return ctx->rewriting && ctx->rewriting->winner;
}

int ln_pass_lowering_begins(const ln_context *ctx, const char *name)
{
    return !has_winner(ctx) && !is_disabled(ctx, name);
}

int ln_pass_rule_begins(const ln_context *ctx, const char *name)
{
    return !has_winner(ctx) && ln_rewriting_rule_begins(ctx, name);
}

int ln_rewriting_rule_begins(const ln_context *ctx, const char *name)
{
    if (ctx->rewriting && ctx->rewriting->inspected)
        forget_inspected(ctx->rewriting);
    return ctx->optimize && !is_disabled(ctx, name);
}

void ln_pass_rule_fires(const ln_context *ctx, const char *name, ln_list *new_ops)
{
    LN_FOREACH (ln_op *, op, new_ops)
        op->op_arg->rule = name;
    if (ctx->rewriting)
        ctx->rewriting->fired = name;
}

static ln_rule_count *find_count(const ln_context *ctx, const char *name)
{
    LN_FOREACH (ln_rule_count *, rule, ctx->rules)
        if (ln_streq(rule->name, name))
            return rule;
    return NULL;
}

// Records that the program depends on the values that the rule has read.
static int fix_inspected(ln_context *ctx)
{
    ln_rewriting *const rewriting = ctx->rewriting;
    while (rewriting->inspected) {
        ln_fixed_value *const value = rewriting->inspected->data;
        if (!value->rule && !(value->rule = ln_strdup(rewriting->fired)))
            return ln_fail_last(ctx);
        if (ln_fixed_add(ln_body_outermost(ctx)->fixed, value))
            return ln_fail_last(ctx);
        rewriting->inspected = ln_list_remove_nth(rewriting->inspected, 0);
    }
    return 0;
}

// Counts the rule that matched last, and records the constants that it has read. -1 with a reason:
// no memory.
static int count_rewrite(ln_context *ctx)
{
    const char *fired = ctx->rewriting->fired;
    if (!fired)
        return 0;
    if (fix_inspected(ctx))
        return -1;
    ln_rule_count *rule = find_count(ctx, fired);
    if (!rule) {
        rule = ln_alloc(sizeof(*rule));
        if (ln_list_add(&ctx->rules, rule, ln_free))
            return ln_fail_memory(ctx);
        *rule = (ln_rule_count){.name = fired};
    }
    rule->count++;
    return 0;
}

// Drivers

// The functions to which a driver offers operators, of one of three kinds. `offer` returns 1 when a
// function rewrote (*next is where to continue), 0 when none applies, -1 on failure.
typedef struct rewriter {
    int (*offer)(ln_context *ctx, ln_list *node, const struct rewriter *with, ln_list **next);
    const ln_expander_func *ep_funcs;
    const ln_combiner_func *cb_funcs;
    const ln_subgraph_func *sg_funcs;
    size_t win_size;
} rewriter;

// Whether a rule function failed, with a reason in the context.
static int has_failed(const ln_context *ctx)
{
    return *ctx->error->text != 0;
}

static int touches_mutated(const ln_context *ctx, const ln_list *tensors)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, tensors)
        if (ln_entry_is_mutated(ln_entry_of(tle, ctx->tensor_table)))
            return 1;
    return 0;
}

// Moving operators together must not carry a reader past an operator that writes the same memory in
// place.
static int may_move(const ln_context *ctx, const ln_list *ops)
{
    if (!ops || !ops->next)
        return 1;
    LN_FOREACH (const ln_op *, op, ops)
        if (touches_mutated(ctx, op->op_arg->tensors_in) ||
            touches_mutated(ctx, op->op_arg->tensors_out))
            return 0;
    return 1;
}

static void report(const ln_context *ctx, ln_rule_outcome outcome, const ln_list *old_ops)
{
    const char *const fired = ctx->rewriting->fired;
    if (ctx->rule_func && fired && old_ops)
        ln_rewriting_report(ctx, fired, outcome, ln_list_end((ln_list *)old_ops)->data, NULL);
}

// Puts `new_ops` (takes them) in place of `old_ops` unless that is unsafe. Returns 1 when it did, 0
// when not, -1 on failure, including that of the rule function.
static int apply(ln_context *ctx, ln_list *old_ops, ln_list *new_ops, ln_list **next)
{
    const int is_safe = may_move(ctx, old_ops);
    if (!has_failed(ctx))
        report(ctx, is_safe ? LN_RULE_APPLIED : LN_RULE_ORDER, old_ops);
    if (has_failed(ctx) || !is_safe) {
        ln_op_list_free_lists_too(new_ops);
        return has_failed(ctx) ? -1 : 0;
    }
    if (count_rewrite(ctx)) {
        ln_op_list_free_lists_too(new_ops);
        return -1;
    }
    if (!ln_context_substitute(ctx, old_ops, new_ops, next))
        return 1;
    return ctx->rewriting->fired ? ln_fail_at(ctx, "rule '%s'", ctx->rewriting->fired) : -1;
}

// For an observer, the rules after the one that matched are asked whether they would match, too.

// What they may not change.
typedef struct asking {
    const char *fired;
    ln_list *inspected;
} asking;

// 0: nobody wants to know, or the rule that matched will not be applied.
static int begin_asking(const ln_context *ctx, const ln_list *old_ops, asking *saved)
{
    ln_rewriting *const rewriting = ctx->rewriting;
    if (!ctx->rule_func || !rewriting->fired || has_failed(ctx) || !may_move(ctx, old_ops))
        return 0;
    *saved = (asking){rewriting->fired, rewriting->inspected};
    rewriting->winner = rewriting->fired;
    rewriting->inspected = NULL;
    return 1;
}

static void end_asking(const ln_context *ctx, const asking *saved)
{
    ln_rewriting *const rewriting = ctx->rewriting;
    forget_inspected(rewriting);
    rewriting->winner = NULL;
    rewriting->fired = saved->fired;
    rewriting->inspected = saved->inspected;
}

static void ask_expanders(const ln_context *ctx, const ln_expander_func *func,
                          const ln_list *old_ops)
{
    int match;
    asking saved;
    if (!begin_asking(ctx, old_ops, &saved))
        return;
    for (; *func; func++)
        ln_op_list_free_lists_too((*func)(ctx, old_ops->data, &match));
    end_asking(ctx, &saved);
}

static void ask_subgraphs(const ln_context *ctx, const ln_subgraph_func *func,
                          const ln_list *old_ops)
{
    asking saved;
    if (!begin_asking(ctx, old_ops, &saved))
        return;
    for (; *func; func++) {
        ln_list *others = NULL;
        ln_op_list_free_lists_too((*func)(ctx, &others));
        ln_list_free(others);
    }
    end_asking(ctx, &saved);
}

static void ask_combiners(const ln_context *ctx, const ln_combiner_func *func, const ln_list *ops,
                          size_t size)
{
    int match;
    asking saved;
    if (!begin_asking(ctx, ops, &saved))
        return;
    for (; *func; func++)
        ln_op_list_free_lists_too((*func)(ctx, ops, size, &match));
    end_asking(ctx, &saved);
}

static int offer_op(ln_context *ctx, ln_list *node, const rewriter *with, ln_list **next)
{
    ln_list old_ops = {.data = node->data}; // on the stack: offering allocates nothing
    int status = 0;
    for (const ln_expander_func *func = with->ep_funcs; *func && !status; func++) {
        int match = 0;
        ctx->rewriting->fired = NULL;
        ln_list *new_ops = (*func)(ctx, node->data, &match);
        if (match)
            ask_expanders(ctx, func + 1, &old_ops);
        if (match || has_failed(ctx))
            status = apply(ctx, &old_ops, new_ops, next);
    }
    return status;
}

static int offer_anchor(ln_context *ctx, ln_list *node, const rewriter *with, ln_list **next)
{
    int status = 0;
    ctx->rewriting->anchor = node->data;
    for (const ln_subgraph_func *func = with->sg_funcs; *func && !status; func++) {
        ln_list *old_ops = NULL;
        ctx->rewriting->fired = NULL;
        ln_list *new_ops = (*func)(ctx, &old_ops);
        if (old_ops)
            ask_subgraphs(ctx, func + 1, old_ops);
        if (old_ops || has_failed(ctx))
            status = apply(ctx, old_ops, new_ops, next);
        ln_list_free(old_ops);
    }
    ctx->rewriting->anchor = NULL;
    return status;
}

// Offers each operator in list order, continuing at rewritten ones. Returns the number of
// rewrites, or -1.
static int walk(ln_context *ctx, const rewriter *with)
{
    int n = 0;
    // More than any sensible set of rules needs: beyond, rules undo each other.
    const int max = 1000 + 20 * ln_hash_size(ctx->op_table);
    for (ln_list *node = ctx->ops; node;) {
        ln_list *next = NULL;
        const int status = ln_limits_check(ctx) ? -1 : with->offer(ctx, node, with, &next);
        if (status < 0)
            return -1;
        n += status;
        if (n > max)
            return ln_fail(ctx, "the rewrites do not terminate; the last one was '%s'",
                           ctx->rewriting->fired ? ctx->rewriting->fired : "of unknown name");
        node = status ? next : node->next;
    }
    return n;
}

static int rewrite(ln_context *ctx, const rewriter *with)
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
    const rewriter with = {.offer = offer_op, .ep_funcs = ep_funcs};
    return ep_funcs && *ep_funcs ? rewrite(ctx, &with) : 0;
}

int ln_pass_subgraph(ln_context *ctx, const ln_subgraph_func *sg_funcs)
{
    const rewriter with = {.offer = offer_anchor, .sg_funcs = sg_funcs};
    return sg_funcs && *sg_funcs ? rewrite(ctx, &with) : 0;
}

static ln_list *window(const ln_list *node, size_t size)
{
    ln_list *ops = NULL;
    for (; node && size; node = node->next, size--)
        if (ln_list_push(&ops, node->data, NULL)) {
            ln_list_free(ops);
            return NULL;
        }
    return ln_list_reverse(ops);
}

static int offer_window(ln_context *ctx, ln_list *node, const rewriter *with, ln_list **next)
{
    ln_list *ops = window(node, with->win_size);
    int status = ops ? 0 : ln_fail_memory(ctx);
    const int whole = (size_t)ln_list_length(ops) == with->win_size;
    for (const ln_combiner_func *func = with->cb_funcs; whole && *func && !status; func++) {
        int match = 0;
        ctx->rewriting->fired = NULL;
        ln_list *new_ops = (*func)(ctx, ops, with->win_size, &match);
        if (match)
            ask_combiners(ctx, func + 1, ops, with->win_size);
        if (match || has_failed(ctx))
            status = apply(ctx, ops, new_ops, next);
    }
    ln_list_free(ops);
    return status;
}

int ln_pass_combiner(ln_context *ctx, size_t win_size, const ln_combiner_func *cb_funcs)
{
    const rewriter with = {.offer = offer_window, .cb_funcs = cb_funcs, .win_size = win_size};
    return cb_funcs && *cb_funcs && win_size ? rewrite(ctx, &with) : 0;
}
