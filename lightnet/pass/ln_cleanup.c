// SPDX-License-Identifier: Apache-2.0
// Clean-up between rewrites: dead operators, equal operators, views that change nothing.

#include "pass/ln_cleanup.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "ir/ln_context_ops.h"
#include "lightnet/ln_pass.h"
#include "lightnet/ln_util.h"

/* Dead operators */

// Writing in place counts as an effect, too.
static int must_stay(const ln_op *op)
{
    return ln_op_has_effect(op) || ln_op_writes_inplace(op);
}

static int add_names(const ln_context *ctx, ln_hash *needed, const ln_list *tensors)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, tensors)
    {
        if (ln_hash_insert(needed, tle->name, NULL) < 0)
            return ln_fail_memory(ctx);
    }
    return 0;
}

static int makes_needed(const ln_hash *needed, const ln_op *op)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
    {
        if (ln_hash_find_extended(needed, tle->name, NULL, NULL))
            return 1;
    }
    return 0;
}

static int is_in_interface(const ln_context *ctx, const ln_op *op)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
    {
        if (ln_hash_find(ctx->input_names, tle->name) || ln_context_is_output(ctx, tle->name))
            return 1;
    }
    return 0;
}

// From the end of the list to its beginning: what is needed, and with it what it reads.
static int mark_needed(const ln_context *ctx, ln_op *const *ops, size_t n, char *is_needed)
{
    int status = 0;
    ln_hash *read = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!read)
        return ln_fail_memory(ctx);
    for (size_t i = n; i-- > 0 && !status;) {
        is_needed[i] =
            must_stay(ops[i]) || is_in_interface(ctx, ops[i]) || makes_needed(read, ops[i]);
        if (is_needed[i])
            status = add_names(ctx, read, ops[i]->op_arg->tensors_in);
    }
    ln_hash_free(read);
    return status;
}

// Readers leave before makers. Returns how many left, or -1.
static int remove_unneeded(ln_context *ctx, ln_op *const *ops, size_t n, const char *is_needed)
{
    int removed = 0;
    for (size_t i = n; i-- > 0;) {
        ln_list *position = ops[i]->op_arg->node;
        if (is_needed[i])
            continue;
        if (ln_context_remove_op(ctx, &position))
            return -1;
        removed++;
    }
    return removed;
}

int ln_cleanup_dead(ln_context *ctx)
{
    const size_t n = (size_t)ln_hash_size(ctx->op_table);
    ln_op **ops = ln_alloc_array(n, sizeof(*ops));
    char *is_needed = ln_alloc(n);
    size_t i = 0;
    int status = ops && is_needed ? 0 : ln_fail_memory(ctx);
    for (const ln_list *node = status ? NULL : ctx->ops; node; node = node->next)
        ops[i++] = node->data;
    assert(status || i == n);
    if (!status)
        status = mark_needed(ctx, ops, n, is_needed) ? -1 : remove_unneeded(ctx, ops, n, is_needed);
    ln_free(ops);
    ln_free(is_needed);
    return status;
}

/* Reading another tensor instead. One walk over the list finds what reads the same and lets each
 * operator read that before it is looked at itself: so it is checked anew once at most, however
 * many of its inputs change. */

// What a no-copy gather has made a part of its own output cannot be read as another one instead.
static int is_given_away(const ln_context *ctx, const char *tname)
{
    return ln_context_taker(ctx, ln_tensor_table_find(ctx->tensor_table, tname)) != NULL;
}

static int may_replace(const ln_context *ctx, const char *from, const char *to)
{
    return !ln_context_is_output(ctx, from) && !ln_context_is_mutated(ctx, from) &&
           !ln_context_is_mutated(ctx, to) && !is_given_away(ctx, from) && !is_given_away(ctx, to);
}

// What is read from here on as another tensor, and the operators that stay; the names and operators
// are the context's.
typedef struct cleanup {
    ln_context *ctx;
    ln_hash *instead; // tensor name -> the name of the one to read instead
    ln_hash *seen;    // operator -> itself
} cleanup;

static int replace(const cleanup *c, const char *from, const char *to)
{
    return ln_hash_insert(c->instead, from, (void *)to) < 0 ? ln_fail_memory(c->ctx) : 0;
}

/* Views that change nothing */

static int has_one(const ln_list *list)
{
    return list && !list->next;
}

static int is_identity_view(const ln_context *ctx, const ln_op *op)
{
    const ln_op_arg *op_arg = op->op_arg;
    if (op->run || op->static_run || must_stay(op) || !has_one(op_arg->tensors_in) ||
        !has_one(op_arg->tensors_out))
        return 0;
    const ln_tensor_list_entry *in = op_arg->tensors_in->data, *out = op_arg->tensors_out->data;
    const ln_tensor_entry *src = ln_tensor_table_find(ctx->tensor_table, in->name);
    const ln_tensor_entry *dst = ln_tensor_table_find(ctx->tensor_table, out->name);
    // What is the same at most may differ at run time, unless no parameter tells the shape.
    return dst->owner && ln_streq(dst->owner, src->name) && (!dst->isdynamic || !op_arg->params) &&
           tl_tensor_issameshape(dst->tensor, src->tensor) &&
           dst->tensor->dtype == src->tensor->dtype && dst->mtype == src->mtype &&
           may_replace(ctx, dst->name, src->name);
}

