// SPDX-License-Identifier: Apache-2.0
// The operators of a context: adding, removing and replacing them, and updating dependent data. See
// ln_context.h.

#pragma once

#include "base/ln_error_memory.h"
#include "lightnet/ln_arch.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_op.h"

/** Records missing memory. Returns -1. */
static inline int ln_fail_memory(const ln_context *ctx)
{
    return ln_fail_as(ctx, LN_OUT_OF_MEMORY, LN_MEMORY_REASON);
}

/** Whether the operator has side effects: then it is never removed, merged, or reordered with
 * others that have. */
static inline int ln_op_has_effect(const ln_op *op)
{
    return !op->op_arg->info || !op->op_arg->info->pure;
}

/** Whether the operator writes the memory of an input. */
static inline int ln_op_writes_inplace(const ln_op *op)
{
    return op->op_arg->info && op->op_arg->info->inplace_writer;
}

/** The no-copy join (Concat) into whose output the producer of `te` writes directly; NULL: `te` has
 * its own memory or is a view of an input of its producer. */
const ln_op *ln_context_joiner(const ln_context *ctx, const ln_tensor_entry *te);

/** As ln_context_subgraph; `*next` is then the node to continue at: that of the first new operator,
 * or the one after the old ones. NULL at the end. */
int ln_context_substitute(ln_context *ctx, ln_list *old_ops, ln_list *new_ops, ln_list **next);

/** Replaces each input of `op` whose value has an `instead` by that one. After a change, checks the
 * operator again, once. */
int ln_context_redirect(ln_context *ctx, ln_op *op);

/** Replaces the context's list by `ops` (takes it), the same operators in another order. */
void ln_context_set_order(ln_context *ctx, ln_list *ops);

/** Before compiling for the architecture: if it does not support the context's precision, warns and
 * sets float32. Returns whether it did. `source` names the model. */
int ln_context_fit_precision(ln_context *ctx, const ln_arch *arch, const char *source);

/** Whether the context has allocated its tensors. */
int ln_context_is_loaded(const ln_context *ctx);

/** ln_context_rebind of a context that is not loaded. */
int ln_context_recheck(ln_context *ctx);

/** The parts of ln_context_cleanup_ops, ln_context_cleanup and ln_context_free about the model, for
 * a context that is not loaded. */
void ln_context_leave_ops(ln_context *ctx);
void ln_context_drop_model(ln_context *ctx);
void ln_context_destroy(ln_context *ctx);

/** Puts a copy of the name in front of the list. -1 with a reason: no memory. */
int ln_context_prepend_name(const ln_context *ctx, ln_list **names, const char *name);

/** Updates the names and last nodes of ctx->inputs and ctx->outputs from the lists. */
int ln_context_index_names(ln_context *ctx);

/** Appends a copy of the name to ctx->inputs, or ctx->outputs, in constant time. -1 with a reason:
 * no memory, nothing changes. */
int ln_context_push_input(ln_context *ctx, const char *name);
int ln_context_push_output(ln_context *ctx, const char *name);

/** Links the entries of a list of an operator, which is in the tables, to their values. -1: no
 * memory. */
int ln_context_link_values(const ln_context *ctx, const ln_list *tensors);

/** *readers: returns new (ln_list_free): the operators that read the tensor, each once, in the
 * order of their addition; NULL: none. -1: no memory. */
int ln_context_readers(const ln_context *ctx, const ln_tensor_entry *te, ln_list **readers);

/** As ln_op_define_output, for `tle` of op_arg->tensors_out. */
ln_tensor_entry *ln_op_define_listed(ln_op_arg *op_arg, const ln_tensor_list_entry *tle, int ndim,
                                     const int *dims, tl_dtype dtype, ln_mem_type mtype);

/** The memory type of the operator's scratch memory: that of its target. */
ln_mem_type ln_op_scratch_type(const ln_op_arg *op_arg);

// Constants

// Which tensors of a context are constant: kept up to date while operators are added and removed.
// The rules are in docs/dev/design.md, "Constants and static work".

/** Values of op_arg->at_load: whether an operator runs when the context is loaded, and whether it
 * must run again. */
enum {
    LN_AT_LOAD_NOT = 0,      // it runs per inference
    LN_AT_LOAD_DONE = 1,     // it runs at load
    LN_AT_LOAD_OUTDATED = 2, // it depends on a constant that was set
    LN_AT_LOAD_PULLED = 3,   // an outdated operator reads its result, whose memory was reused
    LN_AT_LOAD_SHARED = 4,   // while loading: its results are shared (run/ln_sharing.h)
};

/** For an operator with new outputs: sets their isconst and isstatic and its at_load. If it writes
 * in place, the tensors in that memory, and values computed from them, are no longer constant. -1:
 * no memory. */
int ln_context_settle_constants(const ln_context *ctx, ln_op *op);

/** Marks as mutated the tensors that the operator writes in place, its outputs in their memory, the
 * inputs that became parts of them, and all tensors that share memory with these. -1: no memory. */
int ln_context_mark_mutated(const ln_context *ctx, const ln_op *op);

/** The operator cannot run at load any more: its outputs, and all that is computed from them, are
 *  not constant. -1: no memory. */
int ln_context_revoke_outputs(const ln_context *ctx, ln_op *op);

/** Marks the tensors that are written in place, and no others, from the operators, which must all
 * be checked. -1: no memory. */
int ln_context_find_mutated(const ln_context *ctx);
