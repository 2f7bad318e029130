// SPDX-License-Identifier: Apache-2.0
// Several sets of shapes on the command line: a name that --shape has given already begins another
// set, which has the shapes of the one before, as far as it is not given others.
//
//     --shape ids=1x128 --shape mask=1x128 --shape ids=1x256 --shape mask=1x256
//     --shape batch=1 --shape sequence=128 --shape sequence=256

#ifndef CLI_SHAPE_SETS_H
#define CLI_SHAPE_SETS_H

#include "cli_options.h"

/* Each has values of --shape, with names that differ. */
typedef struct cli_shape_sets {
    cli_strings *of;
    int n; /* at least 1 */
} cli_shape_sets;

/** Divides the values of --shape, which stay the options'. Free with cli_shape_sets_free, also
 * after a failure. Returns 0, or CLI_FAILED after a message. */
int cli_shape_sets_find(cli_shape_sets *sets, const cli_strings *shapes);

void cli_shape_sets_free(cli_shape_sets *sets);

#endif
