// SPDX-License-Identifier: Apache-2.0
// The exit status of run --each as one of several ranks. Launchers such as mpirun end all ranks
// when one returns another status than 0, so a rank whose files have failed returns 0 while others
// run, and the last rank returns the status of all.
//
//     cli_ranks ranks;
//     status = cli_ranks_begin(&ranks, opt);
//     ...                                                        // all files of the rank
//     status = cli_ranks_end(&ranks, source, n_failed, n_files); // not after a fatal error
//
// Ranks share nothing but the folder of -O. In it is a hidden folder for each start, in which each
// rank creates an empty file when it begins, and another one, whose name has the number of files
// that failed, when it ends. The rank that finds the files of all is the last one, or several that
// end at the same moment. It removes the folder.

#pragma once

#include "output/cli_run_options.h"

typedef struct cli_ranks {
    char *folder; // NULL: a rank returns its own status
    int rank, n;
    int has_begun; // and not ended
} cli_ranks;

/** Begins a rank: one of several that a launcher has started with an id for the start, with -O.
 * Otherwise there is no folder. Returns 0, or CLI_FAILED after a message. Free with cli_ranks_free
 * in any case. */
int cli_ranks_begin(cli_ranks *ranks, const cli_run_options *opt);

/** Ends a rank of whose files `n_failed` failed, after a message. Returns its exit status: CLI_OK
 * while others run; of the last rank CLI_FAILED after a message if files of any rank failed, of
 * `n_files` of all ranks. If not all ranks use the folder within 30 s, a rank with failed files
 * returns CLI_FAILED after a message. */
int cli_ranks_end(cli_ranks *ranks, const char *source, int n_failed, int n_files);

/** Of a rank that has begun and not ended, removes its file, and the folder if it is the only one.
 */
void cli_ranks_free(cli_ranks *ranks);
