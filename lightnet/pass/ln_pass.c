// SPDX-License-Identifier: Apache-2.0
// The drivers that apply an architecture's rewrites, and the record of which rules fired.

#include "lightnet/ln_pass.h"

#include <string.h>

#include "ir/ln_context_ops.h"
#include "ir/ln_fixed.h"
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
    ln_list_free_deep(ctx->seen, ln_fixed_value_free);
    ((ln_context *)ctx)->seen = NULL;
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

// The values that the rule has seen are part of the program from now on.
static int fix_what_was_seen(ln_context *ctx)
{
    while (ctx->seen) {
        ln_fixed_value *const value = ctx->seen->data;
        if (!value->rule && !(value->rule = ln_strdup(ctx->fired)))
            return ln_fail_last(ctx);
        if (ln_fixed_add(ctx->fixed, value))
            return ln_fail_last(ctx);
        ctx->seen = ln_list_remove_nth(ctx->seen, 0);
    }
    return 0;
}

static int count_fired(ln_context *ctx)
{
    if (!ctx->fired)
        return 0;
    if (fix_what_was_seen(ctx))
        return -1;
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

// What a rule function left: a reason when it failed.
static int has_failed(const ln_context *ctx)
{
    return *ln_context_error(ctx) != 0;
}

// Puts `new_ops` in place of `old_ops` unless that is unsafe. Returns 1 when it did, 0 when not, -1
// on failure, also that of the rule function.
static int apply(ln_context *ctx, ln_list *old_ops, ln_list *new_ops, ln_list **next)
{
    if (has_failed(ctx) || !may_move(ctx, old_ops)) {
        ln_op_list_free_lists_too(new_ops);
        return has_failed(ctx) ? -1 : 0;
    }
    if (count_fired(ctx)) {
        ln_op_list_free_lists_too(new_ops);
        return -1;
    }
    if (!ln_context_substitute(ctx, old_ops, new_ops, next))
        return 1;
    return ctx->fired ? ln_fail_at(ctx, "rule '%s'", ctx->fired) : -1;
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
        if (match || has_failed(ctx))
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
        if (match || has_failed(ctx))
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
        if (old_ops || has_failed(ctx))
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
        if (status < 0)
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
    return ep_funcs && *ep_funcs ? walk(ctx, &with) : 0;
}

int ln_pass_combiner(ln_context *ctx, size_t win_size, const ln_combiner_func *cb_funcs)
{
    const rewriter with = {.offer = offer_window, .cb_funcs = cb_funcs, .win_size = win_size};
    return cb_funcs && *cb_funcs && win_size ? walk(ctx, &with) : 0;
}

int ln_pass_subgraph(ln_context *ctx, const ln_subgraph_func *sg_funcs)
{
    const rewriter with = {.offer = offer_anchor, .sg_funcs = sg_funcs};
    return sg_funcs && *sg_funcs ? walk(ctx, &with) : 0;
}

/* Schedules */

// Whether `ops` are the operators of the context, each once.
static int is_permutation(ln_context *ctx, const ln_list *ops)
{
    ln_op *op;
    int n = 0, status = 1;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        op->op_arg->node = NULL;
    }
    LN_LIST_FOREACH(op, ops)
    {
        if (ln_op_table_find(ctx->op_table, op->op_arg->name) != op || op->op_arg->node)
            status = 0;
        if (!status)
            break;
        op->op_arg->node = (ln_list *)ops;
        n++;
    }
    ln_context_set_order(ctx, ctx->ops);
    return status && n == ln_list_length(ctx->ops);
}

/* Operators must not pass each other when one writes in place what the other touches, nor when both
 * have effects. So each use of a mutated tensor has an age, the number of writers before it, and so
 * has each effect; a schedule must leave all ages as they are. */
typedef struct ages {
    ln_hash *writers; // root tensor name -> how many operators have written it so far
    ln_hash *of_op;   // operator -> index + 1 of its first age in `at`
    size_t *at;
    size_t n, capacity;
    size_t effects;
} ages;

static void free_ages(ages *a)
{
    ln_hash_free(a->writers);
    ln_hash_free(a->of_op);
    ln_free(a->at);
}

