// SPDX-License-Identifier: Apache-2.0
// Clean-up between rewrites: dead operators, equal operators, redundant views.

#include "pass/ln_rewriting.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "ir/ln_context_ops.h"
#include "ir/ln_dfg_value.h"
#include "lightnet/ln_pass.h"
#include "lightnet/ln_util.h"

// Dead operators

// Writing in place counts as an effect, too.
static int must_stay(const ln_op *op)
{
    return ln_op_has_effect(op) || ln_op_writes_inplace(op);
}

static int is_in_interface(const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
        if (tle->value->isinput || tle->value->isoutput)
            return 1;
    return 0;
}

static void mark_producers(const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
        if (tle->value->producer)
            tle->value->producer->op_arg->isneeded = 1;
}

// Backwards, readers before producers: each needed operator marks the producers of its inputs;
// unmarked operators are removed.
int ln_cleanup_dead(ln_context *ctx)
{
    int removed = 0;
    for (ln_list *node = ctx->last, *before; node; node = before) {
        ln_op *op = node->data;
        before = op->op_arg->before;
        if (op->op_arg->isneeded || must_stay(op) || is_in_interface(op)) {
            op->op_arg->isneeded = 0;
            mark_producers(op);
        } else if (ln_context_remove_op(ctx, &node)) {
            return -1;
        } else {
            removed++;
        }
    }
    return removed;
}

// Duplicates. One pass over the list finds equal operators. It redirects all inputs of an operator
// before it visits the operator, so each is checked again at most once.

// A tensor that is a part of the output of a no-copy join cannot be replaced.
static int can_replace(const ln_context *ctx, const ln_tensor_entry *from,
                       const ln_tensor_entry *to)
{
    return !ln_entry_is_output(from) && !ln_entry_is_mutated(from) && !ln_entry_is_mutated(to) &&
           !ln_context_joiner(ctx, from) && !ln_context_joiner(ctx, to);
}

// The state of a clean-up; `instead` of a value is its replacement for later readers.
typedef struct cleanup {
    ln_context *ctx;
    int n;         // values that have a replacement
    ln_hash *seen; // operator -> itself, without duplicates
} cleanup;

static void replace(cleanup *c, const ln_tensor_entry *from, const ln_tensor_entry *to)
{
    from->value->instead = to->value;
    c->n++;
}

static void clear_replacements(const ln_context *ctx)
{
    LN_FOREACH (const ln_op *, op, ctx->ops)
        LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
            tle->value->instead = NULL;
}

// Redundant views

static int has_one_element(const ln_list *list)
{
    return list && !list->next;
}

static int is_identity_view(const ln_context *ctx, const ln_op *op)
{
    const ln_op_arg *op_arg = op->op_arg;
    if (op->run || op->static_run || must_stay(op) || !has_one_element(op_arg->tensors_in) ||
        !has_one_element(op_arg->tensors_out))
        return 0;
    const ln_tensor_list_entry *in = op_arg->tensors_in->data, *out = op_arg->tensors_out->data;
    const ln_tensor_entry *src = ln_entry_of(in, ctx->tensor_table);
    const ln_tensor_entry *dst = ln_entry_of(out, ctx->tensor_table);
    // Shapes with equal max sizes may differ at run time, unless no parameter sets the shape.
    return dst->owner && ln_streq(dst->owner, src->name) && (!dst->isdynamic || !op_arg->params) &&
           tl_tensor_issameshape(dst->tensor, src->tensor) &&
           dst->tensor->dtype == src->tensor->dtype && dst->mtype == src->mtype &&
           can_replace(ctx, dst, src);
}

// Equal operators

// Operators as keys: equal keys have equal results. The hash covers the whole key, since thousands
// of operators may differ only in one number or the name of a body.

static uint32_t mix(uint32_t hash, const char *name)
{
    return hash * 31u + ln_str_hash(name);
}

static uint32_t mix_number(uint32_t hash, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    return (hash * 31u + (uint32_t)(bits >> 32)) * 31u + (uint32_t)bits;
}

static uint32_t mix_param(uint32_t hash, const ln_param_entry *param)
{
    hash = mix(hash, param->arg_name) + (uint32_t)param->array_len;
    if (param->type == LN_PARAM_NUMBER)
        return mix_number(hash, param->value_double);
    if (param->type == LN_PARAM_STRING)
        return mix(hash, param->value_string);
    for (int i = 0; i < param->array_len && param->type == LN_PARAM_ARRAY_NUMBER; i++)
        hash = mix_number(hash, param->value_array_double[i]);
    for (int i = 0; i < param->array_len && param->type == LN_PARAM_ARRAY_STRING; i++)
        hash = mix(hash, param->value_array_string[i]);
    return hash;
}

