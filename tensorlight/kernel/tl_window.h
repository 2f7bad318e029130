// SPDX-License-Identifier: Apache-2.0
// The arithmetic of strides and borders of sliding windows.

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

/** The elements of src and dst for a tap along one axis: for k = begin .. end-1 the element
 * k * src_step + src_offset of src adds to the element k * acc_step + acc_offset of the
 * run. */
typedef struct tl_window_meeting {
    int begin, end;
    int64_t src_step, src_offset;
    int64_t acc_step, acc_offset;
} tl_window_meeting;

/** Of `len` positions from `start`, over `in` elements of src. shift: tap * dilation - padding.
 * Transposed, the windows slide over dst. */
static inline tl_window_meeting tl_window_meet(int is_transposed, int in, int stride, int64_t shift,
                                               int start, int len)
{
    tl_window_meeting m = {.src_step = 1, .acc_step = 1};
    if (is_transposed) {
        m.acc_step = stride;
        m.acc_offset = shift - start;
        tl_window_hits(in, stride, m.acc_offset, len, &m.begin, &m.end);
    } else {
        m.src_step = stride;
        m.src_offset = (int64_t)start * stride + shift;
        tl_window_hits(len, stride, m.src_offset, in, &m.begin, &m.end);
    }
    return m;
}

#endif
