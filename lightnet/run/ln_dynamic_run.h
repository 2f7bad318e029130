// SPDX-License-Identifier: Apache-2.0
// Runs one operator, whose shapes may be known only at run time.

#ifndef LN_DYNAMIC_RUN_H
#define LN_DYNAMIC_RUN_H

#include "lightnet/ln_context.h"
#include "lightnet/ln_op.h"

/** Runs the operator, with the current shapes of its inputs. The context is loaded. -1 after
 * ln_op_fail. */
int ln_dynamic_run(ln_op *op);

/** Resets dynamic tensors to their max shapes, those of the plan, after earlier runs. -1 with the
 * reason in the context. */
int ln_dynamic_forget_runs(ln_context *ctx);

#endif
