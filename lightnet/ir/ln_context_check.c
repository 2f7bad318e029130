// SPDX-License-Identifier: Apache-2.0
// Whether a context is valid: its lists, tables and graph agree, and its program can be run.

#include "ir/ln_context_ops.h"
#include "lightnet/ln_util.h"

static int check_links(const ln_context *ctx)
{
    int n = 0;
    const ln_list *before = NULL;
    for (const ln_list *node = ctx->ops; node; before = node, node = node->next, n++) {
        const ln_op *op = node->data;
        if (op->op_arg->node != node || op->op_arg->before != before || op->op_arg->ctx != ctx)
            return ln_fail(ctx, "operator '%s' does not know its place", op->op_arg->name);
        if (ln_op_table_find(ctx->op_table, op->op_arg->name) != op)
            return ln_fail(ctx, "operator '%s' is not in the table", op->op_arg->name);
    }
    if (before != ctx->last)
        return ln_fail(ctx, "the last operator is not known as the last");
    if (n != ln_hash_size(ctx->op_table))
        return ln_fail(ctx, "%d operators in the list, %d in the table", n,
                       ln_hash_size(ctx->op_table));
    return 0;
}

// Every tensor is made by the operator that its entry names, before anything reads it.
static int check_tensors(const ln_context *ctx)
{
    const ln_op *op;
    const ln_tensor_list_entry *tle;
    int status = 0;
    ln_hash *defined = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!defined)
        return ln_fail_memory(ctx);
    LN_LIST_FOREACH(op, ctx->ops)
    {
        LN_LIST_FOREACH(tle, op->op_arg->tensors_in)
        {
            if (!ln_hash_find_extended(defined, tle->name, NULL, NULL))
                status = ln_fail(ctx, "operator '%s' (%s) reads tensor '%s' before it is made",
                                 op->op_arg->name, op->op_arg->optype, tle->name);
        }
        LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
        {
            const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tle->name);
            if (!te || !te->creater || !ln_streq(te->creater, op->op_arg->name))
                status = ln_fail(ctx, "tensor '%s' is not made by operator '%s'", tle->name,
                                 op->op_arg->name);
            if (ln_hash_insert(defined, tle->name, NULL) < 0)
                status = ln_fail_memory(ctx);
        }
    }
    if (!status && ln_hash_size(defined) != ln_hash_size(ctx->tensor_table))
        status = ln_fail(ctx, "%d tensors in the operators, %d in the table", ln_hash_size(defined),
                         ln_hash_size(ctx->tensor_table));
    ln_hash_free(defined);
    return status;
}

int ln_context_check(const ln_context *ctx)
{
    if (check_links(ctx) || check_tensors(ctx))
        return -1;
    return ln_dfg_check(ctx->dfg) < 0 ? ln_fail_last(ctx) : 0;
}
