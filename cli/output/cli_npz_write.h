// SPDX-License-Identifier: Apache-2.0
// npz files as outputs.

#ifndef CLI_NPZ_WRITE_H
#define CLI_NPZ_WRITE_H

#include "lightnet/ln_context.h"
#include "lightnet/ln_session.h"
#include "output/cli_run_options.h"

/** Whether -O names an npz file. */
int cli_npz_is_output(const cli_run_options *opt);

/** Before a run: 0 if the npz file of -O may be written; else the exit status after a message. */
int cli_npz_check(const cli_run_options *opt);

/** After a run: writes the model's outputs to the npz file of -O, by their names. Returns 0, or
 * CLI_FAILED after a message. */
int cli_npz_write_session(const cli_run_options *opt, const ln_model *model, ln_session *session);
int cli_npz_write_context(const cli_run_options *opt, ln_context *ctx);

#endif
