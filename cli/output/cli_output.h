// SPDX-License-Identifier: Apache-2.0
// Delivers an output: prints it in full, its summary or its best classes, or writes a file.

#pragma once

#include "output/cli_found.h"
#include "output/cli_json.h"
#include "output/cli_labels.h"
#include "output/cli_run_options.h"
#include "tensorlight/tl_tensor.h"

/** Before a run: creates a missing folder of -O, then `*made` is 1, or checks that the folder or
 * npz file may be written. Returns 0, or the exit status after a message. */
int cli_output_prepare(const cli_run_options *opt, int *made);

/** Before a run: 0 unless one of the files to be written for `n` outputs is an input; else the exit
 * status after a message. */
int cli_output_check(const cli_run_options *opt, int n);

/** Prints the time of a run, in ns. Returns 0, or CLI_FAILED after a message: the model's output
 * cannot be written. */
int cli_output_print_time(uint64_t ns);

/** Warns if --labels are for another number of classes. */
void cli_output_warn_labels(const cli_run_options *opt, const char *name, const tl_tensor *t,
                            const cli_labels *names);

/** Delivers output `k` by the options, except to an npz file. `json`: the document of --json, or
 * NULL. Returns 0, or CLI_FAILED after a message. */
int cli_output_deliver(const cli_run_options *opt, cli_json *json, const char *name, int k,
                       const tl_tensor *t, const cli_labels *names);

/** Prints what the outputs show, or lists it in the object of `json`. Returns 0, or CLI_FAILED
 * after a message. */
int cli_output_deliver_found(const cli_run_options *opt, cli_json *json, const cli_found *found,
                             const cli_labels *labels);

/** After a run: gets output `k` and its name. Returns borrowed; NULL after a message. */
typedef const tl_tensor *(*cli_output_getter)(void *data, int k, const char **name);

/** Delivers all outputs, also to an npz file, and the image of --draw. Returns 0, or CLI_FAILED
 * after a message. */
int cli_output_deliver_all(const cli_run_options *opt, int n, cli_output_getter get, void *data,
                           const cli_labels *labels);
