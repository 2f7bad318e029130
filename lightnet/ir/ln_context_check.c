// SPDX-License-Identifier: Apache-2.0
// Whether a context is valid: its lists, tables and graph agree, and its program can be run.

#include "ir/ln_context_ops.h"
#include "ir/ln_dfg_value.h"
#include "lightnet/ln_util.h"

static int check_links(const ln_context *ctx, const ln_list *node, const ln_list *before)
{
    const ln_op *op = node->data;
    if (op->op_arg->node != node || op->op_arg->before != before || op->op_arg->ctx != ctx)
        return ln_fail(ctx, "operator '%s' has a wrong node or context", op->op_arg->name);
    if (ln_op_table_find(ctx->op_table, op->op_arg->name) != op)
        return ln_fail(ctx, "operator '%s' is not in the table", op->op_arg->name);
    return 0;
}

static int check_reads(const ln_context *ctx, const ln_op *op, size_t begin)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        // The walk numbers operators from begin + 1 on; earlier walks used numbers up to `begin`,
        // so an operator not yet visited has a number of at most that.
        const ln_dfg_value *value = tle->value;
        if (!value || !value->producer || value->producer->op_arg->number <= begin ||
            !ln_streq(value->name, tle->name))
            return ln_fail(ctx, "operator '%s' (%s) reads tensor '%s' before it is produced",
                           op->op_arg->name, op->op_arg->optype, tle->name);
    }
    return 0;
}

static int check_makes(const ln_context *ctx, const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
        // Table and value have the same entry, produced by the operator.
        const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tle->name);
        if (!te || !te->value || te->value != tle->value || te->value->entry != te ||
            te->value->producer != op || !ln_streq(te->creater, op->op_arg->name))
            return ln_fail(ctx, "tensor '%s' is not produced by operator '%s' (%s)", tle->name,
                           op->op_arg->name, op->op_arg->optype);
    }
    return 0;
}

// The state of the walk over the operators.
typedef struct tally {
    int ops, tensors;
    int has_gathers; // an operator gathers its inputs
} tally;

static int check_counts(const ln_context *ctx, const ln_list *last, const tally *counts)
{
    if (last != ctx->last)
        return ln_fail(ctx, "ctx->last is not the last operator of the list");
    if (counts->ops != ln_hash_size(ctx->op_table))
        return ln_fail(ctx, "%d operators in the list, %d in the table", counts->ops,
                       ln_hash_size(ctx->op_table));
    if (counts->tensors != ln_hash_size(ctx->tensor_table))
        return ln_fail(ctx, "%d tensors in the operators, %d in the table", counts->tensors,
                       ln_hash_size(ctx->tensor_table));
    return 0;
}

// Checks that lists and tables agree on each operator, and that the operator named in a tensor's
// entry produces it before any reads it.
static int check_ops(const ln_context *ctx, tally *counts)
{
    const ln_list *before = NULL;
    const size_t begin = ctx->dfg->n_checked;
    for (const ln_list *node = ctx->ops; node; before = node, node = node->next) {
        const ln_op *op = node->data;
        if (check_links(ctx, node, before) || check_reads(ctx, op, begin) || check_makes(ctx, op))
            return -1;
        op->op_arg->number = ++ctx->dfg->n_checked;
        counts->ops++;
        counts->tensors += ln_tensor_list_length(op->op_arg->tensors_out);
        counts->has_gathers |= op->op_arg->takes_inputs;
    }
    return check_counts(ctx, before, counts);
}

// No-copy gathers: an operator must not write a tensor in place after it became a part of a
// gathered one. Checks use its `origin`: the root of its views, but not the gathered tensor, which
// is produced after it. So each tensor is looked up once.

typedef struct gathers {
    const ln_context *ctx;
    ln_hash *origins;  // tensor name -> the name of its origin, of the tensors produced so far
    ln_hash *gathered; // the names of the origins that are gathered
} gathers;

static int check_written(const gathers *g, const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle,
                ln_op_writes_inplace(op) ? op->op_arg->tensors_out : NULL) {
        const char *origin = ln_hash_find(g->origins, tle->name);
        if (ln_hash_find_extended(g->gathered, origin, NULL, NULL))
            return ln_fail(g->ctx,
                           "operator '%s' (%s) writes '%s' in place, after it became a part of a "
                           "gathered tensor",
                           op->op_arg->name, op->op_arg->optype, origin);
    }
    return 0;
}

static int note_origins(const gathers *g, const ln_op *op)
{
    const ln_tensor_entry *te;
    LN_OUTPUTS_FOREACH (te, op->op_arg) {
        const char *origin = te->owner ? ln_hash_find(g->origins, te->owner) : NULL;
        if (ln_hash_insert(g->origins, te->name, (void *)(origin ? origin : te->name)) < 0)
            return ln_fail_memory(g->ctx);
    }
    return 0;
}

static int note_gathered(const gathers *g, const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle,
                op->op_arg->takes_inputs ? op->op_arg->tensors_in : NULL) {
        const ln_tensor_entry *te = ln_entry_of(tle, g->ctx->tensor_table);
        if (ln_context_joiner(g->ctx, te) == op &&
            ln_hash_insert(g->gathered, ln_hash_find(g->origins, te->name), NULL) < 0)
            return ln_fail_memory(g->ctx);
    }
    return 0;
}

static int check_gathers(const ln_context *ctx)
{
    const gathers g = {.ctx = ctx,
                       .origins = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL),
                       .gathered = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL)};
    int status = g.origins && g.gathered ? 0 : ln_fail_memory(ctx);
    for (const ln_list *node = ctx->ops; node && !status; node = node->next)
        status = -(note_origins(&g, node->data) || check_written(&g, node->data) ||
                   note_gathered(&g, node->data));
    ln_hash_free(g.origins);
    ln_hash_free(g.gathered);
    return status;
}

// Since the graph mirrors the producers and readers of values, operators in an order in which each
// tensor is produced before it is read have no cycle, and read no missing tensors.
int ln_context_check(const ln_context *ctx)
{
    tally found = {.ops = 0};
    return -(check_ops(ctx, &found) || (found.has_gathers && check_gathers(ctx)));
}
