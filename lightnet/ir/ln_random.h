// SPDX-License-Identifier: Apache-2.0
// Random numbers of operators without their own seed: from the sequence of the outermost context.

#pragma once

#include "lightnet/ln_context.h"
#include "lightnet/ln_op.h"

/** Whether the operator draws from the context: its parameter `seed` is below 0. */
int ln_op_draws(const ln_op *op);

/** Whether an operator of the program, or of its bodies, draws from the context. */
int ln_context_draws(const ln_context *ctx);

/** A seed that differs from one call to the next, for numbers that need not be secret: by
 * getrandom, which opens no file. In a sandbox that forbids it, or before the system has collected
 * entropy, from the clocks. Never waits or fails. */
uint64_t ln_random_seed(void);
