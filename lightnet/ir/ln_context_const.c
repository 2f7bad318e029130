// SPDX-License-Identifier: Apache-2.0
// Which tensors of a context are constant: see "Constants and static work" in docs/dev/design.md.
//
// Whether a new operator is constant depends on those before it. If it makes a tensor variable, all
// tensors computed from that become variable, too: a work list has the tensors whose readers are
// still to be visited.

#include "ir/ln_bodies.h"
#include "base/ln_list_end.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_dfg_value.h"
#include "lightnet/ln_util.h"

// Makes `te` (NULL: not produced yet) variable, and adds it to `todo`, for its readers.
static int revoke(const ln_context *ctx, ln_tensor_entry *te, ln_list **todo)
{
    if (!te || !te->isconst)
        return 0;
    te->isconst = 0;
    return ln_list_push(todo, te, NULL) ? ln_fail_memory(ctx) : 0;
}

static int revoke_outputs(const ln_context *ctx, const ln_op *op, ln_list **todo)
{
    ln_tensor_entry *te;
    op->op_arg->at_load = LN_AT_LOAD_NOT;
    LN_OUTPUTS_FOREACH (te, op->op_arg)
        if (revoke(ctx, te, todo))
            return -1;
    return 0;
}

// Makes inputs variable that are parts of the operator's outputs.
static int revoke_joined_inputs(const ln_context *ctx, const ln_op *op, ln_list **todo)
{
    ln_tensor_entry *te;
    LN_INPUTS_FOREACH (te, op->op_arg)
        if (te && ln_context_joiner(ctx, te) == op && revoke(ctx, te, todo))
            return -1;
    return 0;
}

static int revoke_readers(const ln_context *ctx, const ln_tensor_entry *te, ln_list **todo)
{
    ln_list *readers;
    if (ln_context_readers(ctx, te, &readers))
        return -1;
    int status = 0;
    LN_FOREACH (ln_op *, reader, readers)
        status = status ? status : revoke_outputs(ctx, reader, todo);
    ln_list_free(readers);
    return status;
}

// Moves the computation of tensors in `todo` (takes the list), and of those in their memory, from
// load to each run.
static int revoke_all(const ln_context *ctx, ln_list *todo)
{
    int status = 0;
    while (todo && !status) {
        const ln_tensor_entry *te = todo->data;
        todo = ln_list_remove_nth(todo, 0);
        const ln_op *producer = ln_entry_creater(te);
        if (producer)
            status =
                revoke_outputs(ctx, producer, &todo) || revoke_joined_inputs(ctx, producer, &todo);
        status = -(status || revoke_readers(ctx, te, &todo));
    }
    ln_list_free(todo);
    return status;
}

// In-place writes: marks the values of all tensors that share memory with the output of an in-place
// writer, each once. From a marked tensor the mark spreads to its owners and to its parts: views
// that its readers made, and tensors that its producer gathered.

// Marks `te` (NULL: not created yet) as written; `todo` are the tensors whose parts to mark.
static int note_mutated(const ln_context *ctx, ln_tensor_entry *te, ln_list **todo)
{
    if (!te || !te->value || te->value->ismutated)
        return 0;
    te->value->ismutated = 1;
    return ln_list_push(todo, te, NULL) ? ln_fail_memory(ctx) : 0;
}

static int note_parts(const ln_context *ctx, const ln_tensor_entry *te, const ln_list *tensors,
                      ln_list **todo)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, tensors) {
        ln_tensor_entry *part = ln_entry_of(tle, ctx->tensor_table);
        const int is_part = part && part->owner && part->owner_value == te->value;
        if (is_part && note_mutated(ctx, part, todo))
            return -1;
    }
    return 0;
}

static int note_views(const ln_context *ctx, const ln_tensor_entry *te, ln_list **todo)
{
    ln_list *readers;
    if (ln_context_readers(ctx, te, &readers))
        return -1;
    int status = 0;
    LN_FOREACH (const ln_op *, reader, readers)
        status = status ? status : note_parts(ctx, te, reader->op_arg->tensors_out, todo);
    ln_list_free(readers);
    return status;
}

static int outputs_are_static(const ln_op *op)
{
    const ln_tensor_entry *te;
    LN_OUTPUTS_FOREACH (te, op->op_arg)
        if (!te->isstatic)
            return 0;
    return op->op_arg->tensors_out != NULL;
}

static int inputs_are_constant(const ln_op *op)
{
    const ln_tensor_entry *te;
    LN_INPUTS_FOREACH (te, op->op_arg)
        if (!te->isconst)
            return 0;
    return 1;
}

