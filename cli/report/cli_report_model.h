// SPDX-License-Identifier: Apache-2.0
// Measures a model, and adds it to the JSON of `lightnet report`.

#pragma once

#include "cli_options.h"
#include "output/cli_json.h"

typedef struct cli_report_options {
    cli_options shared;
    const char *decode; // "PROMPT,NEW", or NULL
    cli_strings links;
    const char *against; // a precision, or NULL
    double seconds;      // of each measurement
} cli_report_options;

/** Adds the model args[i] as an object. Returns 0, or the exit status after a message. */
int cli_report_add_model(cli_json *json, const cli_report_options *opt, int i);
