// SPDX-License-Identifier: Apache-2.0
// The files of run --each: those of a folder, of a pattern, or of a list.

#ifndef CLI_FILES_H
#define CLI_FILES_H

/** Paths, in the order of the runs. */
typedef struct cli_files {
    char **paths;
    int n;
} cli_files;

/** Finds the files of `source`: of a folder those with a suffix of an input, and of a pattern of
 * the shell all, in the order of their names; of a text file, a pipe, or "-", standard input, the
 * path in each line that is not empty. Returns 0, or CLI_FAILED after a message: there are none.
 * Free with cli_files_free in any case. */
int cli_files_find(cli_files *files, const char *source);

void cli_files_free(cli_files *files);

#endif
