// SPDX-License-Identifier: Apache-2.0
// The memory of a context, for those who load and run it. See ln_context_alloc_mem.

#ifndef LN_MEMORY_H
#define LN_MEMORY_H

#include "lightnet/ln_context.h"

/** Gives every tensor its address, or NULL where there is no memory. */
void ln_memory_bind(ln_context *ctx);

/** Lets a context that shares constants run in `region` from now on: ln_sharing_move. */
void ln_memory_move(ln_context *ctx, void *region);

/** Whether the limit allows the memory of the plan. -1 with a reason. */
int ln_memory_check_limit(const ln_context *ctx);

/** Fails because `total` bytes exceed the limit of memory: names what takes the most. */
int ln_memory_fail_limit(const ln_context *ctx, size_t total);

#endif
