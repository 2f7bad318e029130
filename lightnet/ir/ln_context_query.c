// SPDX-License-Identifier: Apache-2.0
// What is asked of a context: who makes and reads a tensor, what its names stand for; and its lists
// of inputs and outputs.

#include <stdio.h>

#include "base/ln_list_end.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_util.h"

int ln_context_is_loaded(const ln_context *ctx)
{
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++)
        if (ctx->mem_starts[m])
            return 1;
    return 0;
}

/* Tensors */

ln_op *ln_context_creater(const ln_context *ctx, const char *tname)
{
    const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tname);
    return te && te->creater ? ln_op_table_find(ctx->op_table, te->creater) : NULL;
}

int ln_context_is_mutated(const ln_context *ctx, const char *tname)
{
    return ln_hash_find_extended(ctx->mutated, tname, NULL, NULL);
}

int ln_context_is_output(const ln_context *ctx, const char *tname)
{
    return ln_hash_find(ctx->output_names, tname) != NULL;
}

int ln_context_num_uses(const ln_context *ctx, const char *tname)
{
    return ln_dfg_num_readers(ctx->dfg, tname) + ln_context_is_output(ctx, tname);
}

const tl_tensor *ln_context_weight(const ln_context *ctx, const char *tname)
{
    const ln_weight *weight = ln_weights_find(ctx->weights, tname);
    return weight ? ln_weight_tensor(weight, ctx->error) : NULL;
}

int ln_context_readers(const ln_context *ctx, const char *tname, ln_list **readers)
{
    const ln_op *maker = ln_context_creater(ctx, tname);
    *readers = NULL;
    if (!maker || !ln_dfg_num_readers(ctx->dfg, tname))
        return 0;
    ln_error_clear(NULL);
    *readers = ln_dfg_nexts(ctx->dfg, maker, tname);
    return *readers || !*ln_last_error() ? 0 : ln_fail_last(ctx);
}

const ln_op *ln_context_taker(const ln_context *ctx, const ln_tensor_entry *te)
{
    const ln_op *maker = te->owner ? ln_context_creater(ctx, te->name) : NULL;
    if (!maker || ln_tensor_list_find_by_name(maker->op_arg->tensors_in, te->owner))
        return NULL;
    return ln_context_creater(ctx, te->owner);
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

/* Lists of names */

int ln_context_prepend_name(const ln_context *ctx, ln_list **names, const char *name)
{
    char *copy = ln_strdup(name);
    ln_list *longer = copy ? ln_list_prepend(*names, copy) : NULL;
    if (!longer) {
        ln_free(copy);
        return ln_fail_memory(ctx);
    }
    *names = longer;
    return 0;
}

static int index_list(ln_hash *names, const ln_list *list)
{
    const char *name;
    intptr_t number = 0;
    ln_hash_clear(names);
    LN_LIST_FOREACH(name, list)
    {
        if (ln_hash_insert(names, name, (void *)++number) < 0)
            return -1;
    }
    return 0;
}

int ln_context_index_names(ln_context *ctx)
{
    ctx->last_input = ln_list_end(ctx->inputs);
    ctx->last_output = ln_list_end(ctx->outputs);
    if (index_list(ctx->input_names, ctx->inputs) || index_list(ctx->output_names, ctx->outputs))
        return ln_fail_memory(ctx);
    return 0;
}

static int push_name(const ln_context *ctx, ln_list **list, ln_list **end, ln_hash *names,
                     const char *name)
{
    char *copy = ln_strdup(name);
    ln_list *node = copy ? ln_list_prepend(NULL, copy) : NULL;
    const intptr_t number = ln_hash_size(names) + 1;
    if (!node || ln_hash_insert(names, copy, (void *)number) < 0) {
        ln_list_free(node);
        ln_free(copy);
        return ln_fail_memory(ctx);
    }
    ln_list_extend(list, end, node);
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
