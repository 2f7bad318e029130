// SPDX-License-Identifier: Apache-2.0
// The files that run --each runs, and the names of their outputs: those of a list, of which a
// process may have a part (--part) and earlier starts may have done some (--resume), or those of
// standard input, line by line.

#pragma once

#include <stdint.h>

#include "input/cli_files.h"
#include "input/cli_lines.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_session.h"
#include "output/cli_outnames.h"
#include "output/cli_run_options.h"

typedef struct cli_each_files {
    const cli_run_options *opt;
    const ln_model *model;
    cli_files list;
    cli_outnames names; // with -O, of the list
    cli_lines *lines;   // of standard input; NULL: a list
    void *known;        // with -O, of standard input: a tree of the names of outputs so far
    void *inputs;       // the same: a tree of the files so far
    int n;              // to run; of standard input the most
    int n_all;          // of the list, with other parts; of standard input those so far
    int n_done;         // skipped by --resume so far
} cli_each_files;

/** A file of standard input. */
typedef struct cli_each_file {
    char *path;     // new (free)
    char **outputs; // new: their names, with -O; else NULL
} cli_each_file;

/** Finds the list, or opens standard input. Returns 0, or the exit status after a message. Free
 * with cli_each_files_free in any case. */
int cli_each_files_find(cli_each_files *files, const cli_run_options *opt);

/** Names the outputs, and leaves out other parts and what is done. Returns 0, or the exit status
 * after a message. */
int cli_each_files_name(cli_each_files *files, const ln_model *model);

/** The next file of standard input; see cli_lines_next. With a reason in `err`, the file has no
 * outputs: another one has their names, they exist, or would overwrite an input. */
cli_lines_found cli_each_files_next(cli_each_files *files, int may_wait, cli_each_file *file,
                                    ln_error *err);

void cli_each_files_free_one(const cli_each_files *files, cli_each_file *file);

/** Describes which files these are: "", or " (part 2 of 4; 20 had their outputs)". Returns text. */
const char *cli_each_files_kind(const cli_each_files *files, char *text, size_t size);

void cli_each_files_free(cli_each_files *files);
