// SPDX-License-Identifier: Apache-2.0
// What the drivers of rewrites and the rules keep from one rule to the next, and which rules fired.

#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_fixed.h"
#include "lightnet/ln_util.h"
#include "pass/ln_pass_walk.h"

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

static void forget_inspected(ln_rewriting *at_work)
{
    ln_list_free_deep(at_work->inspected, ln_fixed_value_free);
    at_work->inspected = NULL;
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

int ln_pass_lowering_begins(const ln_context *ctx, const char *name)
{
    return !is_disabled(ctx, name);
}

int ln_pass_rule_begins(const ln_context *ctx, const char *name)
{
    if (ctx->rewriting && ctx->rewriting->inspected)
        forget_inspected(ctx->rewriting);
    return ctx->optimize && !is_disabled(ctx, name);
}

void ln_pass_rule_fires(const ln_context *ctx, const char *name, ln_list *new_ops)
{
    ln_op *op;
    LN_LIST_FOREACH(op, new_ops)
    {
        op->op_arg->rule = name;
    }
    if (ctx->rewriting)
        ctx->rewriting->fired = name;
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

// The values that the rule has read are part of the program from now on.
static int fix_inspected(ln_context *ctx)
{
    ln_rewriting *const at_work = ctx->rewriting;
    while (at_work->inspected) {
        ln_fixed_value *const value = at_work->inspected->data;
        if (!value->rule && !(value->rule = ln_strdup(at_work->fired)))
            return ln_fail_last(ctx);
        if (ln_fixed_add(ln_body_outermost(ctx)->fixed, value))
            return ln_fail_last(ctx);
        at_work->inspected = ln_list_remove_nth(at_work->inspected, 0);
    }
    return 0;
}

int ln_rewriting_count(ln_context *ctx)
{
    const char *fired = ctx->rewriting->fired;
    if (!fired)
        return 0;
    if (fix_inspected(ctx))
        return -1;
    ln_rule_count *rule = find_count(ctx, fired);
    if (!rule) {
        rule = ln_alloc(sizeof(*rule));
        ln_list *longer = rule ? ln_list_append(ctx->rules, rule) : NULL;
        if (!longer) {
            ln_free(rule);
            return ln_fail_memory(ctx);
        }
        ctx->rules = longer;
        *rule = (ln_rule_count){.name = fired};
    }
    rule->count++;
    return 0;
}
