// SPDX-License-Identifier: Apache-2.0
// Checks that keep commands from overwriting the user's files.

#pragma once

#include "cli_options.h"
#include "lightnet/ln_util.h"

/** Whether output `file` is or will be a regular file, not a stream, a device or a folder. */
int cli_guard_is_file(const char *file);

/** The command's input file that output `file` is, under any name; NULL: none. Returns borrowed: an
 * option, or `path`. */
const char *cli_guard_same_input(const cli_options *opt, const char *file, char path[LN_MAXLINE]);

/** 0 unless output `file` is one of those; otherwise the exit status after a message. */
int cli_guard_inputs(const cli_options *opt, const char *file);

/** 0 if output `file` of the command line may be written: it is neither a folder nor an input, and
 * ln_file_kind returns `kind` or NULL, or --force is set. Otherwise the exit status
 * after a message. */
int cli_guard_output(const cli_options *opt, const char *file, const char *kind);

/** 0 if `file`, a further output with a derived name, may be written: it is not an input,
 * and does not exist, or --force is set. Otherwise the exit status after a message. */
int cli_guard_beside(const cli_options *opt, const char *file);

/** The suffix of the file's name, with its dot; "" if it has none. The first dot of a hidden file
 * does not count. Returns borrowed: a part of `file`. */
const char *cli_guard_suffix(const char *file);

/** A suffix of an output's name and its file format. All NULL ends an array; the last suffix may be
 * "", for a name without one. */
typedef struct cli_format {
    const char *suffix;
    const char *format; // its name in the options
    const char *kind;   // its name by ln_file_kind; NULL: not recognised
} cli_format;

/** The format for the name of output `file`; the first one if it is not a regular file. NULL after
 * a message, which lists the suffixes, followed by `or_else`. */
const cli_format *cli_guard_format(const char *file, const cli_format *formats,
                                   const char *or_else);
