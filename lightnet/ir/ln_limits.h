// SPDX-License-Identifier: Apache-2.0
// Resource limits of a context, and cancellation. See "Limits" in lightnet/ln_context.h.
//
// A context has one record of limits for itself and its bodies. Long work calls ln_limits_check
// between its steps, and before allocations whose size only the model determines.

#pragma once

#include "base/ln_budget.h"
#include "lightnet/ln_context.h"

typedef struct ln_limits ln_limits;

/** Returns new (ln_limits_free): the defaults. NULL with the thread's last error. */
ln_limits *ln_limits_create(void);
void ln_limits_free(ln_limits *limits);

// Public calls on a context, which may be made within each other.

/** Counts the thread's allocations for the context, if it limits memory. Returns the argument for
 * ln_limits_leave. */
ln_budget *ln_limits_enter(const ln_context *ctx);

/** Ends it. If a call failed (`status` not 0) by the memory limit, its message names the limit.
 * Returns status. */
int ln_limits_leave(const ln_context *ctx, ln_budget *before, int status);

/** The context no longer holds memory. */
void ln_limits_reset(const ln_context *ctx);

// Stopping

/** Sets a deadline `ms` milliseconds after `start`, a time of tl_clock(); ms 0: no limit.
 * ln_context_set_limit counts from its call. */
void ln_limits_set_time(const ln_context *ctx, uint64_t ms, uint64_t start);

/** The stop that kernels poll. */
const tl_stop *ln_limits_stop(const ln_context *ctx);

/** Whether to continue: 0, or -1 with the reason, which replaces any recorded one: values computed
 * since the last check may be wrong. */
int ln_limits_check(const ln_context *ctx);

/** As ln_limits_check, after the operator has run: names it. */
int ln_limits_check_op(ln_op_arg *op_arg);

// Sizes

/** The limit; 0: none. */
uint64_t ln_limits_max(const ln_context *ctx, ln_limit limit);

/** Whether `size` more bytes, in addition to those held, exceed the limit. */
int ln_limits_forbid(const ln_context *ctx, size_t size);

/** Counts `size` bytes of another allocator, or stops counting them. */
void ln_limits_take(const ln_context *ctx, size_t size);
void ln_limits_give(const ln_context *ctx, size_t size);

/** The bytes currently counted. */
size_t ln_limits_held(const ln_context *ctx);

/** The limit of memory in bytes; 0: none. */
size_t ln_limits_memory(const ln_context *ctx);

/** 0 if the operator may be added to the context; -1 with a reason, also to stop. */
int ln_limits_check_entry(const ln_context *ctx, const ln_op *op);

/** Counts operators that were added, or removed (below 0). */
void ln_limits_count_ops(const ln_context *ctx, int n);

// Values that are computed while a model is read, in a separate context `fold`

/** Applies the folding limits of `ctx` to `fold`, which stops with `ctx`, until
 * ln_limits_end_fold. */
void ln_limits_begin_fold(ln_context *fold, const ln_context *ctx);
void ln_limits_end_fold(ln_context *fold);

/** Whether `fold` failed by its own limits, not by those of the outer context. */
int ln_limits_fold_is_over(const ln_context *fold);

/** Whether computing needs too many multiplications for the time. -1 with the reason. */
int ln_limits_check_macs(const ln_context *fold, double macs);

// Planned memory

/** Whether the limit allows the memory of the plan. -1 with a reason. */
int ln_limits_check_plan(const ln_context *ctx);

/** Fails because `total` bytes exceed the memory limit: names the largest consumer. */
int ln_limits_fail_plan(const ln_context *ctx, size_t total);
