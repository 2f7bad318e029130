// SPDX-License-Identifier: Apache-2.0
// Classes: their names, and the best ones of an output.

#pragma once

#include "tensorlight/tl_tensor.h"

/** Names of classes, one a line of a file. */
typedef struct cli_labels {
    char *text;
    char **lines;
    int n;
    int must_fit; // of a preset or a model: none for another number of classes
} cli_labels;

/** Reads `file`; NULL: no names. Returns 0, or CLI_FAILED after a message. Free with
 * cli_labels_free. */
int cli_labels_read(const char *file, cli_labels *names);

/** Splits `text` (takes it, also after a failure) into lines. Returns 0, or CLI_FAILED after a
 * message. Free with cli_labels_free. */
int cli_labels_split(cli_labels *names, char *text);

/** The name of class `i` of `n_classes`; NULL: none. Names that must fit may omit the first class,
 * the background. */
const char *cli_labels_name(const cli_labels *names, int n_classes, int i);

void cli_labels_free(cli_labels *names);

/** The number of classes in a row of an output: the length of the last axis; of [N, C, 1, 1] it is
 * C. */
int cli_output_classes(const tl_tensor *t);

/** An element of a row and its index. */
typedef struct cli_ranked {
    double value;
    int index;
} cli_ranked;

/** The `len` elements of a row, of its classes, into `ranks`: the largest first, of equal ones
 * the one with the lowest index; NaN last. */
void cli_output_rank(cli_ranked *ranks, const tl_tensor *t, int row, int len);
