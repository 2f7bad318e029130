// SPDX-License-Identifier: Apache-2.0
// Tensors whose sizes are known only at run time: see "Sizes known at run time" in
// docs/dev/design.md.

#ifndef LN_DYNAMIC_H
#define LN_DYNAMIC_H

#include "lightnet/ln_op.h"

/** Finds whether the operator has dynamic inputs or outputs. Before its pre_run. -1 after
 * ln_op_fail: no memory. */
int ln_dynamic_begin(ln_op *op);

/** Checks the inputs that set parameters. After its pre_run. -1 after ln_op_fail: a parameter that
 * is missing or no number, a type that is not TL_INT64 or TL_INT32, another number of elements. */
int ln_dynamic_check(ln_op *op);

/** The opposite of ln_dynamic_begin. */
void ln_dynamic_end(ln_op *op);

/** Runs the operator, after it has been given the shapes that its inputs have now. The context is
 * loaded. -1 after ln_op_fail. */
int ln_dynamic_run(ln_op *op);

#endif
