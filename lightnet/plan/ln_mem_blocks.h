// SPDX-License-Identifier: Apache-2.0
// The memory planner, for blocks: the part of ln_pass_mem_plan that knows nothing of tensors.

#ifndef LN_MEM_BLOCKS_H
#define LN_MEM_BLOCKS_H

#include "plan/ln_lifetime.h"
#include "lightnet/ln_context.h"

/** Gives every block of `life` that is not part of another its offset, and sets ctx->mem_sizes. */
int ln_mem_blocks_place(ln_context *ctx, ln_lifetime *life);

#endif
