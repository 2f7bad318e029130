// SPDX-License-Identifier: Apache-2.0
// The files of run --each: those of a folder, of a pattern, or of a list.

#pragma once

#include <stddef.h>

enum { CLI_FILES_SUFFIXES = 8, CLI_FILES_SUFFIX_SIZE = 16 };

/** Paths, in the order of the runs; and the skipped files of a folder. */
typedef struct cli_files {
    char **paths;
    int n;
    int n_skipped;                                            // regular files
    char suffixes[CLI_FILES_SUFFIXES][CLI_FILES_SUFFIX_SIZE]; // of those, sorted
    int n_suffixes;                                           // at most CLI_FILES_SUFFIXES are kept
} cli_files;

/** Whether the name has the suffix of a file that a model's input can be read from. */
int cli_files_is_input(const char *name);

/** Finds the files of `source`: of a folder those with a suffix of an input, and of a pattern of
 * the shell all, in the order of their names; of a text file, a pipe, or "-", standard input, the
 * path in each line that is not empty. Returns 0, or CLI_FAILED after a message: no files.
 * Free with cli_files_free in any case. */
int cli_files_find(cli_files *files, const char *source);

/** "2 files skipped: .bmp, .txt", in `text`. Returns text; NULL: no file was skipped. */
char *cli_files_skipped(const cli_files *files, char *text, size_t size);

void cli_files_free(cli_files *files);
