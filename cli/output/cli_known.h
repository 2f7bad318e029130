// SPDX-License-Identifier: Apache-2.0
// What a model file tells about its outputs: the task, the names of the classes and the number of
// key points that Ultralytics writes to the metadata.

#pragma once

#include "lightnet/ln_session.h"
#include "output/cli_labels.h"

typedef struct cli_known {
    cli_labels *labels; // filled from the model, unless `is_given`
    int is_given;       // --labels is
    char task[32];      // "detect", "segment", "pose" or another word; "": unknown
    int n_points;       // of a pose; 0: unknown
} cli_known;

/** Reads the metadata of the model; ignores what it does not understand. Returns 0, or CLI_FAILED
 * after a message: no memory. */
int cli_known_read(cli_known *known, const ln_model *model);
