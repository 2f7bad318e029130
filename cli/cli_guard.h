// SPDX-License-Identifier: Apache-2.0
// Checks that keep commands from overwriting the user's files.

#ifndef CLI_GUARD_H
#define CLI_GUARD_H

#include "cli_options.h"

/** Whether output `file` is, or will be, a file: not standard output, a pipe, a device or a folder.
 */
int cli_guard_is_file(const char *file);

/** 0 unless output `file` is the same file as one of the command's inputs, under any name.
 * Otherwise the exit status after a message. */
int cli_guard_inputs(const cli_options *opt, const char *file);

/** 0 if output `file` of the command line may be written: it is not a folder and not an input, and
 * its content, by ln_file_kind, is `kind` or not recognised, or --force is set. Otherwise the exit
 * status after a message. */
int cli_guard_output(const cli_options *opt, const char *file, const char *kind);

/** 0 if `file`, whose name is derived from that of an output, may be written: it is not an input,
 * and does not exist, or --force is set. Otherwise the exit status after a message. */
int cli_guard_beside(const cli_options *opt, const char *file);

/** The suffix of the file's name, from its last dot on; "" if it has none, as a hidden file without
 * another dot. Returns borrowed: a part of `file`. */
const char *cli_guard_suffix(const char *file);

/** A suffix of an output's name and its file format. In an array the last one is all NULL, and the
 * one before may be "", for a name without a suffix. */
typedef struct cli_form {
    const char *suffix;
    const char *format; /* what the command calls it */
    const char *kind;   /* as ln_file_kind names it, NULL: not recognised */
} cli_form;

/** The format for the name of output `file`; for anything but a file, such as standard output, a
 * device or a folder, the first one. NULL after a message, which lists them, and then `or_else`. */
const cli_form *cli_guard_form(const char *file, const cli_form *forms, const char *or_else);

#endif
