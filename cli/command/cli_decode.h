// SPDX-License-Identifier: Apache-2.0
// Tokens per second of a model with a cache, for bench --decode and report --decode.

#pragma once

#include "cli_options.h"

typedef struct cli_decode {
    const cli_options *opt;
    const char *lengths;      // "PROMPT,NEW"
    const cli_strings *links; // OUTPUT=INPUT; none: by the names of exporters
    double seconds;           // to measure, at least one prompt with its steps
} cli_decode;

/** Measures a prompt of PROMPT tokens and NEW steps of one token, with states linked, and prints
 * the result. Returns an exit code. */
int cli_decode_measure(const cli_decode *decode);

/** The same for a report. */
typedef struct cli_decoded {
    int prompt, n_new;
    double prompt_ms; // the median
    double *steps;    // [n_new]: the shortest ms of each step
    char **shapes;    // texts for --shape: the inputs of a step after the prompt
    int n_shapes;
} cli_decoded;

/** Measures as cli_decode_measure, and prints nothing. Returns 0, or the exit status after a
 * message; free in any case. */
int cli_decode_take(const cli_decode *decode, cli_decoded *decoded);

void cli_decoded_free(cli_decoded *decoded);