static int produces_input_or_mutated(const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
        if (tle->value->isinput || tle->value->ismutated)
            return 1;
    return 0;
}

static int is_constant(const ln_context *ctx, const ln_op *op)
{
    // Each call of a body may have other memory, so it has constants only until its static work is
    // hoisted.
    if (ctx->outer && !ctx->body->is_constant)
        return 0;
    const ln_list *const outs = op->op_arg->tensors_out;
    if (ctx->outer && outs && !((const ln_tensor_list_entry *)outs->data)->value->ismutated &&
        ln_body_is_given_constant(ctx, ln_entry_of(outs->data, ctx->tensor_table)))
        return 1;
    if (produces_input_or_mutated(op))
        return 0;
    if (!op->op_arg->tensors_in)
        return outputs_are_static(op);
    // A body may never run, so only operators that cannot fail may run at load.
    if (ctx->outer && ln_op_can_fail(op))
        return 0;
    return !ln_op_has_effect(op) && !ln_op_writes_inplace(op) && inputs_are_constant(op);
}

static void mark_constants(const ln_context *ctx, ln_op *op)
{
    ln_tensor_entry *te;
    const int constant = is_constant(ctx, op);
    op->op_arg->at_load = constant && op->op_arg->tensors_in ? LN_AT_LOAD_DONE : LN_AT_LOAD_NOT;
    LN_OUTPUTS_FOREACH (te, op->op_arg) {
        te->isconst = constant;
        te->isstatic = te->isstatic || (constant && !te->owner);
    }
}

// A write to `te` makes it variable, and also writes to its owners and to its parts.
static int propagate_mutation(const ln_context *ctx, ln_tensor_entry *te, ln_list **todo)
{
    const ln_op *producer = ln_entry_creater(te);
    ln_list *revoked = NULL;
    if (revoke(ctx, te, &revoked) || revoke_all(ctx, revoked) ||
        note_mutated(ctx, ln_entry_owner(te, ctx->tensor_table), todo) || note_views(ctx, te, todo))
        return -1;
    return producer ? note_parts(ctx, te, producer->op_arg->tensors_in, todo) : 0;
}

// Marks all tensors that share memory with this one as written, and makes them variable.
static int mutate(const ln_context *ctx, ln_tensor_entry *te)
{
    ln_list *todo = NULL;
    int status = note_mutated(ctx, te, &todo);
    while (todo && !status) {
        te = todo->data;
        todo = ln_list_remove_nth(todo, 0);
        status = propagate_mutation(ctx, te, &todo);
    }
    ln_list_free(todo);
    return status;
}

static int mutate_tensors(const ln_context *ctx, const ln_op *op, const ln_list *tensors)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, tensors) {
        ln_tensor_entry *te = ln_entry_of(tle, ctx->tensor_table);
        if (!te)
            continue;
        const int is_owner_written = te->owner_value && te->owner_value->ismutated;
        if ((ln_op_writes_inplace(op) || is_owner_written) && mutate(ctx, te))
            return -1;
    }
    return 0;
}

int ln_context_mark_mutated(const ln_context *ctx, const ln_op *op)
{
    return -(mutate_tensors(ctx, op, op->op_arg->tensors_out) ||
             (op->op_arg->takes_inputs && mutate_tensors(ctx, op, op->op_arg->tensors_in)));
}

int ln_context_settle_constants(const ln_context *ctx, ln_op *op)
{
    mark_constants(ctx, op);
    if (ln_context_mark_mutated(ctx, op))
        return -1;
    // Joined inputs are parts of an output that an operator writes in place.
    if (!op->op_arg->takes_inputs || !produces_input_or_mutated(op))
        return 0;
    ln_list *todo = NULL;
    const int status = revoke_joined_inputs(ctx, op, &todo);
    return -(revoke_all(ctx, todo) || status);
}

int ln_context_revoke_outputs(const ln_context *ctx, ln_op *op)
{
    ln_list *todo = NULL;
    const int status = revoke_outputs(ctx, op, &todo);
    return -(revoke_all(ctx, todo) || status);
}

static void unmark(const ln_list *tensors)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, tensors)
        tle->value->ismutated = 0;
}

int ln_context_find_mutated(const ln_context *ctx)
{
    if (!ctx->has_writers)
        return 0;
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        unmark(op->op_arg->tensors_in);
        unmark(op->op_arg->tensors_out);
    }
    LN_FOREACH (const ln_op *, op, ctx->ops)
        if (ln_context_mark_mutated(ctx, op))
            return -1;
    return 0;
}
