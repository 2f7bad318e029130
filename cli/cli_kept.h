// SPDX-License-Identifier: Apache-2.0
// Data of inputs for several runs: a run may reuse the memory of an input whose sizes are open.
//
//     cli_kept kept;
//     if (!cli_kept_take(&kept, ctx))           // after the inputs are set, before the first run
//         while (...)
//             if (cli_kept_restore(&kept, ctx) || ln_context_run(ctx)) ...
//     cli_kept_free(&kept);

#ifndef CLI_KEPT_H
#define CLI_KEPT_H

#include "lightnet/lightnet.h"
#include "tensorlight/tensorlight.h"

typedef struct cli_kept {
    struct cli_kept_input *inputs; /* with open sizes */
    int n;
} cli_kept;

/** Copies the data of the context's inputs with open sizes. Borrows their names. Returns 0, or
 * CLI_FAILED after a message; free in any case. */
int cli_kept_take(cli_kept *kept, const ln_context *ctx);

/** Sets them. -1 with the reason in the context. */
int cli_kept_restore(const cli_kept *kept, ln_context *ctx);

void cli_kept_free(cli_kept *kept);

#endif
