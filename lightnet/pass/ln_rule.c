// SPDX-License-Identifier: Apache-2.0
// Building blocks of rewrite rules.

#include "lightnet/ln_rule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_fnv.h"
#include "base/ln_list_end.h"
#include "ir/ln_bodies.h"
#include "ir/ln_dynamic.h"
#include "ir/ln_fixed.h"
#include "ir/ln_param_type.h"
#include "lightnet/ln_arch.h"
#include "lightnet/ln_pass.h"
#include "pass/ln_rewriting.h"

// Finding

const ln_op *ln_rule_anchor(const ln_context *ctx, const ln_op *after)
{
    const ln_op *const anchor = ln_rewriting_anchor(ctx);
    if (!after && anchor)
        return anchor;
    if (anchor)
        return NULL;
    const ln_list *node = after ? after->op_arg->node->next : ctx->ops;
    return node ? node->data : NULL;
}

// Constants

// Records that the current rule has read the value of `te`.
static int note_inspected(const ln_context *ctx, const ln_tensor_entry *te, const char *element)
{
    ln_rewriting *const rewriting = ctx->rewriting;
    if (!rewriting)
        return 0;
    const uint64_t hash = ln_fnv64(element, tl_size_of(te->tensor->dtype));
    ln_fixed_value *const value = ln_fixed_value_create(te->name, NULL, hash);
    return ln_list_push(&rewriting->inspected, value, ln_fixed_value_free);
}

// The source of the cast that produces `te`, or NULL.
static const ln_tensor_entry *cast_from(const ln_tensor_entry *te)
{
    const ln_op *const producer = ln_entry_creater(te);
    return ln_op_is(producer, LN_OP_CAST) || ln_op_is(producer, LN_OP_CAST_CPU)
               ? ln_op_input(producer, "src")
               : NULL;
}

// The one element of constant `te` of the context `home`, in its own type, traced through casts
// and the runners' inputs of bodies. Records the source of the element as inspected in `ctx`, if
// it is in the program itself. Not 0: the value is unknown, or has other than one element.
static int inspect(const ln_context *ctx, const ln_context *home, const ln_tensor_entry *te,
                   char element[TL_DTYPE_MAX_SIZE])
{
    char original[TL_DTYPE_MAX_SIZE];
    const ln_tensor_entry *const src = te->isconst ? cast_from(te) : NULL;
    const ln_tensor_entry *const origin = src ? te : ln_body_origin(&home, te);
    if (origin != te)
        return inspect(ctx, home, origin, element);
    // Only the program itself, not a body, records the values that it depends on.
    if (!src)
        return home->outer || ln_constant_element(home, te, element) ||
               note_inspected(ctx, te, element);
    if (inspect(ctx, home, src, original))
        return -1;
    tl_convert(element, te->tensor->dtype, original, src->tensor->dtype);
    return 0;
}

double ln_rule_scalar(const ln_context *ctx, const ln_tensor_entry *te)
{
    double value;
    char element[TL_DTYPE_MAX_SIZE];
    if (inspect(ctx, ctx, te, element))
        return NAN;
    tl_convert(&value, TL_DOUBLE, element, te->tensor->dtype);
    return value;
}

// Making

// Copies the thread's last error as the reason.
static void fail_last(ln_rule_made *made)
{
    if (!made->failed)
        ln_fail_last(made->ctx);
    made->failed = 1;
}

// Sets the list to `longer`; -1 if that is NULL, for lack of memory.
static int keep_list(ln_rule_made *made, ln_list **list, ln_list *longer)
{
    if (!longer) {
        fail_last(made);
        return -1;
    }
    *list = longer;
    return 0;
}

const char *ln_rule_tensor(ln_rule_made *made, const char *prefix)
{
    char buf[LN_MAX_NAME_LEN];
    if (made->failed)
        return "";
    if (ln_context_unique_name(made->ctx, buf, prefix)) {
        made->failed = 1;
        return "";
    }
    char *name = ln_strdup(buf);
    if (!ln_list_add(&made->names, name, ln_free))
        return name;
    return fail_last(made), "";
}

