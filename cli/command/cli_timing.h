// SPDX-License-Identifier: Apache-2.0
// The times of a model: of each phase from the start of the process to the first output, and of
// runs after it.
//
//     cli_timing t;
//     ln_context *ctx = cli_timing_read(&t, opt);
//     if (ctx && !cli_timing_load(&t, ctx, opt) && !cli_timing_run(&t, ctx, opt, 2)) ...
//     cli_timing_free(&t);
//     ln_context_free(ctx);

#pragma once

#include "command/cli_measure.h"

enum {
    CLI_PHASE_START,
    CLI_PHASE_READ,
    CLI_PHASE_LOAD,
    CLI_PHASE_INPUTS,
    CLI_PHASE_FIRST_RUN,
    CLI_N_PHASES
};

typedef struct cli_timing {
    cli_phase phases[CLI_N_PHASES];
    double load;     // ms of all phases
    double peak_kb;  // the largest memory
    cli_times runs;  // sorted
    cli_kept inputs; // of each run
} cli_timing;

/** Reads the model opt->args[0]. Returns new (ln_context_free), or NULL after a message. */
ln_context *cli_timing_read(cli_timing *t, const cli_options *opt);

/** Compiles and loads it, sets its inputs, and runs it once. Returns 0, or CLI_FAILED after a
 * message. */
int cli_timing_load(cli_timing *t, ln_context *ctx, const cli_options *opt);

/** As many runs as fit in `seconds`, at least three. Returns 0, or CLI_FAILED after a message. */
int cli_timing_run(cli_timing *t, ln_context *ctx, const cli_options *opt, double seconds);

void cli_timing_free(cli_timing *t);
