// SPDX-License-Identifier: Apache-2.0
// Clean-up between rewrites: dead operators, equal operators, views that change nothing.

#include "pass/ln_cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_pass.h"
#include "lightnet/ln_util.h"

static int out_of_memory(const ln_context *ctx)
{
    return ln_fail(ctx, "out of memory");
}

/* Dead operators */

static int has_effect(const ln_op *op)
{
    const ln_op_info *info = op->op_arg->info;
    return !info || !info->pure || info->inplace_writer;
}

static int add_names(const ln_context *ctx, ln_hash *needed, const ln_list *tensors)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, tensors)
    {
        if (ln_hash_insert(needed, tle->name, NULL) < 0)
            return out_of_memory(ctx);
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

static ln_hash *interface_names(const ln_context *ctx)
{
    const char *name;
    ln_hash *needed = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL);
    const ln_list *lists[] = {ctx->inputs, ctx->outputs};
    for (size_t i = 0; needed && i < sizeof(lists) / sizeof(lists[0]); i++) {
        LN_LIST_FOREACH(name, lists[i])
        {
            char *key = ln_strdup(name);
            if (!key || ln_hash_insert(needed, key, NULL) < 0) {
                ln_free(key);
                ln_hash_free(needed);
                return NULL;
            }
        }
    }
    return needed;
}

// From the end of the list to its beginning: what is needed, and with it what it reads. Sets the
// bit of each needed operator's place.
static int mark_needed(ln_context *ctx, ln_op *const *ops, size_t n, char *needed_op)
{
    int status = 0;
    ln_hash *model = interface_names(ctx);
    ln_hash *read = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!model || !read)
        status = out_of_memory(ctx);
    for (size_t i = n; i-- > 0 && !status;) {
        needed_op[i] =
            has_effect(ops[i]) || makes_needed(model, ops[i]) || makes_needed(read, ops[i]);
        if (needed_op[i])
            status = add_names(ctx, read, ops[i]->op_arg->tensors_in);
    }
    ln_hash_free(model);
    ln_hash_free(read);
    return status;
}

int ln_cleanup_dead(ln_context *ctx)
{
    const size_t n = (size_t)ln_list_length(ctx->ops);
    ln_op **ops = ln_alloc((n + 1) * sizeof(*ops));
    char *needed = ln_alloc(n + 1);
    int status = -1;
    size_t i = 0;
    if (!ops || !needed) {
        out_of_memory(ctx);
        goto done;
    }
    for (const ln_list *node = ctx->ops; node; node = node->next)
        ops[i++] = node->data;
    if (mark_needed(ctx, ops, n, needed))
        goto done;
    status = 0;
    for (i = n; i-- > 0 && !status;) {
        ln_list *position = ops[i]->op_arg->node;
        if (!needed[i])
            status = ln_context_remove_op(ctx, &position);
    }
done:
    ln_free(ops);
    ln_free(needed);
    return status;
}

/* Reading another tensor instead */

// A no-copy gather has made this tensor a part of its own output; it cannot read another one
// instead.
static int is_given_away(const ln_context *ctx, const char *tname)
{
    const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tname);
    const ln_op *maker = ln_context_creater(ctx, tname);
    return te->owner && !ln_tensor_list_find_by_name(maker->op_arg->tensors_in, te->owner);
}

static int may_replace(const ln_context *ctx, const char *from, const char *to)
{
    return !ln_context_is_output(ctx, from) && !ln_context_is_mutated(ctx, from) &&
           !ln_context_is_mutated(ctx, to) && !is_given_away(ctx, from) && !is_given_away(ctx, to);
}

static int redirect_readers(ln_context *ctx, const char *from, const char *to)
{
    ln_op *reader;
    int status = 0;
    ln_list *readers = ln_dfg_nexts(ctx->dfg, ln_context_creater(ctx, from), from);
    LN_LIST_FOREACH(reader, readers)
    {
        // An operator that reads the tensor twice is listed twice and done at once.
        if (!status && ln_tensor_list_find_by_name(reader->op_arg->tensors_in, from))
            status = ln_context_redirect(ctx, reader, from, to);
    }
    ln_list_free(readers);
    return status;
}

/* Views that change nothing */

static int is_identity_view(const ln_context *ctx, const ln_op *op)
{
    const ln_op_arg *op_arg = op->op_arg;
    if (op->run || has_effect(op) || ln_list_length(op_arg->tensors_in) != 1 ||
        ln_list_length(op_arg->tensors_out) != 1)
        return 0;
    const ln_tensor_list_entry *in = op_arg->tensors_in->data, *out = op_arg->tensors_out->data;
    const ln_tensor_entry *src = ln_tensor_table_find(ctx->tensor_table, in->name);
    const ln_tensor_entry *dst = ln_tensor_table_find(ctx->tensor_table, out->name);
    return dst->owner && ln_streq(dst->owner, src->name) &&
           tl_tensor_issameshape(dst->tensor, src->tensor) &&
           dst->tensor->dtype == src->tensor->dtype && dst->mtype == src->mtype &&
           may_replace(ctx, dst->name, src->name);
}

