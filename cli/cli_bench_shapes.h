// SPDX-License-Identifier: Apache-2.0
// lightnet bench --shapes: how long runs take whose shapes change.

#ifndef CLI_BENCH_SHAPES_H
#define CLI_BENCH_SHAPES_H

#include "cli_options.h"

/** Runs the model once for each line of opt->run_shapes and prints the times. Returns the exit
 * status. */
int cli_bench_shapes(const cli_options *opt);

#endif
