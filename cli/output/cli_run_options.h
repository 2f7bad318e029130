// SPDX-License-Identifier: Apache-2.0
// Options of lightnet run.

#pragma once

#include "cli_options.h"
#include "input/cli_part.h"

typedef struct cli_run_options {
    cli_options shared; // outfile: the image of --draw; samples: --each
    const char *outdir; // -O
    const char *draw;
    const char *task;        // of --task, --draw or --preset; NULL: none
    struct cli_known *known; // what the model tells; NULL: nothing
    int top;
    int batch;     // 0: not given
    cli_part part; // of --each
    int resume;    // --each: files that have their outputs do not run
    int print_all;
    double threshold; // below 0: not given
    double overlap;   // below 0: not given
} cli_run_options;
