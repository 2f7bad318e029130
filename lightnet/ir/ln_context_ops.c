// SPDX-License-Identifier: Apache-2.0
// The operators of a context: adding, removing and replacing them, and updating dependent data.
//
// Each operator has its node in ctx->ops and the node before it, and the context has the last
// node. A node's content may move: to put an operator before node N, N takes the new operator and a
// new node after N takes the old one; removal is the reverse. So all edits take constant time.

#include "ir/ln_context_ops.h"

#include "base/ln_list_end.h"
#include "ir/ln_dfg_value.h"
#include "ir/ln_dynamic.h"
#include "ir/ln_sizes.h"
#include "ir/ln_limits.h"
#include "ir/ln_origin.h"
#include "lightnet/ln_util.h"

// Values of op_arg->checked.
enum { PRE_RUN_CALLED = 1, OUTPUTS_TIED = 2 };

static void place(ln_list *node, ln_list *before, ln_op *op)
{
    node->data = op;
    op->op_arg->node = node;
    op->op_arg->before = before;
}

// The node that follows `node` (NULL: none, then `node` is the last) has changed.
static void set_next(ln_context *ctx, ln_list *node, ln_list *next)
{
    node->next = next;
    if (next)
        ((ln_op *)next->data)->op_arg->before = node;
    else
        ctx->last = node;
}

static int insert_before(ln_context *ctx, ln_list *node, ln_op *op)
{
    ln_op *moved = node->data;
    ln_list *behind = ln_list_prepend(NULL, NULL);
    if (!behind)
        return ln_fail_memory(ctx);
    set_next(ctx, behind, node->next);
    place(node, moved->op_arg->before, op);
    place(behind, node, moved);
    node->next = behind;
    return 0;
}

static int append(ln_context *ctx, ln_op *op)
{
    ln_list *node = ln_list_prepend(NULL, NULL);
    if (!node)
        return ln_fail_memory(ctx);
    place(node, ctx->last, op);
    *(ctx->last ? &ctx->last->next : &ctx->ops) = node;
    ctx->last = node;
    return 0;
}

static void free_node(ln_list *node)
{
    node->next = NULL;
    ln_list_free(node);
}

static void unlink_op(ln_context *ctx, ln_op *op)
{
    ln_list *node = op->op_arg->node, *before = op->op_arg->before, *next = node->next;
    if (next) {
        place(node, before, next->data);
        set_next(ctx, node, next->next);
        free_node(next);
        return;
    }
    *(before ? &before->next : &ctx->ops) = NULL;
    ctx->last = before;
    free_node(node);
}

void ln_context_set_order(ln_context *ctx, ln_list *ops)
{
    ctx->ops = ops;
    ctx->last = NULL;
    for (ln_list *node = ops; node; node = node->next) {
        place(node, ctx->last, node->data);
        ctx->last = node;
    }
}

static int find_owners(const ln_context *ctx, const ln_list *tensors)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, tensors) {
        // A handwritten pre_run may set an owner before that is tied to its value.
        ln_tensor_entry *te = ln_entry_of(tle, ctx->tensor_table);
        if (te->owner && !te->owner_value &&
            ln_tensor_entry_set_owner(te, ctx->tensor_table, te->owner))
            return ln_fail_last(ctx);
    }
    return 0;
}

// Ties the outputs, which pre_run must have created, to their values. Offsets are stored in the
// operators' lists, so that they outlive the entries, which pre_run replaces.
static int tie_outputs(const ln_context *ctx, ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
        ln_tensor_entry *te = ln_entry_of(tle, ctx->tensor_table);
        if (!te || !ln_streq(te->creater, op->op_arg->name))
            return ln_op_fail(op->op_arg, "pre_run has not created output '%s'", tle->arg_name);
        ln_dfg_value_tie(tle->value, te, ctx->tensor_table, op);
        te->offset = tle->offset;
    }
    op->op_arg->checked = OUTPUTS_TIED;
    return 0;
}

// Inputs are tied by their producers; tensors without a producer may be in the table, too.
static int check_inputs(const ln_context *ctx, ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        ln_tensor_entry *te = ln_entry_of(tle, ctx->tensor_table);
        if (!te)
            return ln_op_fail(op->op_arg,
                              "input '%s' reads tensor '%s', which no earlier operator produces",
                              tle->arg_name, tle->name);
        if (!te->value)
            ln_dfg_value_tie(tle->value, te, ctx->tensor_table, NULL);
    }
    return 0;
}

