// SPDX-License-Identifier: Apache-2.0
// Indices from sorting: if keys differ only by rounding, two programs may order them differently,
// and both are correct.

#ifndef CLI_TIES_H
#define CLI_TIES_H

#include "cli_options.h"
#include "lightnet/lightnet.h"

/** Whether output `name` of `op`, an operator of `ctx`, holds indices (or values moved along with
 * keys) that equal those of `reference` except for the order of equal elements. They are then
 * replaced by those of `reference`, so that later tensors can be compared. */
int cli_ties_take_over(ln_context *ctx, ln_context *reference, const cli_options *opt,
                       const ln_op *op, const char *name);

#endif
