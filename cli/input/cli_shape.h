// SPDX-License-Identifier: Apache-2.0
// Shapes, NAME=1x3x224x224, with ranges of sizes, NAME=1x1..512; and sums of sizes, NAME=past+new.

#pragma once

#include "lightnet/ln_util.h"
#include "tensorlight/tl_tensor.h"

typedef struct cli_shape {
    char name[LN_MAX_NAME_LEN];
    int dims[LN_MAXDIM]; // of a range, the largest
    int min[LN_MAXDIM];  // equal to dims without a range
    int ndim;
    int is_range;              // of any size
    char sum[LN_MAX_NAME_LEN]; // of other sizes: then there are no dimensions; or ""
} cli_shape;

/** Reads the text: the dimensions follow the last '='. Returns 0, or -1 without a message. */
int cli_shape_read(cli_shape *shape, const char *text);

/** Whether reading failed because the last size is a range whose first number is the larger one. */
int cli_shape_is_reversed(const cli_shape *shape);
