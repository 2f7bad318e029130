// SPDX-License-Identifier: Apache-2.0
// Where windows meet what they slide over: the arithmetic of strides and borders.

#ifndef TL_WINDOW_H
#define TL_WINDOW_H

#include <stdint.h>

/** The smallest k >= 0 with k * stride >= x. */
static inline int64_t tl_window_first(int64_t x, int stride)
{
    if (x <= 0)
        return 0;
    return stride == 1 ? x : (x - 1) / stride + 1; // stride 1 is frequent and a division slow
}

/** The k of 0 .. n-1 with 0 <= k * stride + offset < limit are *begin .. *end-1 (none: *begin ==
 *  *end). */
static inline void tl_window_hits(int n, int stride, int64_t offset, int64_t limit, int *begin,
                                  int *end)
{
    const int64_t first = tl_window_first(-offset, stride);
    const int64_t last = tl_window_first(limit - offset, stride);
    *end = (int)(last < n ? last : n);
    *begin = (int)(first < *end ? first : *end);
}

#endif
