// SPDX-License-Identifier: Apache-2.0
// The operators of a context: entering, leaving and replacing them, with everything that must
// follow.
//
// Each operator knows its node in ctx->ops, and a node's content may move: to put an operator
// before node N without knowing N's predecessor, N takes the new operator and a new node behind N
// takes the old one; removal is the reverse. So all edits take constant time, except removing the
// last node.

#include "ir/ln_context_ops.h"

#include <string.h>

#include "lightnet/ln_util.h"

static int out_of_memory(const ln_context *ctx)
{
    return ln_fail(ctx, "out of memory");
}

static void place(ln_list *node, ln_op *op)
{
    node->data = op;
    op->op_arg->node = node;
}

static int insert_before(ln_context *ctx, ln_list *node, ln_op *op)
{
    ln_list *behind = ln_list_prepend(NULL, NULL);
    if (!behind)
        return out_of_memory(ctx);
    behind->next = node->next;
    node->next = behind;
    place(behind, node->data);
    place(node, op);
    return 0;
}

static int append(ln_context *ctx, ln_op *op)
{
    ln_list *node = ln_list_prepend(NULL, NULL);
    if (!node)
        return out_of_memory(ctx);
    place(node, op);
    ln_list **link = &ctx->ops;
    while (*link)
        link = &(*link)->next;
    *link = node;
    return 0;
}

static void free_node(ln_list *node)
{
    node->next = NULL;
    ln_list_free(node);
}

static void unlink_node(ln_context *ctx, ln_list *node)
{
    ln_list *next = node->next;
    if (next) {
        place(node, next->data);
        node->next = next->next;
        free_node(next);
        return;
    }
    ln_list **link = &ctx->ops;
    while (*link != node)
        link = &(*link)->next;
    *link = NULL;
    free_node(node);
}

static int has_output(const ln_op *op, const char *tname)
{
    return ln_tensor_list_find_by_name(op->op_arg->tensors_out, tname) != NULL;
}

// Tensor `te` and everything computed from it at load will have to be computed in each run.
static void revoke_constant(ln_context *ctx, ln_tensor_entry *te)
{
    if (!te->isconst)
        return;
    te->isconst = 0;
    ln_op *reader;
    ln_list *readers = ln_dfg_nexts(ctx->dfg, ln_context_creater(ctx, te->name), te->name);
    LN_LIST_FOREACH(reader, readers)
    {
        const ln_tensor_list_entry *tle;
        reader->op_arg->at_load = 0;
        LN_LIST_FOREACH(tle, reader->op_arg->tensors_out)
        {
            revoke_constant(ctx, ln_tensor_table_find(ctx->tensor_table, tle->name));
        }
    }
    ln_list_free(readers);
}

static int mark_mutated(ln_context *ctx, const char *tname)
{
    ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tname);
    ln_tensor_entry *root = ln_tensor_table_root(ctx->tensor_table, te);
    char *key = ln_strdup(root->name);
    if (!key || ln_hash_insert(ctx->mutated, key, NULL) < 0) {
        ln_free(key);
        return out_of_memory(ctx);
    }
    revoke_constant(ctx, root);
    return 0;
}

static int is_inplace_writer(const ln_op *op)
{
    return op->op_arg->info && op->op_arg->info->inplace_writer;
}

static int outputs_are_static(const ln_op *op)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
    {
        const ln_tensor_entry *te = ln_tensor_table_find(op->op_arg->tensor_table, tle->name);
        if (!te->isstatic)
            return 0;
    }
    return op->op_arg->tensors_out != NULL;
}

static int inputs_are_constant(const ln_op *op)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_in)
    {
        const ln_tensor_entry *te = ln_tensor_table_find(op->op_arg->tensor_table, tle->name);
        if (!te->isconst)
            return 0;
    }
    return 1;
}

static int makes_model_input(const ln_context *ctx, const ln_op *op)
{
    const char *name;
    LN_LIST_FOREACH(name, ctx->inputs)
    {
        if (has_output(op, name))
            return 1;
    }
    return 0;
}