void ln_rule_op(ln_rule_made *made, const char *optype)
{
    char unique[LN_MAX_NAME_LEN];
    const ln_op *proto = ln_hash_find(LN_ARCH.op_proto_table, optype);
    if (made->failed)
        return;
    if (!proto)
        ln_fail(made->ctx, "rule '%s' creates an operator of unknown type '%s'", made->rule,
                optype);
    if (!proto || (!made->name && ln_context_unique_name(made->ctx, unique, optype))) {
        made->failed = 1;
        return;
    }
    const char *const name = made->name ? made->name : unique;
    made->name = NULL;
    made->op = ln_op_create_from_proto(proto, name, NULL, NULL, NULL, made->ctx->tensor_table);
    if (ln_list_add(&made->ops, made->op, ln_rewriting_free_op))
        fail_last(made);
}

static void set_tensor(ln_rule_made *made, ln_list **list, const char *arg_name, const char *tname)
{
    ln_tensor_list_entry *tle = ln_tensor_list_find_by_arg_name(*list, arg_name);
    if (!tle)
        keep_list(made, list, ln_tensor_list_append(*list, arg_name, tname));
    else if (ln_tensor_list_entry_set_name(tle, tname))
        fail_last(made);
}

void ln_rule_input(ln_rule_made *made, const char *arg_name, const char *tname)
{
    if (!made->failed)
        set_tensor(made, &made->op->op_arg->tensors_in, arg_name, tname);
}

void ln_rule_output(ln_rule_made *made, const char *arg_name, const char *tname)
{
    if (!made->failed)
        set_tensor(made, &made->op->op_arg->tensors_out, arg_name, tname);
}

void ln_rule_constant(ln_rule_made *made, const char *arg_name, double value)
{
    ln_op *const op = made->op;
    if (made->left_out)
        return;
    const char *const name = ln_rule_tensor(made, "number");
    ln_rule_op(made, LN_OP_SOURCE);
    ln_rule_output(made, "dst", name);
    ln_rule_string(made, "dtype", tl_dtype_name(made->dtype));
    ln_rule_ints(made, "dims", 0, NULL);
    ln_rule_numbers(made, "data", 1, &value);
    if (made->failed)
        return;
    // Before the operator, which remains the last one.
    for (ln_list *node = made->ops; node; node = node->next)
        if (node->next && node->data == op) {
            node->data = made->op;
            ln_list_nth(node, 1)->data = op;
        }
    made->op = op;
    ln_rule_input(made, arg_name, name);
}

// The entry of that arg_name among the nodes up to `last`; NULL: none.
static ln_tensor_list_entry *find_up_to(const ln_list *list, const ln_list *last,
                                        const char *arg_name)
{
    for (; last && list; list = list == last ? NULL : list->next) {
        ln_tensor_list_entry *tle = list->data;
        if (ln_streq(tle->arg_name, arg_name))
            return tle;
    }
    return NULL;
}

// The inputs of `from` have different names, so each is searched only among those that the operator
// had before.
void ln_rule_all_inputs(ln_rule_made *made, const ln_op *from)
{
    ln_list **list = made->failed ? NULL : &made->op->op_arg->tensors_in;
    ln_list *end = list ? ln_list_end(*list) : NULL;
    const ln_list *const last = end;
    LN_FOREACH (const ln_tensor_list_entry *, tle, list ? from->op_arg->tensors_in : NULL) {
        ln_tensor_list_entry *old = find_up_to(*list, last, tle->arg_name);
        ln_list *more = old ? NULL : ln_tensor_list_append(NULL, tle->arg_name, tle->name);
        if (more)
            ln_list_extend(list, &end, more);
        else if (!old || ln_tensor_list_entry_set_name(old, tle->name))
            fail_last(made);
    }
}

// Puts a copy of `pe`, as `arg_name`, after the operator's parameters, or in place of the one of
// that name.
static void set_param(ln_rule_made *made, const char *arg_name, const ln_param_entry *pe)
{
    if (made->failed || made->left_out)
        return;
    ln_list **params = &made->op->op_arg->params;
    ln_param_entry *copy = ln_param_entry_copy_as(pe, arg_name);
    if (!copy) {
        fail_last(made);
        return;
    }
    for (ln_list *node = *params; node; node = node->next) {
        ln_param_entry *old = node->data;
        if (strcmp(old->arg_name, arg_name) == 0) {
            ln_param_entry_free(old);
            node->data = copy;
            return;
        }
    }
    if (keep_list(made, params, ln_list_append(*params, copy)))
        ln_param_entry_free(copy);
}

void ln_rule_all_params(ln_rule_made *made, const ln_op *from)
{
    LN_FOREACH (const ln_param_entry *, pe, from->op_arg->params)
        set_param(made, pe->arg_name, pe);
}

