// SPDX-License-Identifier: Apache-2.0
// The progress of a long command in the last line of a terminal.

#include "output/cli_progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "output/cli_print.h"
#include "tensorlight/tl_util.h"

enum { INTERVAL = 100000000 /* nanoseconds between two drawings */ };

void cli_progress_begin(cli_progress *p, int n)
{
    memset(p, 0, sizeof(*p));
    p->n = n;
    p->is_on = isatty(STDERR_FILENO);
    p->start = p->drawn = tl_clock();
}

void cli_progress_hide(cli_progress *p)
{
    if (p->is_shown)
        cli_fprint(stderr, "\r\033[K");
    p->is_shown = 0;
}

static void print_time(FILE *line, double seconds)
{
    if (seconds < 60)
        cli_fprint(line, "%.0f s", seconds);
    else if (seconds < 3600)
        cli_fprint(line, "%.0f min", seconds / 60);
    else
        cli_fprint(line, "%.1f h", seconds / 3600);
}

void cli_progress_show(cli_progress *p, int n_done)
{
    const uint64_t now = p->is_on ? tl_clock() : 0;
    if (!p->is_on || now - p->drawn < INTERVAL || !n_done)
        return;
    const double rate = n_done / ((double)(now - p->start) * 1e-9);
    cli_whole whole;
    FILE *const line = cli_whole_begin(&whole, stderr);
    if (p->n) {
        cli_fprint(line, "\r\033[K%d of %d files, %.3g/s, ", n_done, p->n, rate);
        print_time(line, (p->n - n_done) / rate);
        cli_fprint(line, " left");
    } else {
        cli_fprint(line, "\r\033[K%d files, %.3g/s", n_done, rate);
    }
    cli_whole_end(&whole);
    fflush(stderr);
    p->drawn = now;
    p->is_shown = 1;
}
