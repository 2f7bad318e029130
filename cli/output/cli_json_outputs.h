// SPDX-License-Identifier: Apache-2.0
// Outputs of runs as JSON: an object for each run, in one line (here in two):
//
//     {"file": "a.png", "outputs": [
//      {"name": "y", "dtype": "TL_FLOAT", "shape": [1, 3], "data": [0.25, 0.5, 0.25]}]}
//
// cli_json_close ends the list, further members may follow (cli_found_json), and cli_json_close
// ends the object. `data` has the elements in row-major order. Floats have as many digits as needed
// to read the same element back; those that JSON lacks are the strings "NaN", "Infinity" and
// "-Infinity", as in the JSON of Protocol Buffers. Instead of `data`, an output has `top` with
// --top, a list of the best classes of each row, `path` with -O, of the file that has the elements,
// and nothing with --task or --draw.

#pragma once

#include <stdio.h>

#include "output/cli_json.h"
#include "output/cli_output.h"
#include "output/cli_run_options.h"
#include "tensorlight/tl_tensor.h"

/** Begins an object on the stream `fp`. `file`: of the input, or NULL. */
void cli_json_outputs_begin(cli_json *json, FILE *fp, const char *file);

/** The next output. `path`: of its file; NULL: its elements, or the best of each row with --top.
 * Returns 0, or CLI_FAILED after a message. */
int cli_json_output(cli_json *json, const cli_run_options *opt, const char *name,
                    const tl_tensor *t, const cli_labels *labels, const char *path);

/** The object of a file that could not be run: {"file": "a.png", "error": "..."}. */
void cli_json_error(FILE *fp, const char *file, const char *reason);