static int check_op(const ln_context *ctx, ln_op *op)
{
    if (check_inputs(ctx, op) || ln_dynamic_begin(op))
        return -1;
    op->op_arg->checked = PRE_RUN_CALLED;
    op->op_arg->takes_inputs = 0;
    if (ln_op_call(op, op->pre_run) || ln_dynamic_check(op) || tie_outputs(ctx, op) ||
        find_owners(ctx, op->op_arg->tensors_out) || find_owners(ctx, op->op_arg->tensors_in))
        return -1;
    // A no-copy join, whose inputs become parts of its output, must be checked again whenever one
    // of them is created again.
    const ln_tensor_entry *te;
    LN_INPUTS_FOREACH (te, op->op_arg)
        if (te && ln_context_joiner(ctx, te) == op)
            op->op_arg->takes_inputs = 1;
    if (op->op_arg->takes_inputs && op->op_arg->isdynamic)
        return ln_op_fail(op->op_arg, "its inputs are parts of its output, so their sizes must be "
                                      "known before the run");
    return -(ln_sizes_infer_axes(op) || ln_context_settle_constants(ctx, op));
}

// Whether an output of the operator is still tied to its value.
static int has_outputs(const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
        if (tle->value->producer == op)
            return 1;
    return 0;
}

static void uncheck_op(const ln_context *ctx, ln_op *op)
{
    const int was_tied = op->op_arg->checked == OUTPUTS_TIED;
    if (!op->op_arg->checked)
        return;
    op->op_arg->checked = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle,
                op->op_arg->takes_inputs ? op->op_arg->tensors_in : NULL) {
        ln_tensor_entry *te = ln_entry_of(tle, ctx->tensor_table);
        if (te && ln_context_joiner(ctx, te) == op)
            ln_tensor_entry_set_owner(te, ctx->tensor_table, NULL);
    }
    if (op->post_run)
        op->post_run(op->op_arg);
    if (!was_tied || has_outputs(op))
        ln_op_undefine_outputs(op->op_arg);
    ln_dynamic_end(op);
}

static int connect_op(ln_context *ctx, ln_op *op);

// Readers were checked with the former entries of the operator's outputs: a no-copy join takes
// the new ones, views of a tensor that is written in place are marked as written, and no operator
// that reads a variable tensor runs at load.
static int settle_reader(ln_context *ctx, ln_op *reader, const ln_tensor_entry *te)
{
    if (reader->op_arg->takes_inputs) {
        ln_dfg_remove(ctx->dfg, reader);
        uncheck_op(ctx, reader);
        return connect_op(ctx, reader);
    }
    if (ln_entry_is_mutated(te) && ln_context_mark_mutated(ctx, reader))
        return -1;
    if (te->isconst || !reader->op_arg->at_load)
        return 0;
    return ln_context_revoke_outputs(ctx, reader);
}

static int settle_readers(ln_context *ctx, const ln_op *op)
{
    ln_tensor_entry *te;
    int status = 0;
    LN_OUTPUTS_FOREACH (te, op->op_arg) {
        ln_list *readers;
        if (ln_context_readers(ctx, te, &readers))
            return -1;
        LN_FOREACH (ln_op *, reader, readers)
            status = status ? status : settle_reader(ctx, reader, te);
        ln_list_free(readers);
    }
    return status;
}

// Checks the operator, which is in the table, and adds it to the graph.
static int connect_op(ln_context *ctx, ln_op *op)
{
    if (check_op(ctx, op))
        return -1;
    if (ln_dfg_add(ctx->dfg, op) < 0)
        return ln_fail_last(ctx);
    return settle_readers(ctx, op);
}

// Adds the operator, which is in ctx->ops, to tables and graph.
static int enter_op(ln_context *ctx, ln_op *op)
{
    ln_op_arg *op_arg = op->op_arg;
    op_arg->ctx = ctx;
    op_arg->tensor_table = ctx->tensor_table;
    if (ln_op_table_find(ctx->op_table, op_arg->name))
        return ln_fail(ctx, "operator '%s' (%s): another operator has this name", op_arg->name,
                       op_arg->optype);
    if (ln_limits_check_entry(ctx, op))
        return -1;
    if (ln_op_table_insert(ctx->op_table, op) < 0)
        return ln_fail_last(ctx);
    op_arg->entered = 1;
    ctx->has_writers |= ln_op_writes_inplace(op);
    ln_limits_count_ops(ctx, 1);
    if (ln_context_link_values(ctx, op_arg->tensors_in) ||
        ln_context_link_values(ctx, op_arg->tensors_out))
        return -1;
    return connect_op(ctx, op);
}

