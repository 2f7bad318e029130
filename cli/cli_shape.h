// SPDX-License-Identifier: Apache-2.0
// Shapes on the command line, NAME=1x3x224x224.

#ifndef CLI_SHAPE_H
#define CLI_SHAPE_H

#include "lightnet/ln_util.h"

typedef struct cli_shape {
    char name[LN_MAX_NAME_LEN];
    int dims[LN_MAXDIM];
    int ndim;
} cli_shape;

/** Reads the text: the dimensions stand behind the last '='. Returns 0, or -1 without a message. */
int cli_shape_read(cli_shape *shape, const char *text);

#endif
