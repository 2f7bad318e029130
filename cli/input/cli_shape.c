// SPDX-License-Identifier: Apache-2.0
// Shapes as texts.

#include "input/cli_shape.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

// The size at *text, which is moved past it; -1: none.
static int read_size(const char **text)
{
    char *end;
    errno = 0;
    const long dim = strtol(*text, &end, 10);
    if (end == *text || errno || dim < 0 || dim > INT_MAX)
        return -1;
    *text = end;
    return (int)dim;
}

// The next size, which may be a range.
static int read_dim(cli_shape *shape, const char **text)
{
    const int i = shape->ndim++;
    shape->min[i] = shape->dims[i] = read_size(text);
    if (shape->min[i] < 0 || strncmp(*text, "..", 2))
        return shape->min[i] < 0 ? -1 : 0;
    *text += 2;
    shape->dims[i] = read_size(text);
    shape->is_range |= shape->dims[i] > shape->min[i];
    return shape->dims[i] < shape->min[i] ? -1 : 0;
}

// Terms that are not empty, between '+'.
static int read_sum(cli_shape *shape, const char *text)
{
    if (strlen(text) >= sizeof(shape->sum))
        return -1;
    strcpy(shape->sum, text);
    for (const char *term = text; term; term = strchr(term, '+') ? strchr(term, '+') + 1 : NULL)
        if (strspn(term, " ") == strcspn(term, "+"))
            return -1;
    return 0;
}

int cli_shape_is_reversed(const cli_shape *shape)
{
    const int last = shape->ndim - 1;
    return last >= 0 && shape->dims[last] >= 0 && shape->dims[last] < shape->min[last];
}

int cli_shape_read(cli_shape *shape, const char *text)
{
    shape->ndim = 0;
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text || equals - text >= LN_MAX_NAME_LEN)
        return -1;
    memcpy(shape->name, text, (size_t)(equals - text));
    shape->name[equals - text] = '\0';
    shape->is_range = 0;
    shape->sum[0] = '\0';
    text = equals;
    if (strchr(equals, '+'))
        return read_sum(shape, equals + 1);
    while (*text && shape->ndim < LN_MAXDIM) {
        text++;
        if (read_dim(shape, &text) || (*text && *text != 'x'))
            return -1;
    }
    return *text ? -1 : 0;
}
