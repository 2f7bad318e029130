// SPDX-License-Identifier: Apache-2.0
// The progress of a long command in the last line of a terminal: files done, their rate, the time
// left if their number is known. Prints nothing if standard error is not a terminal.

#pragma once

#include <stdint.h>

typedef struct cli_progress {
    int n;          // files; 0: unknown
    int is_on;      // standard error is a terminal
    int is_shown;   // the line is on it now
    uint64_t start; // on tl_clock()
    uint64_t drawn; // when the line was drawn last
} cli_progress;

/** n 0: their number is unknown. */
void cli_progress_begin(cli_progress *p, int n);

/** Erases the line: before anything else is printed, and at the end. */
void cli_progress_hide(cli_progress *p);

/** Draws the line, at most once in a tenth of a second. */
void cli_progress_show(cli_progress *p, int n_done);
