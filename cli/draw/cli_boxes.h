// SPDX-License-Identifier: Apache-2.0
// Detections: outputs with boxes and scores, and the boxes that remain after non-maximum
// suppression.

#pragma once

#include "draw/cli_draw.h"

/** A detection. */
typedef struct cli_box {
    int class; // the index of its score
    double score;
    double at[4]; // x0, y0, x1, y1, as in the output
} cli_box;

typedef struct cli_boxes {
    cli_box *items; // by class, the best first
    int n;
    int n_classes;
    int has_background; // class 0 is the background
    int is_relative;    // coordinates are fractions of the input's size, else pixels
} cli_boxes;

/** Finds the outputs, and boxes with a score of at least --threshold that overlap by at most
 * --overlap. Returns 0, or CLI_FAILED after a message: no such outputs, or no memory.
 * Free with cli_boxes_free. */
int cli_boxes_find(cli_boxes *boxes, const cli_run_options *opt, const cli_labels *labels);

void cli_boxes_free(cli_boxes *boxes);

/** The label of a class from --labels, which may omit the background; NULL: none. */
const char *cli_boxes_label(const cli_labels *labels, int n_classes, int class);

/** 1: label 0 is the background, or the labels omit it; 0: no background; -1: unknown, as there are
 * no labels, or their number does not match `n_classes`. */
int cli_boxes_labels_background(const cli_labels *labels, int n_classes);