static int is_constant(const ln_context *ctx, const ln_op *op)
{
    const ln_op_arg *op_arg = op->op_arg;
    if (!op_arg->tensors_in)
        return outputs_are_static(op) && !makes_model_input(ctx, op);
    return op_arg->info && op_arg->info->pure && !op_arg->info->inplace_writer &&
           inputs_are_constant(op);
}

// See "Constants and static work" in docs/dev/design.md.
static int mark_constants(ln_context *ctx, ln_op *op)
{
    const ln_tensor_list_entry *tle;
    const int constant = is_constant(ctx, op);
    op->op_arg->at_load = constant && op->op_arg->tensors_in;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
    {
        ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tle->name);
        te->isconst = constant;
        te->isstatic = te->isstatic || (constant && !te->owner);
        if (is_inplace_writer(op) && mark_mutated(ctx, tle->name))
            return -1;
    }
    return 0;
}

// The plan stands in the operators' lists, so that it outlives the entries, which pre_run makes
// anew.
static void restore_offsets(const ln_op *op)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
    {
        ln_tensor_table_find(op->op_arg->tensor_table, tle->name)->offset = tle->offset;
    }
}

static int check_op(ln_context *ctx, ln_op *op)
{
    op->op_arg->failed = 0;
    if (op->pre_run)
        op->pre_run(op->op_arg);
    if (op->op_arg->failed || mark_constants(ctx, op))
        return -1;
    restore_offsets(op);
    return 0;
}

static void uncheck_op(ln_op *op)
{
    if (op->post_run)
        op->post_run(op->op_arg);
    else
        ln_op_undefine_outputs(op->op_arg);
}

// The operator, which stands in ctx->ops, becomes part of tables and graph.
static int enter_op(ln_context *ctx, ln_op *op)
{
    ln_op_arg *op_arg = op->op_arg;
    op_arg->ctx = ctx;
    op_arg->tensor_table = ctx->tensor_table;
    if (ln_op_table_find(ctx->op_table, op_arg->name))
        return ln_fail(ctx, "operator '%s' (%s): another operator has this name", op_arg->name,
                       op_arg->optype);
    if (ln_op_table_insert(ctx->op_table, op) < 0)
        return ln_fail_last(ctx);
    if (check_op(ctx, op))
        return -1;
    return ln_dfg_add(ctx->dfg, op) < 0 ? ln_fail_last(ctx) : 0;
}

static int is_entered(const ln_context *ctx, const ln_op *op)
{
    return ln_op_table_find(ctx->op_table, op->op_arg->name) == op;
}

// The opposite of enter_op, also after it failed half way; frees the operator.
static void leave_op(ln_context *ctx, ln_op *op)
{
    if (!is_entered(ctx, op)) {
        ln_op_free_lists_too(op);
        return;
    }
    if (ln_hash_find(ctx->dfg->node_table, op->op_arg->name))
        ln_dfg_remove(ctx->dfg, op);
    uncheck_op(op);
    ln_op_table_remove(ctx->op_table, op->op_arg->name);
}

int ln_context_init_ops(ln_context *ctx)
{
    for (ln_list *node = ctx->ops; node; node = node->next) {
        place(node, node->data);
        if (enter_op(ctx, node->data))
            return -1;
    }
    return 0;
}

void ln_context_cleanup_ops(ln_context *ctx)
{
    ln_list *reversed = ctx->ops = ln_list_reverse(ctx->ops);
    for (ln_list *node = reversed; node; node = node->next)
        leave_op(ctx, node->data);
    ln_list_free(reversed);
    ctx->ops = NULL;
}

static void leave_all(ln_context *ctx, const ln_list *ops)
{
    ln_op *op;
    LN_LIST_FOREACH(op, ops)
    {
        unlink_node(ctx, op->op_arg->node);
        leave_op(ctx, op);
    }
}

