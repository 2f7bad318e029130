// SPDX-License-Identifier: Apache-2.0
// Checks that bytes of a file are bools.

#include "base/ln_bools.h"

int ln_bools_check(const unsigned char *data, size_t size, size_t first, ln_error *err)
{
    for (size_t i = 0; i < size; i++)
        if (data[i] > 1)
            return ln_error_set(err, "element %zu is the byte %d, expected a bool: 0 or 1",
                                first + i, data[i]);
    return 0;
}

int ln_bools_check_in(const ln_infile *file, size_t offset, size_t size, ln_error *err)
{
    ln_view view = {.file = file};
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < LN_VIEW_SIZE ? size - at : LN_VIEW_SIZE;
        const unsigned char *data = ln_view_at(&view, offset + at, n, err);
        if (!data || ln_bools_check(data, n, at, err))
            return -1;
    }
    return 0;
}
