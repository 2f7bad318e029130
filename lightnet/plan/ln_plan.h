// SPDX-License-Identifier: Apache-2.0
// Planning the memory of a context, and checking a plan.

#pragma once

#include "lightnet/ln_context.h"
#include "plan/ln_lifetime.h"

/** As ln_pass_mem_plan. */
int ln_plan_memory(ln_context *ctx);

/** Checks every operator of an unloaded context again, and plans its memory. -1 with the reason in
 * the context, also when cancelled. */
int ln_plan(ln_context *ctx);

/** The same for it and its bodies. */
int ln_plan_all(ln_context *ctx);

/** 0 if the planned offsets, which may come from a file, are within their memory and agree with
 * tensors that share it; -1 with a reason. */
int ln_context_check_plan(const ln_context *ctx);

/** The same; *life: the blocks of the plan (ln_lifetime_free). */
int ln_plan_find_checked(const ln_context *ctx, ln_lifetime *life);

/** Sets the offsets of all blocks of `life` that are no parts of others, and ctx->mem_sizes. */
int ln_mem_blocks_place(ln_context *ctx, ln_lifetime *life);