// Enters the operators before `follow` (NULL: at the end). On failure those not yet entered are
// freed.
static int enter_all(ln_context *ctx, ln_list *new_ops, const ln_op *follow)
{
    int status = 0;
    ln_op *op;
    LN_LIST_FOREACH(op, new_ops)
    {
        if (status) {
            ln_op_free_lists_too(op);
            continue;
        }
        status = follow ? insert_before(ctx, follow->op_arg->node, op) : append(ctx, op);
        if (status)
            ln_op_free_lists_too(op);
        else
            status = enter_op(ctx, op);
    }
    ln_list_free(new_ops);
    return status;
}

static const ln_op *op_after(const ln_op *op)
{
    return op->op_arg->node->next ? op->op_arg->node->next->data : NULL;
}

int ln_context_substitute(ln_context *ctx, ln_list *old_ops, ln_list *new_ops, ln_list **next)
{
    const ln_op *first = new_ops ? new_ops->data : NULL;
    const ln_op *follow = NULL;
    const ln_op *op;
    LN_LIST_FOREACH(op, old_ops)
    {
        follow = op_after(op);
    }
    leave_all(ctx, old_ops);
    if (enter_all(ctx, new_ops, follow))
        return -1;
    if (!first)
        first = follow;
    *next = first ? first->op_arg->node : NULL;
    return 0;
}

int ln_context_subgraph(ln_context *ctx, ln_list *old_ops, ln_list *new_ops)
{
    ln_list *next;
    return ln_context_substitute(ctx, old_ops, new_ops, &next);
}

int ln_context_replace_ops(ln_context *ctx, ln_list **position, size_t len, ln_list *new_ops)
{
    ln_list *old_ops = NULL;
    const ln_list *node = *position;
    for (size_t i = 0; i < len && node; i++, node = node->next) {
        ln_list *longer = ln_list_append(old_ops, node->data);
        if (!longer) {
            ln_list_free(old_ops);
            return out_of_memory(ctx);
        }
        old_ops = longer;
    }
    const int status = ln_context_substitute(ctx, old_ops, new_ops, position);
    ln_list_free(old_ops);
    return status;
}

int ln_context_remove_op(ln_context *ctx, ln_list **position)
{
    return ln_context_replace_ops(ctx, position, 1, NULL);
}

int ln_context_add_op(ln_context *ctx, ln_list **position, ln_op *new_op)
{
    const int status = *position ? insert_before(ctx, *position, new_op) : append(ctx, new_op);
    if (status)
        return -1;
    *position = new_op->op_arg->node;
    return enter_op(ctx, new_op);
}

static int rename_entries(ln_list *tensors, const char *from, const char *to)
{
    ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, tensors)
    {
        if (!ln_streq(tle->name, from))
            continue;
        char *name = ln_strdup(to);
        if (!name)
            return -1;
        ln_free(tle->name);
        tle->name = name;
    }
    return 0;
}

int ln_context_redirect(ln_context *ctx, ln_op *op, const char *from, const char *to)
{
    ln_dfg_remove(ctx->dfg, op);
    uncheck_op(op);
    if (rename_entries(op->op_arg->tensors_in, from, to))
        return out_of_memory(ctx);
    if (check_op(ctx, op))
        return -1;
    return ln_dfg_add(ctx->dfg, op) < 0 ? ln_fail_last(ctx) : 0;
}

int ln_context_rebind(ln_context *ctx)
{
    ln_list *node;
    ctx->ops = ln_list_reverse(ctx->ops);
    for (node = ctx->ops; node; node = node->next)
        uncheck_op(node->data);
    ctx->ops = ln_list_reverse(ctx->ops);
    for (node = ctx->ops; node; node = node->next) {
        if (check_op(ctx, node->data))
            return -1;
    }
    return 0;
}

static int check_links(const ln_context *ctx)
{
    int n = 0;
    for (const ln_list *node = ctx->ops; node; node = node->next, n++) {
        const ln_op *op = node->data;
        if (op->op_arg->node != node || op->op_arg->ctx != ctx)
            return ln_fail(ctx, "operator '%s' does not know its place", op->op_arg->name);
        if (!is_entered(ctx, op))
            return ln_fail(ctx, "operator '%s' is not in the table", op->op_arg->name);
    }
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
        return out_of_memory(ctx);
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
                status = out_of_memory(ctx);
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