static int skip_identity(const cleanup *c, const ln_op *op)
{
    if (!is_identity_view(c->ctx, op))
        return 0;
    const ln_tensor_list_entry *in = op->op_arg->tensors_in->data;
    const ln_tensor_list_entry *out = op->op_arg->tensors_out->data;
    return replace(c, out->name, in->name);
}

/* Equal operators */

/* Operators as keys: equal keys, equal results. All that tells operators apart counts for the hash:
 * thousands may differ in a single number, or in the name of a body. */

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
    const ln_tensor_list_entry *tle;
    const ln_param_entry *param;
    uint32_t hash = ln_str_hash(op_arg->optype);
    LN_LIST_FOREACH(tle, op_arg->tensors_in)
    {
        hash = mix(mix(hash, tle->arg_name), tle->name);
    }
    LN_LIST_FOREACH(param, op_arg->params)
    {
        hash = mix_param(hash, param);
    }
    return hash;
}

static int same_tensors(const ln_list *a, const ln_list *b)
{
    for (; a && b; a = a->next, b = b->next) {
        const ln_tensor_list_entry *x = a->data, *y = b->data;
        if (!ln_streq(x->arg_name, y->arg_name) || !ln_streq(x->name, y->name))
            return 0;
    }
    return !a && !b;
}

// Equal as numbers is not enough: 1/x tells -0 from 0.
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

// Operators without inputs stay apart: each `create` can be set by its name, and equal `zeros` may
// be written in place.
static int may_merge(const ln_context *ctx, const ln_op *op)
{
    const ln_tensor_list_entry *tle;
    if (must_stay(op) || !op->op_arg->tensors_in)
        return 0;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_in)
    {
        if (ln_context_is_mutated(ctx, tle->name))
            return 0;
    }
    return 1;
}

// The output of that name, most likely the one at `*at`, which moves on to the next.
static const char *output_at(const ln_op *op, const ln_list **at, const char *arg_name)
{
    const ln_tensor_list_entry *tle = *at ? (*at)->data : NULL;
    *at = *at ? (*at)->next : NULL;
    if (tle && ln_streq(tle->arg_name, arg_name))
        return tle->name;
    return ln_tensor_list_find_name(op->op_arg->tensors_out, arg_name);
}

static int merge(const cleanup *c, const ln_op *op, const ln_op *earlier)
{
    const ln_tensor_list_entry *tle;
    const ln_list *at = earlier->op_arg->tensors_out;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
    {
        const char *same = output_at(earlier, &at, tle->arg_name);
        if (same && may_replace(c->ctx, tle->name, same) && replace(c, tle->name, same))
            return -1;
    }
    return 0;
}

static int merge_equal(const cleanup *c, const ln_op *op)
{
    if (!may_merge(c->ctx, op))
        return 0;
    const ln_op *earlier = ln_hash_find(c->seen, op);
    if (earlier)
        return merge(c, op, earlier);
    return ln_hash_insert(c->seen, op, (void *)op) < 0 ? ln_fail_memory(c->ctx) : 0;
}

/* The walk */

static int walk(const cleanup *c, int (*look)(const cleanup *c, const ln_op *op))
{
    ln_op *op;
    LN_LIST_FOREACH(op, c->ctx->ops)
    {
        if (ln_context_redirect(c->ctx, op, c->instead) || look(c, op))
            return -1;
    }
    return 0;
}

// Returns how many tensors are read no longer, or -1.
static int clean(ln_context *ctx, int (*look)(const cleanup *c, const ln_op *op))
{
    const cleanup c = {.ctx = ctx,
                       .instead = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL),
                       .seen = ln_hash_create(hash_op, compare_ops, NULL, NULL)};
    const int failed = c.instead && c.seen ? walk(&c, look) : ln_fail_memory(ctx);
    const int n = failed ? -1 : ln_hash_size(c.instead);
    ln_hash_free(c.instead);
    ln_hash_free(c.seen);
    return n;
}

int ln_cleanup_identity(ln_context *ctx)
{
    return clean(ctx, skip_identity);
}

int ln_cleanup_equal(ln_context *ctx)
{
    return clean(ctx, merge_equal);
}

int ln_cleanup(ln_context *ctx)
{
    if (!ctx->optimize)
        return 0;
    const int views = ln_cleanup_identity(ctx);
    const int equal = views < 0 ? -1 : ln_cleanup_equal(ctx);
    const int dead = equal < 0 ? -1 : ln_cleanup_dead(ctx);
    return dead < 0 ? -1 : views + equal + dead;
}

int ln_pass_preprocess(ln_context *ctx)
{
    return ln_cleanup(ctx) < 0 ? -1 : 0;
}
