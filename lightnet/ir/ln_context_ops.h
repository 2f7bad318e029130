// SPDX-License-Identifier: Apache-2.0
// The operators of a context: entering, leaving and replacing them, with everything that must
// follow. See ln_context.h.

#ifndef LN_CONTEXT_OPS_H
#define LN_CONTEXT_OPS_H

#include "base/ln_error_memory.h"
#include "base/ln_infile.h"
#include "lightnet/ln_context.h"

/** Records that there is no memory. Returns -1. */
static inline int ln_fail_memory(const ln_context *ctx)
{
    return ln_fail(ctx, LN_OUT_OF_MEMORY);
}

/** Whether running the operator does more than making its outputs: then it is never removed,
 * merged, or moved past another one. */
static inline int ln_op_has_effect(const ln_op *op)
{
    return !op->op_arg->info || !op->op_arg->info->pure;
}

/** Whether the operator writes the memory of an input. */
static inline int ln_op_writes_inplace(const ln_op *op)
{
    return op->op_arg->info && op->op_arg->info->inplace_writer;
}

/** The operator that made tensor `te`, its input, a part of its own output (a no-copy gather);
 * NULL: `te` has memory of its own or is a view of what its maker read. */
const ln_op *ln_context_taker(const ln_context *ctx, const ln_tensor_entry *te);

/** As ln_context_subgraph; `*next` is then the node from which to look on: that of the first new
 * operator, or of the one after the old. NULL at the end. */
int ln_context_substitute(ln_context *ctx, ln_list *old_ops, ln_list *new_ops, ln_list **next);

/** Makes `ops` (takes it), the operators of the context in another order, its list. */
void ln_context_set_order(ln_context *ctx, ln_list *ops);

/** 0 when the planned offsets, which may come from a file, lie within their memory and agree with
 * what shares it; -1 with a reason. */
int ln_context_check_plan(const ln_context *ctx);

/** Whether it has memory. */
int ln_context_is_loaded(const ln_context *ctx);

/** ln_context_rebind of a context that is not loaded. */
int ln_context_recheck(ln_context *ctx);

/** Gives dynamic tensors their largest shapes again, for which the plan is: earlier runs have left
 * theirs. */
int ln_context_forget_runs(ln_context *ctx);

/** As ln_context_init, from an open file, called `name` in messages, which may be taken: it is left
 * all zero then. */
int ln_context_init_file(ln_context *ctx, const char *name, ln_infile *file);

/** Reads JSON IR, called `name` in messages, into a context that has nothing but a source yet. -1
 * with a reason: the caller cleans it up. */
int ln_context_read_ir(ln_context *ctx, const char *name, const char *text, size_t len);

/** Brings what is kept beside ctx->inputs and ctx->outputs, their names and last nodes, in line
 * with the lists. */
int ln_context_index_names(ln_context *ctx);

/** Appends a copy of the name to ctx->inputs, or ctx->outputs, in constant time. -1 with a reason:
 * no memory, all is as before. */
int ln_context_push_input(ln_context *ctx, const char *name);
int ln_context_push_output(ln_context *ctx, const char *name);

/** *readers: returns new (ln_list_free): the operators that read tensor `tname`, each once, in the
 * order in which they came; NULL when there are none. -1: no memory. */
int ln_context_readers(const ln_context *ctx, const char *tname, ln_list **readers);

/** Whether the environment's variables can be used; else -1 with a reason that names one. */
int ln_context_check_environment(const ln_context *ctx);

/** The number of threads: as ln_context_set_threads says, else LIGHTNET_NUM_THREADS, else 1. -1:
 * the variable is no number. */
int ln_context_threads(const ln_context *ctx, int *n);

/** Lets ctx->pool be what ln_context_threads says. */
int ln_context_start_threads(ln_context *ctx);

#endif
