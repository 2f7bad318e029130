// SPDX-License-Identifier: Apache-2.0
// The error of each operator, relative to a program of another precision, as JSON for a report.

#pragma once

#include "cli_options.h"
#include "output/cli_json.h"

/** Whether the target of the options computes in `precision`; an unknown target is not checked.
 * Returns 0, or CLI_FAILED after a message. */
int cli_report_check_precision(const cli_options *opt, const char *precision);

/** Runs the program of the options and that of `precision` once, with equal inputs, and adds
 * "accuracy": the max difference of operators that complete the same nodes, relative to the max
 * magnitude, and the number of elements that are finite in one program only. Returns 0, or
 * CLI_FAILED after a message. */
int cli_report_add_accuracy(cli_json *json, const cli_options *opt, const char *precision);