static uint32_t hash_op(const void *key)
{
    const ln_op_arg *op_arg = ((const ln_op *)key)->op_arg;
    uint32_t hash = ln_str_hash(op_arg->optype);
    LN_FOREACH (const ln_tensor_list_entry *, tle, op_arg->tensors_in)
        hash = mix(hash, tle->arg_name) * 31u + ln_direct_hash(tle->value);
    LN_FOREACH (const ln_param_entry *, param, op_arg->params)
        hash = mix_param(hash, param);
    return hash;
}

static int same_tensors(const ln_list *a, const ln_list *b)
{
    for (; a && b; a = a->next, b = b->next) {
        const ln_tensor_list_entry *x = a->data, *y = b->data;
        if (x->value != y->value || !ln_streq(x->arg_name, y->arg_name))
            return 0;
    }
    return !a && !b;
}

// Numeric equality is not enough: 1/x distinguishes -0 from 0.
static int same_signs(const ln_param_entry *a, const ln_param_entry *b)
{
    if (a->type == LN_PARAM_NUMBER)
        return !signbit(a->value_double) == !signbit(b->value_double);
    for (int i = 0; i < a->array_len && a->type == LN_PARAM_ARRAY_NUMBER; i++)
        if (!signbit(a->value_array_double[i]) != !signbit(b->value_array_double[i]))
            return 0;
    return 1;
}

static int same_params(const ln_list *a, const ln_list *b)
{
    for (; a && b; a = a->next, b = b->next) {
        const ln_param_entry *x = a->data, *y = b->data;
        if (!ln_streq(x->arg_name, y->arg_name) || !ln_param_entry_equal(x, y) || !same_signs(x, y))
            return 0;
    }
    return !a && !b;
}

static int compare_ops(const void *a, const void *b)
{
    const ln_op_arg *x = ((const ln_op *)a)->op_arg, *y = ((const ln_op *)b)->op_arg;
    return !ln_streq(x->optype, y->optype) || !same_tensors(x->tensors_in, y->tensors_in) ||
           !same_params(x->params, y->params);
}

// Operators without inputs are not merged: each `create` can be set by its name, and equal `zeros`
// may be written in place.
static int can_merge(const ln_op *op)
{
    if (must_stay(op) || !op->op_arg->tensors_in)
        return 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
        if (tle->value->ismutated)
            return 0;
    return 1;
}

// The output with that arg_name, or NULL. Looks at `*at` first, and advances it.
static const ln_tensor_list_entry *output_at(const ln_op *op, const ln_list **at,
                                             const char *arg_name)
{
    const ln_tensor_list_entry *tle = *at ? (*at)->data : NULL;
    *at = *at ? (*at)->next : NULL;
    if (tle && ln_streq(tle->arg_name, arg_name))
        return tle;
    return ln_tensor_list_find_by_arg_name(op->op_arg->tensors_out, arg_name);
}

static void merge(cleanup *c, const ln_op *op, const ln_op *earlier)
{
    const ln_list *at = earlier->op_arg->tensors_out;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
        const ln_tensor_list_entry *same = output_at(earlier, &at, tle->arg_name);
        const ln_tensor_entry *from = ln_entry_of(tle, c->ctx->tensor_table);
        const ln_tensor_entry *to = same ? ln_entry_of(same, c->ctx->tensor_table) : NULL;
        if (to && can_replace(c->ctx, from, to))
            replace(c, from, to);
    }
}

static int merge_equal(cleanup *c, const ln_op *op)
{
    if (!can_merge(op))
        return 0;
    const int added = ln_hash_add(c->seen, op, (void *)op);
    if (added < 0)
        return ln_fail_memory(c->ctx);
    if (!added)
        merge(c, op, ln_hash_find(c->seen, op));
    return 0;
}

// The pass

static int walk(cleanup *c)
{
    LN_FOREACH (ln_op *, op, c->ctx->ops) {
        if (c->n && ln_context_redirect(c->ctx, op))
            return -1;
        if (is_identity_view(c->ctx, op))
            replace(c, ln_entry_of(op->op_arg->tensors_out->data, c->ctx->tensor_table),
                    ln_entry_of(op->op_arg->tensors_in->data, c->ctx->tensor_table));
        else if (merge_equal(c, op))
            return -1;
    }
    return 0;
}

// Replaces a view with the shape and type of its owner by the owner in its readers, and the outputs
// of an operator by those of an earlier equal operator.
static int redirect_readers(ln_context *ctx)
{
    cleanup c = {.ctx = ctx, .seen = ln_hash_create(hash_op, compare_ops, NULL, NULL)};
    const int failed = c.seen ? walk(&c) : ln_fail_memory(ctx);
    if (c.n)
        clear_replacements(ctx);
    ln_hash_free(c.seen);
    return failed ? -1 : c.n;
}

int ln_cleanup(ln_context *ctx)
{
    if (!ctx->optimize)
        return 0;
    const int replaced = redirect_readers(ctx);
    const int dead = replaced < 0 ? -1 : ln_cleanup_dead(ctx);
    return dead < 0 ? -1 : replaced + dead;
}

int ln_pass_preprocess(ln_context *ctx)
{
    return ln_cleanup(ctx) < 0 ? -1 : 0;
}
