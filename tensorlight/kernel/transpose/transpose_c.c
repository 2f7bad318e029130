// SPDX-License-Identifier: Apache-2.0
// Transposition in plain C, for every size of element.

#ifndef T // once

#include "kernel/transpose/transpose.h"

#include <stdint.h>

// Columns at a time: the lines of src that they touch stay in the cache from row to row.
enum { TILE = 32 };

// A copy serves all types of its size, such as TL_FLOAT.
#define TL_TUNED_ALL
#define TL_TEMPLATE "kernel/transpose/transpose_c.c"
#include "tensor/tl_each_uint.inc.h"

#else // for each type

void NAME(tl_transpose, c)(const void *src, size_t src_stride, void *dst, size_t dst_stride,
                           size_t rows, size_t cols)
{
    const T *const s = src;
    T *const d = dst;
    for (size_t begin = 0; begin < cols; begin += TILE) {
        const size_t end = cols - begin < TILE ? cols : begin + TILE;
        for (size_t r = 0; r < rows; r++)
            for (size_t c = begin; c < end; c++)
                d[r * dst_stride + c] = s[c * src_stride + r];
    }
}

#endif