int ln_cleanup_identity(ln_context *ctx)
{
    const ln_op *op;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        if (!is_identity_view(ctx, op))
            continue;
        const ln_tensor_list_entry *in = op->op_arg->tensors_in->data;
        const ln_tensor_list_entry *out = op->op_arg->tensors_out->data;
        if (redirect_readers(ctx, out->name, in->name))
            return -1;
    }
    return 0;
}

/* Equal operators */

static void print_numbers(FILE *fp, const double *numbers, int n)
{
    for (int i = 0; i < n; i++)
        fprintf(fp, "%a,", numbers[i]);
}

static void print_param(FILE *fp, const ln_param_entry *param)
{
    fprintf(fp, "|%s:%d:%d:", param->arg_name, param->type, param->array_len);
    switch (param->type) {
    case LN_PARAM_STRING:
        fputs(param->value_string, fp);
        break;
    case LN_PARAM_NUMBER:
        print_numbers(fp, &param->value_double, 1);
        break;
    case LN_PARAM_BOOL:
        fprintf(fp, "%d", param->value_bool);
        break;
    case LN_PARAM_ARRAY_STRING:
        for (int i = 0; i < param->array_len; i++)
            fprintf(fp, "%zu:%s", strlen(param->value_array_string[i]),
                    param->value_array_string[i]);
        break;
    case LN_PARAM_ARRAY_NUMBER:
        print_numbers(fp, param->value_array_double, param->array_len);
        break;
    case LN_PARAM_ARRAY_BOOL:
        for (int i = 0; i < param->array_len; i++)
            fprintf(fp, "%d", param->value_array_bool[i]);
        break;
    default:
        break;
    }
}

// What the operator computes, as text: equal text, equal results. Returns new, or NULL.
static char *fingerprint(const ln_op *op)
{
    char *text = NULL;
    size_t size;
    const ln_tensor_list_entry *tle;
    const ln_param_entry *param;
    FILE *fp = open_memstream(&text, &size);
    if (!fp)
        return NULL;
    fputs(op->op_arg->optype, fp);
    LN_LIST_FOREACH(tle, op->op_arg->tensors_in)
    {
        fprintf(fp, "|%s=%s", tle->arg_name, tle->name);
    }
    LN_LIST_FOREACH(param, op->op_arg->params)
    {
        print_param(fp, param);
    }
    if (fclose(fp)) {
        free(text);
        return NULL;
    }
    return text;
}

// Operators without inputs stay apart: each `create` can be set by its name, and equal `zeros` may
// be written in place.
static int may_merge(const ln_context *ctx, const ln_op *op)
{
    const ln_tensor_list_entry *tle;
    if (has_effect(op) || !op->op_arg->tensors_in)
        return 0;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_in)
    {
        if (ln_context_is_mutated(ctx, tle->name))
            return 0;
    }
    return 1;
}

static int merge(ln_context *ctx, const ln_op *op, const ln_op *earlier)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
    {
        const char *same = ln_tensor_list_find_name(earlier->op_arg->tensors_out, tle->arg_name);
        if (same && may_replace(ctx, tle->name, same) && redirect_readers(ctx, tle->name, same))
            return -1;
    }
    return 0;
}

int ln_cleanup_equal(ln_context *ctx)
{
    const ln_op *op;
    int status = 0;
    ln_hash *seen = ln_hash_create(ln_str_hash, ln_str_cmp, free, NULL);
    if (!seen)
        return out_of_memory(ctx);
    LN_LIST_FOREACH(op, ctx->ops)
    {
        if (!may_merge(ctx, op))
            continue;
        char *text = fingerprint(op);
        const ln_op *earlier = text ? ln_hash_find(seen, text) : NULL;
        if (!text || (!earlier && ln_hash_insert(seen, text, (void *)op) < 0)) {
            free(text);
            status = out_of_memory(ctx);
            break;
        }
        if (!earlier)
            continue;
        free(text);
        status = merge(ctx, op, earlier);
        if (status)
            break;
    }
    ln_hash_free(seen);
    return status;
}

int ln_pass_preprocess(ln_context *ctx)
{
    if (!ctx->optimize)
        return 0;
    if (ln_cleanup_identity(ctx) || ln_cleanup_equal(ctx) || ln_cleanup_dead(ctx))
        return -1;
    return 0;
}
