// SPDX-License-Identifier: Apache-2.0
// What a context may take, and whether its work is to stop. See "Limits" in lightnet/ln_context.h.
//
// A context has one record of limits for itself and its bodies. Long work asks ln_limits_check
// between its steps, and asks before it allocates what a model alone decides the size of.

#ifndef LN_LIMITS_H
#define LN_LIMITS_H

#include "base/ln_budget.h"
#include "lightnet/ln_context.h"

typedef struct ln_limits ln_limits;

/** Returns new (ln_limits_free): the defaults. NULL with the thread's last error. */
ln_limits *ln_limits_create(void);
void ln_limits_free(ln_limits *limits);

/* Public calls on a context, which may be made within each other. */

/** Counts the thread's allocations for the context, if it limits memory. Returns what
 * ln_limits_leave is given. */
ln_budget *ln_limits_enter(const ln_context *ctx);

/** Ends it. A call that failed (`status` not 0) because memory was limited says so. Returns status.
 */
int ln_limits_leave(const ln_context *ctx, ln_budget *before, int status);

/** The context holds nothing any more. */
void ln_limits_reset(const ln_context *ctx);

/* Stopping */

/** Lets the context's work end `ms` milliseconds after `start`, a time on tl_clock(); ms 0: no
 * limit. ln_context_set_limit counts from the call on. */
void ln_limits_set_time(const ln_context *ctx, uint64_t ms, uint64_t start);

/** What kernels look at. */
const tl_stop *ln_limits_stop(const ln_context *ctx);

/** Whether to go on: 0, or -1 with the reason, in place of any that was recorded: what was computed
 * since the last check may be wrong. */
int ln_limits_check(const ln_context *ctx);

/** As ln_limits_check, after the operator has run: names it. */
int ln_limits_check_op(ln_op_arg *op_arg);

/* Sizes */

/** The limit; 0: none. */
uint64_t ln_limits_max(const ln_context *ctx, ln_limit limit);

/** Whether `size` bytes more, beside those that are held, are too many. */
int ln_limits_forbid(const ln_context *ctx, size_t size);

/** Counts `size` bytes that another allocator gives, or counts them no longer. */
void ln_limits_take(const ln_context *ctx, size_t size);
void ln_limits_give(const ln_context *ctx, size_t size);

/** The bytes that are counted now. */
size_t ln_limits_held(const ln_context *ctx);

/** The limit of memory in bytes; 0: none. */
size_t ln_limits_memory(const ln_context *ctx);

/** Whether the operator may enter the context: 0, or -1 with a reason, also to stop. */
int ln_limits_check_entry(const ln_context *ctx, const ln_op *op);

/** Counts operators that entered, or left (below 0). */
void ln_limits_count_ops(const ln_context *ctx, int n);

/* Values that are computed while a model is read, in a context `fold` of their own */

/** Lets `fold` have the limits on folding of `ctx`, whose work it stops with, from now on until
 * ln_limits_end_fold. */
void ln_limits_begin_fold(ln_context *fold, const ln_context *ctx);
void ln_limits_end_fold(ln_context *fold);

/** Whether `fold` failed for its limits, and not for those of the context around it. */
int ln_limits_fold_is_over(const ln_context *fold);

/** Whether computing takes too many multiplications for the time. -1 with the reason. */
int ln_limits_check_macs(const ln_context *fold, double macs);

#endif