// The opposite of enter_op, also after enter_op failed; frees the operator.
static void leave_op(ln_context *ctx, ln_op *op)
{
    if (!op->op_arg->entered) {
        ln_op_free_lists_too(op);
        return;
    }
    ln_dfg_remove(ctx->dfg, op);
    uncheck_op(ctx, op);
    ln_op_table_remove(ctx->op_table, op->op_arg->name);
    ln_limits_count_ops(ctx, -1);
}

// New tensors have no memory.
static int fail_if_loaded(const ln_context *ctx)
{
    return ln_context_is_loaded(ctx)
               ? ln_fail(ctx, "the context is loaded; unload it to change its operators")
               : 0;
}

int ln_context_init_ops(ln_context *ctx)
{
    if (fail_if_loaded(ctx))
        return -1;
    ln_context_set_order(ctx, ctx->ops);
    if (ln_context_index_names(ctx))
        return -1;
    for (const ln_list *node = ctx->ops; node; node = node->next)
        if (enter_op(ctx, node->data))
            return -1;
    return 0;
}

// Removes operators from the graph forwards, since the oldest reader of a tensor is the cheapest to
// remove; then from the tables backwards, readers before producers.
void ln_context_leave_ops(ln_context *ctx)
{
    ln_list *ops = ctx->ops;
    for (const ln_list *node = ops; node; node = node->next)
        ln_dfg_remove(ctx->dfg, node->data);
    ops = ln_list_reverse(ops);
    for (const ln_list *node = ops; node; node = node->next)
        leave_op(ctx, node->data);
    ln_list_free(ops);
    ctx->ops = ctx->last = NULL;
}

// Enters the operators before `follow` (NULL: at the end). On failure those not yet entered are
// freed.
static int enter_all(ln_context *ctx, ln_list *new_ops, const ln_op *follow)
{
    int status = 0;
    LN_FOREACH (ln_op *, op, new_ops) {
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
    if (fail_if_loaded(ctx)) {
        ln_op_list_free_lists_too(new_ops);
        return -1;
    }
    const ln_op *first = new_ops ? new_ops->data : NULL;
    const ln_op *follow = NULL; // the first operator after the last of `old_ops` that stays
    LN_FOREACH (ln_op *, op, old_ops)
        follow = op_after(op);
    while (follow && ln_list_find(old_ops, follow))
        follow = op_after(follow);
    ln_origin *const origin = ln_origin_join(old_ops);
    LN_FOREACH (ln_op *, op, new_ops)
        ln_origin_give(op, origin);
    ln_origin_free(origin);
    LN_FOREACH (ln_op *, op, old_ops) {
        unlink_op(ctx, op);
        leave_op(ctx, op);
    }
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
    for (size_t i = 0; i < len && node; i++, node = node->next)
        if (ln_list_push(&old_ops, node->data, NULL)) {
            ln_list_free(old_ops);
            ln_op_list_free_lists_too(new_ops);
            return ln_fail_memory(ctx);
        }
    old_ops = ln_list_reverse(old_ops);
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
    if (fail_if_loaded(ctx) ||
        (*position ? insert_before(ctx, *position, new_op) : append(ctx, new_op))) {
        ln_op_free_lists_too(new_op);
        return -1;
    }
    *position = new_op->op_arg->node;
    return enter_op(ctx, new_op);
}

static int reads_replaced(const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
        if (tle->value->instead)
            return 1;
    return 0;
}

int ln_context_redirect(ln_context *ctx, ln_op *op)
{
    if (!reads_replaced(op))
        return 0;
    if (fail_if_loaded(ctx))
        return -1;
    ln_dfg_remove(ctx->dfg, op);
    uncheck_op(ctx, op);
    LN_FOREACH (ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        ln_dfg_value *const instead = tle->value->instead;
        if (!instead)
            continue;
        if (ln_tensor_list_entry_set_name(tle, instead->name))
            return ln_fail_memory(ctx);
        tle->value = ln_dfg_value_refer(instead);
    }
    return connect_op(ctx, op);
}

// Unchecks and checks one operator after the other, so that its data is in the cache, and new
// entries reuse the memory of old ones.
int ln_context_recheck(ln_context *ctx)
{
    if (ln_context_find_mutated(ctx))
        return -1;
    LN_FOREACH (ln_op *, op, ctx->ops) {
        uncheck_op(ctx, op);
        if (check_op(ctx, op))
            return -1;
    }
    return 0;
}
