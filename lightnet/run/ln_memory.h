// SPDX-License-Identifier: Apache-2.0
// The memory of a context, for those who load and run it. See ln_context_alloc_mem.

#ifndef LN_MEMORY_H
#define LN_MEMORY_H

#include "lightnet/ln_context.h"

/** Gives every tensor its address, or NULL where there is no memory. */
void ln_memory_bind(ln_context *ctx);

#endif
