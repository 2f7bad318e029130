// SPDX-License-Identifier: Apache-2.0
// Names of the files that run --each writes: DIR/FILE_OUTPUT.npy for each file and each output, or
// with --draw the image DIR/FILE_boxes.png for each file.

#pragma once

#include "input/cli_files.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_session.h"
#include "output/cli_run_options.h"

typedef struct cli_outnames {
    char **names;  // n_outputs for each file
    int n_outputs; // 1: the image
} cli_outnames;

/** The names in opt->outdir. FILE is the file's name without its suffix, or with it where several
 * files have the same name without it. Returns 0, or the exit status after a message: a name is too
 * long, two names are the same, or a file that would be replaced is an input. Free with
 * cli_outnames_free in any case. */
int cli_outnames_make(cli_outnames *names, const cli_run_options *opt, const cli_files *files,
                      const ln_model *model);

/** Keeps the files, and their names, for which keep[i] is set. */
void cli_outnames_keep(cli_outnames *names, cli_files *files, const char *keep);

/** Returns 0, or the exit status after a message: a file of these names is an input of the command,
 * or exists without --force and --resume. */
int cli_outnames_check(const cli_outnames *names, const cli_run_options *opt,
                       const cli_files *files);

/** The file for output `k`, or 0 for the image, of file `i`. Returns borrowed. */
const char *cli_outnames_of(const cli_outnames *names, int i, int k);

void cli_outnames_free(cli_outnames *names, const cli_files *files);

// One file at a time

/** The number of names for a file. */
int cli_outnames_count(const cli_run_options *opt, const ln_model *model);

/** The names of one file: FILE with or without its suffix. names[cli_outnames_count]: new (free).
 * Returns 0, or -1 with a reason: a name is too long, no memory; the names that were made stay. */
int cli_outnames_make_one(char **names, const cli_run_options *opt, const char *file,
                          int with_suffix, const ln_model *model, ln_error *err);

/** Whether all `n` files are there, and not cut off. */
int cli_outnames_are_complete(char *const *names, int n);
