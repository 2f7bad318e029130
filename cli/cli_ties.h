// SPDX-License-Identifier: Apache-2.0
// Indices from sorting: where keys are equal but for rounding, two programs may order them
// differently, and both are right.

#ifndef CLI_TIES_H
#define CLI_TIES_H

#include "cli_options.h"
#include "lightnet/lightnet.h"

/** Whether output `name` of `op`, an operator of `ctx`, holds indices (or values moved along with
 * keys) that are those of `reference` but for the order of elements that agree. They become those
 * of `reference` then, so that what is computed from them can be compared. */
int cli_ties_take_over(ln_context *ctx, ln_context *reference, const cli_options *opt,
                       const ln_op *op, const char *name);

#endif
