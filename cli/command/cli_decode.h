// SPDX-License-Identifier: Apache-2.0
// lightnet bench --decode: tokens per second of a model with a cache.

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
