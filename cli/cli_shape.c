// SPDX-License-Identifier: Apache-2.0
// Shapes on the command line, NAME=1x3x224x224.

#include "cli_shape.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int read_dims(cli_shape *shape, const char *text)
{
    shape->ndim = 0;
    while (*text && shape->ndim < LN_MAXDIM) {
        char *end;
        errno = 0;
        const long dim = strtol(++text, &end, 10);
        if (end == text || errno || dim < 0 || dim > INT_MAX || (*end && *end != 'x'))
            return -1;
        shape->dims[shape->ndim++] = (int)dim;
        text = end;
    }
    return *text ? -1 : 0;
}

int cli_shape_read(cli_shape *shape, const char *text)
{
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text || equals - text >= LN_MAX_NAME_LEN)
        return -1;
    memcpy(shape->name, text, (size_t)(equals - text));
    shape->name[equals - text] = '\0';
    return read_dims(shape, equals);
}
