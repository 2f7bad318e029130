// SPDX-License-Identifier: Apache-2.0
// The time of each operator in a run, measured and reported by `lightnet bench`.
//
//     cli_op_times times;
//     if (!cli_op_times_measure(&times, ctx, opt, 20))
//         cli_op_times_print(&times, ctx);
//     cli_op_times_free(&times);

#ifndef CLI_OP_TIMES_H
#define CLI_OP_TIMES_H

#include <stdint.h>

#include "cli_measure.h"
#include "cli_model.h"

typedef struct cli_op_times {
    struct cli_op_time *items; /* of the operators that compute in a run, in order */
    int n;
    double ms;        /* of all of them */
    double flops;     /* the machine's peak, with the context's threads: operations per second */
    double bandwidth; /* and bytes per second that a copy reads and writes */
} cli_op_times;

/** A phase before the measured runs, for traces. */
typedef struct cli_phase {
    const char *name;
    double ms;
} cli_phase;

/** The shortest time of each operator in `runs` runs of the loaded context with these inputs, and
 * the machine's peak. Borrows the context's operators. Returns 0, or CLI_FAILED after a message;
 * free in any case. */
int cli_op_times_measure(cli_op_times *times, ln_context *ctx, const cli_options *opt,
                         const cli_kept *inputs, int runs);

void cli_op_times_free(cli_op_times *times);

/** Prints a table. GFLOP/s count two operations for each multiply-accumulate of the direct
 * computation, whatever the algorithm; bytes are those of all inputs and outputs. */
void cli_op_times_print(const cli_op_times *times, const ln_context *ctx);

/** Prints the same as members of an open JSON object, beginning with a comma. */
void cli_op_times_print_json(const cli_op_times *times);

/** Writes the `n` phases, one after the other, and then one run to `file`, in Chrome's trace event
 * format. Returns 0, or CLI_FAILED after a message. */
int cli_op_times_write_trace(const cli_op_times *times, const ln_context *ctx,
                             const cli_phase *phases, int n, const char *file);

/** Prints a JSON string. */
void cli_json_string(FILE *fp, const char *text);

#endif
