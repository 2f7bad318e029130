// SPDX-License-Identifier: Apache-2.0
// The part of the memory planner that knows blocks only. See ln_pass_mem_plan in ln_pass.h.

#ifndef LN_MEM_PLAN_H
#define LN_MEM_PLAN_H

#include "ir/ln_lifetime.h"
#include "lightnet/ln_context.h"

/** Gives every block of `life` that is not part of another its offset, and sets ctx->mem_sizes. */
int ln_mem_plan_blocks(ln_context *ctx, ln_lifetime *life);

#endif
