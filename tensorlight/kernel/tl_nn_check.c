// SPDX-License-Identifier: Apache-2.0
// Checks shared by public neural-network functions.

#include "kernel/tl_nn_check.h"

#include "tensor/tl_result.h"

int tl_check_input(const tl_tensor *t, const char *name, int ndim)
{
    char text[TL_SHAPE_TEXT_SIZE];
    if (tl_check_data(t, name) < 0)
        return -1;
    if (t->ndim != ndim)
        return tl_fail("'%s' has shape %s, expected %d dimensions", name,
                       tl_shape_text(text, t->ndim, t->dims), ndim);
    return 0;
}

int tl_check_vector(const tl_tensor *t, const char *name, const tl_tensor *like, int len)
{
    return tl_check_given(t, name, 1, &len, like->dtype);
}

int tl_check_at_least(const char *name, const int *values, int n, int least)
{
    if (n == 1 && *values < least)
        return tl_fail("'%s' is %d, expected at least %d", name, *values, least);
    for (int i = 0; i < n; i++)
        if (values[i] < least)
            return tl_fail("'%s' has %d at index %d, expected at least %d", name, values[i], i,
                           least);
    return 0;
}
