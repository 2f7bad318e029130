// SPDX-License-Identifier: Apache-2.0
// Running one operator, whose shapes may be known only now.

#ifndef LN_DYNAMIC_RUN_H
#define LN_DYNAMIC_RUN_H

#include "lightnet/ln_context.h"
#include "lightnet/ln_op.h"

/** Runs the operator, after it has been given the shapes that its inputs have now. The context is
 * loaded. -1 after ln_op_fail. */
int ln_dynamic_run(ln_op *op);

/** Gives dynamic tensors their largest shapes again, for which the plan is: earlier runs have left
 * theirs. -1 with the reason in the context. */
int ln_dynamic_forget_runs(ln_context *ctx);

#endif
