// SPDX-License-Identifier: Apache-2.0
// The driver of schedule functions, which reorder the operators.

#include "base/ln_array.h"
#include "ir/ln_context_ops.h"
#include "lightnet/ln_pass.h"
#include "lightnet/ln_util.h"

// Whether `ops` are the operators of the context, each once. `node` marks those seen so far;
// ln_context_set_order restores it.
static int is_permutation(ln_context *ctx, const ln_list *ops)
{
    int n = 0, status = 1;
    LN_FOREACH (ln_op *, op, ctx->ops)
        op->op_arg->node = NULL;
    LN_FOREACH (ln_op *, op, ops) {
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

// Operators must keep their order if one writes the other's tensor in place, or if both have
// effects. So each use of a mutated tensor has an age, the number of writers before it; the age of
// an effect is the number of effects before it. A schedule must keep all ages.
typedef struct ages {
    ln_hash *writers; // root tensor name -> how many operators have written it so far
    ln_hash *of_op;   // operator -> index + 1 of its first age in `at`
    size_t *at;
    size_t n;
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
    if (ln_array_grow(&a->at, a->n, sizeof(*a->at)))
        return ln_fail_last(ctx);
    a->at[a->n++] = age;
    return 0;
}

static int add_tensor_ages(const ln_context *ctx, ages *a, const ln_list *tensors, int writes)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, tensors) {
        const ln_tensor_entry *te = ln_entry_of(tle, ctx->tensor_table);
        if (!ln_entry_is_mutated(te))
            continue;
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
    *a = (ages){.n = 0};
    a->writers = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    a->of_op = ln_hash_create(NULL, NULL, NULL, NULL);
    if (!a->writers || !a->of_op)
        return ln_fail_last(ctx);
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        if (ln_hash_insert(a->of_op, op, (void *)(a->n + 1)) < 0)
            return ln_fail_last(ctx);
        if ((ln_op_has_effect(op) && add_age(ctx, a, a->effects++)) ||
            add_tensor_ages(ctx, a, op->op_arg->tensors_in, 0) ||
            add_tensor_ages(ctx, a, op->op_arg->tensors_out, ln_op_writes_inplace(op)))
            return -1;
    }
    return 0;
}

// Each operator has the same number of ages in both: from its first one to that of the next
// operator in the new order.
static int compare_ages(const ln_context *ctx, const ages *before, const ages *after)
{
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const size_t old_at = (size_t)ln_hash_find(before->of_op, op) - 1;
        const size_t new_at = (size_t)ln_hash_find(after->of_op, op) - 1;
        const ln_op *next = op->op_arg->node->next ? op->op_arg->node->next->data : NULL;
        const size_t end = next ? (size_t)ln_hash_find(after->of_op, next) - 1 : after->n;
        if (end > new_at &&
            memcmp(&before->at[old_at], &after->at[new_at], (end - new_at) * sizeof(*after->at)))
            return ln_fail(ctx,
                           "operator '%s' (%s) is moved before an operator that must precede it",
                           op->op_arg->name, op->op_arg->optype);
    }
    return 0;
}

static int check_schedule(const ln_context *ctx, const ages *before)
{
    ages after;
    if (ln_context_check(ctx))
        return -1;
    const int status = -(find_ages(ctx, &after) || compare_ages(ctx, before, &after));
    free_ages(&after);
    return status;
}

// Reorders the operators as `ops` (takes the list), or changes nothing.
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