void ln_rule_param(ln_rule_made *made, const char *arg_name, const ln_op *from,
                   const char *arg_name2)
{
    const ln_param_entry *pe = ln_op_param(from, arg_name2);
    if (pe) {
        set_param(made, arg_name, pe);
    } else if (!made->failed) {
        ln_fail(made->ctx, "rule '%s' copies parameter '%s' of operator '%s' (%s), which lacks it",
                made->rule, arg_name2, from->op_arg->name, from->op_arg->optype);
        made->failed = 1;
    }
}

// Sets the parameter to the only one of `list` (NULL: no memory), and frees the list.
static void set_from_list(ln_rule_made *made, const char *arg_name, ln_list *list)
{
    if (!list)
        fail_last(made);
    else
        set_param(made, arg_name, list->data);
    ln_param_list_free(list);
}

void ln_rule_null(ln_rule_made *made, const char *arg_name)
{
    set_from_list(made, arg_name, ln_param_list_append_null(NULL, arg_name));
}

void ln_rule_bool(ln_rule_made *made, const char *arg_name, ln_bool value)
{
    set_from_list(made, arg_name, ln_param_list_append_bool(NULL, arg_name, value));
}

void ln_rule_number(ln_rule_made *made, const char *arg_name, double value)
{
    set_from_list(made, arg_name, ln_param_list_append_number(NULL, arg_name, value));
}

void ln_rule_string(ln_rule_made *made, const char *arg_name, const char *value)
{
    set_from_list(made, arg_name, ln_param_list_append_string(NULL, arg_name, value));
}

void ln_rule_bools(ln_rule_made *made, const char *arg_name, int len, const ln_bool *values)
{
    set_from_list(made, arg_name, ln_param_list_append_array_bool(NULL, arg_name, len, values));
}

void ln_rule_ints(ln_rule_made *made, const char *arg_name, int len, const int *values)
{
    set_from_list(made, arg_name, ln_param_list_append_array_int(NULL, arg_name, len, values));
}

void ln_rule_numbers(ln_rule_made *made, const char *arg_name, int len, const double *values)
{
    set_from_list(made, arg_name, ln_param_list_append_array_number(NULL, arg_name, len, values));
}

void ln_rule_strings(ln_rule_made *made, const char *arg_name, int len, const char *const *values)
{
    set_from_list(made, arg_name, ln_param_list_append_array_string(NULL, arg_name, len, values));
}

ln_list *ln_rule_end(ln_rule_made *made, int *match)
{
    ln_list_free_deep(made->names, ln_free);
    made->names = NULL;
    *match = !made->failed;
    if (made->failed) {
        ln_list_free_deep(made->ops, ln_rewriting_free_op);
        made->ops = NULL;
        return NULL;
    }
    ln_pass_rule_fires(made->ctx, made->rule, made->ops);
    return made->ops;
}

ln_list *ln_rule_end_subgraph(ln_rule_made *made, const ln_op *const *replaced, ln_list **old_ops)
{
    int match;
    ln_list *old = NULL;
    for (; *replaced && !made->failed; replaced++)
        keep_list(made, &old, ln_list_append(old, (ln_op *)*replaced));
    ln_list *ops = ln_rule_end(made, &match);
    if (!match)
        ln_list_free(old);
    *old_ops = match ? old : NULL;
    return ops;
}

// Records that the rule warns about the operator, so that later rounds do not repeat it. 0: it did
// before, or no memory.
static int note_warning(const ln_context *ctx, const char *rule, const ln_op *op)
{
    ln_hash *const warned = ctx->rewriting ? ctx->rewriting->warned : NULL;
    const size_t size = strlen(rule) + strlen(op->op_arg->name) + 2;
    if (!warned)
        return 1;
    char *key = ln_alloc(size);
    if (!key) {
        ln_fail_last(ctx);
        return 0;
    }
    snprintf(key, size, "%s %s", rule, op->op_arg->name);
    const int known = ln_hash_find_extended(warned, key, NULL, NULL);
    if (!known && ln_hash_insert(warned, key, NULL) >= 0)
        return 1;
    if (!known)
        ln_fail_last(ctx);
    ln_free(key);
    return 0;
}

void ln_rule_warn(const ln_context *ctx, const char *rule, const ln_op *op, const char *text)
{
    if (!note_warning(ctx, rule, op))
        return;
    ln_warn(ctx, "operator '%s' (%s): %s", op->op_arg->name, op->op_arg->optype, text);
}
