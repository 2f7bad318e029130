// SPDX-License-Identifier: Apache-2.0
// The threads of a context, and what the environment says of it.

#ifndef LN_THREADS_H
#define LN_THREADS_H

#include "lightnet/ln_context.h"

/** Whether the environment's variables can be used; else -1 with a reason that names one. */
int ln_context_check_environment(const ln_context *ctx);

/** The number of threads: as ln_context_set_threads says, else LIGHTNET_NUM_THREADS, else 1. -1:
 * the variable is no number. */
int ln_context_threads(const ln_context *ctx, int *n);

/** Lets ctx->pool be what ln_context_threads says. */
int ln_context_start_threads(ln_context *ctx);

#endif
