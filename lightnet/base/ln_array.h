// SPDX-License-Identifier: Apache-2.0
// Arrays that grow by one element at a time. The capacity follows from the length: a power of two.

#pragma once

#include <string.h>

#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"

/** Makes room for an element of `size` bytes after the `n` existing ones. `array`: the address of
 * the pointer to the first (NULL: none). -1 with the thread's last error: no memory; it is as
 * before. */
static inline int ln_array_grow(void *array, size_t n, size_t size)
{
    void *at;
    size_t bytes;
    if (n & (n - 1))
        return 0;
    memcpy(&at, array, sizeof(at));
    if (ln_size_mul(n ? 2 * n : 1, size, &bytes))
        return ln_error_set(NULL, "%zu elements of %zu bytes are too many", n, size);
    at = ln_realloc(at, bytes);
    if (!at)
        return -1;
    memcpy(array, &at, sizeof(at));
    return 0;
}
