// SPDX-License-Identifier: Apache-2.0
// The steps of compiling that loading may have to repeat.

#ifndef LN_COMPILE_H
#define LN_COMPILE_H

#include "lightnet/ln_context.h"

/** Checks every operator of a compiled context anew, and plans its memory and that of its bodies
 * for ctx->planned_threads. */
int ln_context_plan_anew(ln_context *ctx);

#endif
