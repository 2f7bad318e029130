// SPDX-License-Identifier: Apache-2.0
// Names of the files that run --each writes: DIR/FILE_OUTPUT.npy for each file and each output, or
// with --draw the image DIR/FILE_boxes.png for each file.

#pragma once

#include "input/cli_files.h"
#include "lightnet/ln_session.h"
#include "output/cli_run_options.h"

typedef struct cli_outnames {
    char **names;  // n_outputs for each file
    int n_outputs; // 1: the image
} cli_outnames;

/** The names in opt->outdir. FILE is the file's name without its suffix, or with it where several
 * files have the same name without it. Returns 0, or the exit status after a message: a name is too
 * long, two names are the same, a file exists without --force, or it is an input. Free with
 * cli_outnames_free in any case. */
int cli_outnames_make(cli_outnames *names, const cli_run_options *opt, const cli_files *files,
                      const ln_model *model);

/** The file for output `k`, or 0 for the image, of file `i`. Returns borrowed. */
const char *cli_outnames_of(const cli_outnames *names, int i, int k);

void cli_outnames_free(cli_outnames *names, const cli_files *files);
