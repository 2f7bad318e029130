// SPDX-License-Identifier: Apache-2.0
// The parameters of operators: the model's constants on which their inputs depend.
//
//     cli_params counted;
//     double n;
//     if (!cli_params_begin(&counted, ctx))
//         LN_FOREACH (const ln_op *, op, ctx->ops)
//             cli_params_count(&counted, op, &n);
//     cli_params_end(&counted);

#pragma once

#include "lightnet/lightnet.h"

typedef struct cli_params {
    const ln_context *ctx;
    ln_hash *seen; // names of operators whose parameters are counted
} cli_params;

/** Returns 0, or CLI_FAILED after a message. */
int cli_params_begin(cli_params *counted, const ln_context *ctx);

/** *n: the parameters of the operator (ln_context_num_params) that no earlier one has. Returns 0,
 * or CLI_FAILED after a message. */
int cli_params_count(const cli_params *counted, const ln_op *op, double *n);

void cli_params_end(cli_params *counted);