static int add_age(const ln_context *ctx, ages *a, size_t age)
{
    if (a->n == a->capacity) {
        const size_t capacity = a->capacity ? 2 * a->capacity : 64;
        size_t *at = ln_realloc(a->at, capacity * sizeof(*at));
        if (!at)
            return ln_fail_last(ctx);
        a->at = at;
        a->capacity = capacity;
    }
    a->at[a->n++] = age;
    return 0;
}

static int add_tensor_ages(const ln_context *ctx, ages *a, const ln_list *tensors, int writes)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, tensors)
    {
        if (!ln_context_is_mutated(ctx, tle->name))
            continue;
        const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tle->name);
        const char *root = ln_tensor_table_root(ctx->tensor_table, te)->name;
        const size_t age = (size_t)ln_hash_find(a->writers, root);
        if (add_age(ctx, a, age))
            return -1;
        if (writes && ln_hash_insert(a->writers, root, (void *)(age + 1)) < 0)
            return ln_fail_last(ctx);
    }
    return 0;
}

static int find_ages(const ln_context *ctx, ages *a)
{
    const ln_op *op;
    *a = (ages){.n = 0};
    a->writers = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    a->of_op = ln_hash_create(NULL, NULL, NULL, NULL);
    if (!a->writers || !a->of_op)
        return ln_fail_last(ctx);
    LN_LIST_FOREACH(op, ctx->ops)
    {
        if (ln_hash_insert(a->of_op, op, (void *)(a->n + 1)) < 0)
            return ln_fail_last(ctx);
        if ((ln_op_has_effect(op) && add_age(ctx, a, a->effects++)) ||
            add_tensor_ages(ctx, a, op->op_arg->tensors_in, 0) ||
            add_tensor_ages(ctx, a, op->op_arg->tensors_out, ln_op_writes_inplace(op)))
            return -1;
    }
    return 0;
}

// The operators have the same number of ages in both; the first index tells where.
static int compare_ages(const ln_context *ctx, const ages *before, const ages *after)
{
    const ln_op *op;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        const size_t old_at = (size_t)ln_hash_find(before->of_op, op) - 1;
        const size_t new_at = (size_t)ln_hash_find(after->of_op, op) - 1;
        const ln_op *next = op->op_arg->node->next ? op->op_arg->node->next->data : NULL;
        const size_t end = next ? (size_t)ln_hash_find(after->of_op, next) - 1 : after->n;
        if (end > new_at &&
            memcmp(&before->at[old_at], &after->at[new_at], (end - new_at) * sizeof(*after->at)))
            return ln_fail(ctx, "operator '%s' (%s) is moved past one that it must not pass",
                           op->op_arg->name, op->op_arg->optype);
    }
    return 0;
}

static int check_schedule(const ln_context *ctx, const ages *before)
{
    ages after;
    if (ln_context_check(ctx))
        return -1;
    const int status = find_ages(ctx, &after) || compare_ages(ctx, before, &after) ? -1 : 0;
    free_ages(&after);
    return status;
}

// Brings the operators into the order `ops` (takes the list), or leaves them as they are.
static int reorder(ln_context *ctx, ln_list *ops, const ages *before)
{
    if (!is_permutation(ctx, ops)) {
        ln_list_free(ops);
        return ln_fail(ctx, "a schedule function returned other operators than it was given");
    }
    ln_list *old = ctx->ops;
    ln_context_set_order(ctx, ops);
    if (!check_schedule(ctx, before)) {
        ln_list_free(old);
        return 0;
    }
    ln_context_set_order(ctx, old);
    ln_list_free(ops);
    return ln_fail_at(ctx, "a schedule function broke the order");
}

int ln_pass_schedule(ln_context *ctx, const ln_schedule_func *sd_funcs)
{
    ages before;
    if (!sd_funcs || !*sd_funcs)
        return 0;
    int status = find_ages(ctx, &before);
    for (; *sd_funcs && !status; sd_funcs++)
        status = reorder(ctx, (*sd_funcs)(ctx), &before);
    free_ages(&before);
    return status;
}
