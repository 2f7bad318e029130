// SPDX-License-Identifier: Apache-2.0
// The input that run --each reads files into, and the number of files per run.

#pragma once

#include "lightnet/ln_msg.h"
#include "lightnet/ln_session.h"
#include "output/cli_run_options.h"

typedef struct cli_each_input {
    const cli_run_options *opt;
    const ln_model *model;
    int index;             // of the model's input
    const char *name;      // its name
    const tl_tensor *info; // its type and shape
    int is_batched;        // --batch: a file has size 1 on the first axis
    int max;               // files of a run
    int min_rows;          // of a run with --batch; the last row is repeated to reach it
} cli_each_input;

/** Finds the first input that no -i NAME=FILE names, and checks --batch against its first axis.
 * `n`: all files. Borrows the arguments. Returns 0, or CLI_FAILED after a message. */
int cli_each_input_find(cli_each_input *input, const cli_run_options *opt, const ln_model *model,
                        int n);

/** Reads a file for the input, in any thread. Returns new (tl_tensor_free_data_too); NULL with a
 * reason that names the file. */
tl_tensor *cli_each_input_read(const cli_each_input *input, const char *file, ln_error *err);

/** Sets all other inputs from -i. Returns 0, or CLI_FAILED after a message. */
int cli_each_input_set_others(const cli_each_input *input, ln_session *session);
