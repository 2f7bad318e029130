// SPDX-License-Identifier: Apache-2.0
// lightnet run --each: one model, run for each of many files.

#pragma once

#include "output/cli_output.h"
#include "output/cli_run_options.h"

/** Runs the model for each file of opt->shared.samples, and delivers the outputs in the order of
 * the files. A file that cannot be read or run is reported, and the others run. Returns the exit
 * status. */
int cli_each_run(const cli_run_options *opt, const cli_labels *labels);
