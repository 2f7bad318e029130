// SPDX-License-Identifier: Apache-2.0
// Tensors as text: nested brackets, one line per innermost row.
//
//     [[[[0 1]]
//       [[2 3]]]
//      [[[4 5]]
//       [[6 7]]]]

#include <errno.h>
#include <string.h>

#include "tensor/tl_result.h"

// How many of the last axes end with element `index`: its successor begins a new row in each.
static int closed_axes(const tl_tensor *t, int index)
{
    int n = 0;
    int next = index + 1;
    for (int i = t->ndim - 1; i >= 0 && next % t->dims[i] == 0; i--, n++)
        next /= t->dims[i];
    return n;
}

static void print_char(FILE *stream, char c, int times)
{
    for (int i = 0; i < times; i++)
        putc(c, stream);
}

static int print_elements(FILE *stream, const tl_tensor *t, const char *fmt)
{
    const tl_fprintf_func print = tl_fprintf_getfunc(t->dtype);
    print_char(stream, '[', t->ndim);
    for (int i = 0; i < t->len; i++) {
        if (print(stream, fmt, tl_pointer_add(t->data, i, t->dtype)) < 0)
            return -1;
        const int closed = closed_axes(t, i);
        const int is_last = i == t->len - 1;
        print_char(stream, ']', closed);
        if (closed && !is_last) {
            putc('\n', stream);
            print_char(stream, ' ', t->ndim - closed);
            print_char(stream, '[', closed);
        } else if (!is_last) {
            putc(' ', stream);
        }
    }
    return 0;
}

int tl_tensor_fprint(FILE *stream, const tl_tensor *t, const char *fmt)
{
    if (tl_check_elements(t, "t") < 0)
        return -1;
    if (!stream)
        return tl_fail("'stream' is NULL, expected a stream");
    if (t->len == 0) {
        print_char(stream, '[', t->ndim);
        print_char(stream, ']', t->ndim);
    } else if (print_elements(stream, t, fmt) < 0) {
        return -1;
    }
    putc('\n', stream);
    return ferror(stream) ? tl_fail("cannot write a tensor") : 0;
}

int tl_tensor_print(const tl_tensor *t, const char *fmt)
{
    return tl_tensor_fprint(stdout, t, fmt);
}

int tl_tensor_save(const char *file, const tl_tensor *t, const char *fmt)
{
    if (!file)
        return tl_fail("'file' is NULL, expected a path");
    FILE *const stream = fopen(file, "w");
    if (!stream)
        return tl_fail("cannot open '%s': %s", file, strerror(errno));
    const int status = tl_tensor_fprint(stream, t, fmt);
    if (status < 0)
        tl_fail("'%s': %s", file, tl_last_error());
    if (fclose(stream) != 0 && status == 0)
        return tl_fail("cannot write '%s': %s", file, strerror(errno));
    return status;
}
