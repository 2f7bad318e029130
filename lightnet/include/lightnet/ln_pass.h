// SPDX-License-Identifier: Apache-2.0
// Passes: the drivers that apply an architecture's rewrites to a context, and the memory planner.
//
// For each stage of the target, ln_context_compile() applies expander, combiner and subgraph
// functions, with clean-up after each round, until nothing changes (with a limit). Then: schedule,
// a check of all operators, memory plan. Every driver is deterministic, and its time is linear in
// the size of the model.

#ifndef LN_PASS_H
#define LN_PASS_H

#include "lightnet/ln_api.h"
#include "lightnet/ln_arch.h"
#include "lightnet/ln_context.h"

LN_BEGIN_DECLS

/** Removes operators that contribute to no output and have no effect, and merges equal operators.
 * Never removes inputs. */
LN_API int ln_pass_preprocess(ln_context *ctx);

/** Offers each operator to each function in turn. Returns the number of rewrites, or -1. */
LN_API int ln_pass_expander(ln_context *ctx, const ln_expander_func *ep_funcs);

/** Offers each window of `win_size` adjacent operators to each function in turn. Returns the number
 * of rewrites, or -1. */
LN_API int ln_pass_combiner(ln_context *ctx, size_t win_size, const ln_combiner_func *cb_funcs);

/** Offers each operator as the anchor to each function in turn. Returns the number of rewrites, or
 * -1. */
LN_API int ln_pass_subgraph(ln_context *ctx, const ln_subgraph_func *sg_funcs);

/** Reorders ctx->ops with each function in turn; an order that violates a dependency is an error.
 */
LN_API int ln_pass_schedule(ln_context *ctx, const ln_schedule_func *sd_funcs);

/** Assigns an offset to every tensor and scratch memory, and sets ctx->mem_sizes. */
LN_API int ln_pass_mem_plan(ln_context *ctx);

// For rules

/** Whether rule `name` (a constant string) may be applied: not disabled, and the context optimizes.
 */
LN_API int ln_pass_rule_begins(const ln_context *ctx, const char *name);

/** As ln_pass_rule_begins for a rule that lowers operators: applied in the reference program too.
 */
LN_API int ln_pass_lowering_begins(const ln_context *ctx, const char *name);

/** The operator that a subgraph function must end at; NULL: any. Returns borrowed. */
LN_API const ln_op *ln_pass_anchor(const ln_context *ctx);

/** Reports that rule `name` matched: counts it and marks the operators of `new_ops`. */
LN_API void ln_pass_rule_fires(const ln_context *ctx, const char *name, ln_list *new_ops);

LN_END_DECLS

#endif
