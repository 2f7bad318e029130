// SPDX-License-Identifier: Apache-2.0
// Shared by benchmarks: times of runs, input data, peak memory, and discarding the model's output.
//
//     cli_kept kept;
//     if (!cli_kept_take(&kept, ctx))           // after the inputs are set, before the first run
//         while (...)
//             if (cli_kept_restore(&kept, ctx) || ln_context_run(ctx)) ...
//     cli_kept_free(&kept);

#pragma once

#include <stdint.h>

#include "input/cli_model.h"
#include "lightnet/lightnet.h"
#include "output/cli_json.h"
#include "tensorlight/tensorlight.h"

/** Times of runs, in ms. Begins zeroed. */
typedef struct cli_times {
    double *ms;
    int n;
    int capacity;
} cli_times;

/** Adds a time. Returns 0, or CLI_FAILED after a message. */
int cli_times_add(cli_times *times, double ms);

/** Sorts the times, for cli_times_quantile. */
void cli_times_sort(cli_times *times);

/** The quantile `q` of the sorted times, at least one. */
double cli_times_quantile(const cli_times *times, double q);

void cli_times_free(cli_times *times);

/** Data of inputs for several runs: a run may reuse the memory of an input whose sizes are open. */
typedef struct cli_kept {
    struct cli_kept_input *inputs; // with open sizes
    int n;
} cli_kept;

/** Copies the data of the context's inputs with open sizes. Borrows their names. Returns 0, or
 * CLI_FAILED after a message; free in any case. */
int cli_kept_take(cli_kept *kept, const ln_context *ctx);

/** Restores the copies. -1 with the reason in the context. */
int cli_kept_restore(const cli_kept *kept, ln_context *ctx);

void cli_kept_free(cli_kept *kept);

/** The peak resident memory of the process, in KiB. */
double cli_peak_memory_kb(void);

/** Discards standard output, since a model's output is not part of a report. Returns the argument
 * for cli_restore_output, or -1 after a message. */
int cli_silence_output(void);

void cli_restore_output(int saved);

// Operators

// The time of each operator in a run, measured and reported by `lightnet bench`.
//
// cli_op_times times;
// if (!cli_op_times_measure(&times, ctx, opt, 20))
//     cli_op_times_print(&times, ctx);
// cli_op_times_free(&times);

/** The measurements of an operator. */
typedef struct cli_op_time {
    const ln_op_arg *op;
    const char *algorithm;       // "-": it has one
    const char *layout;          // "-": plain
    char output[12 * LN_MAXDIM]; // the shape of the first output
    double ms;
    double gflops; // GFLOP/s
    double peak;   // GFLOP/s in percent of the machine's peak for its arithmetic
    double bytes;  // that it reads and writes
    double gbs;    // GB/s
} cli_op_time;

enum { CLI_N_ARITHMETIC = 3 }; // float32, bfloat16, quantized

typedef struct cli_op_times {
    cli_op_time *items; // of the operators that compute in a run, in order
    int n;
    double ms;                      // of all of them
    double peaks[CLI_N_ARITHMETIC]; // the machine's, with the context's threads: operations per
                                    // second; 0: no operator has this arithmetic
    double bandwidth;               // and bytes per second that a copy reads and writes
} cli_op_times;

/** The runs that measure operators. */
typedef struct cli_op_runs {
    int n;
    double seconds; // of the whole measurement, about: longer ones measure the peaks more often
} cli_op_runs;

/** A phase before the measured runs, for traces. */
typedef struct cli_phase {
    const char *name;
    double ms;
} cli_phase;

/** Arithmetic i, of which an operator has the name as its algorithm; float32 is that of others. */
const char *cli_arithmetic_name(int i);

/** The shortest time of each operator in runs of the loaded context with these inputs, and the
 * machine's peaks, the best of measurements around and between the runs. Borrows the context's
 * operators. Returns 0, or CLI_FAILED after a message; free in any case. */
int cli_op_times_measure(cli_op_times *times, ln_context *ctx, const cli_options *opt,
                         const cli_kept *inputs, const cli_op_runs *runs);

void cli_op_times_free(cli_op_times *times);

/** Prints a table. GFLOP/s count two operations for each multiply-accumulate of the direct
 * computation, for any algorithm; bytes are those of outputs and inputs, of tables only the
 * gathered elements. */
void cli_op_times_print(const cli_op_times *times, const ln_context *ctx);

/** The same as members of an open JSON object. */
void cli_op_times_add(const cli_op_times *times, cli_json *json);

/** Writes the `n` phases, one after the other, and then one run to `file`, in Chrome's trace event
 * format. Returns 0, or CLI_FAILED after a message. */
int cli_op_times_write_trace(const cli_op_times *times, const ln_context *ctx,
                             const cli_phase *phases, int n, const char *file);
