// SPDX-License-Identifier: Apache-2.0
// lightnet run with a session: inputs may have any shapes that the model allows.

#ifndef CLI_RUN_SESSION_H
#define CLI_RUN_SESSION_H

#include "cli_output.h"
#include "lightnet/ln_session.h"

/** Opens the model if a session can do what the options ask for. Returns new (cli_run_session takes
 * it); NULL without a message: a context must do it, or say why it cannot. */
ln_model *cli_run_session_open(const cli_options *opt);

/** The same with --map, which a context cannot do. NULL after a message. */
ln_model *cli_run_session_open_mapped(const cli_options *opt);

/** Runs the model (takes it) with the inputs of -i and delivers its outputs. Returns the exit
 * status. *has_other_shape: nothing has been run, and there was no message, as an array has not the
 * fixed shape of its input: a context may read the model for that shape. */
int cli_run_session(ln_model *model, const cli_options *opt, const cli_labels *names,
                    int *has_other_shape);

#endif
