// SPDX-License-Identifier: Apache-2.0
// Queries on a context: producers and readers of tensors, unique names, input and output lists.

#include <stdio.h>

#include "base/ln_list_end.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_dfg_value.h"
#include "lightnet/ln_util.h"

int ln_context_is_loaded(const ln_context *ctx)
{
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++)
        if (ctx->mem_starts[m])
            return 1;
    return 0;
}

// Tensors

ln_op *ln_entry_creater(const ln_tensor_entry *te)
{
    return te->value ? te->value->producer : NULL;
}

int ln_entry_is_mutated(const ln_tensor_entry *te)
{
    return te->value && te->value->ismutated;
}

int ln_entry_is_output(const ln_tensor_entry *te)
{
    return te->value && te->value->isoutput;
}

int ln_entry_num_uses(const ln_tensor_entry *te)
{
    return te->value ? (int)te->value->num_readers + te->value->isoutput : 0;
}

ln_op *ln_context_creater(const ln_context *ctx, const char *tname)
{
    const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tname);
    ln_op *producer = te ? ln_entry_creater(te) : NULL;
    // During a pre_run, outputs are not linked to their producer yet.
    return producer || !te ? producer : ln_op_table_find(ctx->op_table, te->creater);
}

int ln_context_is_mutated(const ln_context *ctx, const char *tname)
{
    const ln_dfg_value *value = ln_dfg_value_find(ctx->dfg->values, tname);
    return value && value->ismutated;
}

int ln_context_is_output(const ln_context *ctx, const char *tname)
{
    return ln_hash_find(ctx->output_names, tname) != NULL;
}

int ln_context_num_uses(const ln_context *ctx, const char *tname)
{
    return ln_dfg_num_readers(ctx->dfg, tname) + ln_context_is_output(ctx, tname);
}

int ln_context_readers(const ln_context *ctx, const ln_tensor_entry *te, ln_list **readers)
{
    *readers = NULL;
    if (!te->value || !te->value->num_linked)
        return 0;
    *readers = ln_dfg_value_readers(te->value);
    return *readers ? 0 : ln_fail_last(ctx);
}

static int reads_entry(const ln_op *op, const ln_tensor_entry *te)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
        if (tle->value && tle->value == te->value)
            return 1;
    return 0;
}

const ln_op *ln_context_joiner(const ln_context *ctx, const ln_tensor_entry *te)
{
    const ln_op *producer = te->owner ? ln_entry_creater(te) : NULL;
    const ln_tensor_entry *owner = producer ? ln_entry_owner(te, ctx->tensor_table) : NULL;
    return owner && !reads_entry(producer, owner) ? ln_entry_creater(owner) : NULL;
}

int ln_context_unique_name(const ln_context *ctx, char *buf, const char *prefix)
{
    size_t number = (size_t)ln_hash_find(ctx->unique, prefix);
    int len;
    do {
        len = snprintf(buf, LN_MAX_NAME_LEN, "%s_%zu", prefix, number++);
        if (len < 0 || len >= LN_MAX_NAME_LEN)
            return ln_fail(ctx, "a name made from '%.64s...' is longer than %d bytes", prefix,
                           LN_MAX_NAME_LEN - 1);
    } while (ln_op_table_find(ctx->op_table, buf) || ln_tensor_table_find(ctx->tensor_table, buf));
    char *key = ln_strdup(prefix);
    if (!key || ln_hash_insert(ctx->unique, key, (void *)number) < 0) {
        ln_free(key);
        return ln_fail_memory(ctx);
    }
    return 0;
}

// Lists of names

int ln_context_prepend_name(const ln_context *ctx, ln_list **names, const char *name)
{
    return ln_list_push(names, ln_strdup(name), ln_free) ? ln_fail_memory(ctx) : 0;
}

// Maps each name to its position in the list, from 1.
static int index_list(ln_hash *names, const ln_list *list)
{
    intptr_t position = 0;
    ln_hash_clear(names);
    LN_FOREACH (const char *, name, list)
        if (ln_hash_insert(names, name, (void *)++position) < 0)
            return -1;
    return 0;
}

static void update_flags(const ln_context *ctx, ln_dfg_value *value)
{
    value->isinput = ln_hash_find(ctx->input_names, value->name) != NULL;
    value->isoutput = ln_hash_find(ctx->output_names, value->name) != NULL;
}

int ln_context_link_values(const ln_context *ctx, const ln_list *tensors)
{
    LN_FOREACH (ln_tensor_list_entry *, tle, tensors) {
        if (tle->value)
            continue;
        tle->value = ln_dfg_value_enter(ctx->dfg->values, tle->name);
        if (!tle->value)
            return ln_fail_last(ctx);
        if (tle->value->num_references == 1)
            update_flags(ctx, tle->value);
    }
    return 0;
}

static void update_all_flags(const ln_context *ctx)
{
    LN_FOREACH (const ln_op *, op, ctx->ops)
        LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
            if (tle->value)
                update_flags(ctx, tle->value);
}

int ln_context_index_names(ln_context *ctx)
{
    ctx->last_input = ln_list_end(ctx->inputs);
    ctx->last_output = ln_list_end(ctx->outputs);
    if (index_list(ctx->input_names, ctx->inputs) || index_list(ctx->output_names, ctx->outputs))
        return ln_fail_memory(ctx);
    update_all_flags(ctx);
    return 0;
}

static int push_name(const ln_context *ctx, ln_list **list, ln_list **end, ln_hash *names,
                     const char *name)
{
    char *copy = ln_strdup(name);
    ln_list *node = copy ? ln_list_prepend(NULL, copy) : NULL;
    const intptr_t position = ln_hash_size(names) + 1;
    if (!node || ln_hash_insert(names, copy, (void *)position) < 0) {
        ln_list_free(node);
        ln_free(copy);
        return ln_fail_memory(ctx);
    }
    ln_list_extend(list, end, node);
    ln_dfg_value *value = ln_dfg_value_find(ctx->dfg->values, name);
    if (value)
        update_flags(ctx, value);
    return 0;
}

int ln_context_push_input(ln_context *ctx, const char *name)
{
    return push_name(ctx, &ctx->inputs, &ctx->last_input, ctx->input_names, name);
}

int ln_context_push_output(ln_context *ctx, const char *name)
{
    return push_name(ctx, &ctx->outputs, &ctx->last_output, ctx->output_names, name);
}
