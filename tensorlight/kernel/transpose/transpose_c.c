// SPDX-License-Identifier: Apache-2.0
// Transposition in plain C, for every size of element.

#ifndef T // once

#include "kernel/transpose/transpose.h"

#include <stdint.h>
#include <string.h>

// Columns at a time: the lines of src that they touch stay in the cache from row to row.
enum { TILE = 32 };

enum { IS_LITTLE_ENDIAN = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

// GCC would exchange parts of words in vectors of two, which takes three times as long.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-slp-vectorize")
#endif

// A copy serves all types of its size, such as TL_FLOAT.
#define TL_TUNED_ALL
#define TL_TEMPLATE "kernel/transpose/transpose_c.c"
#include "tensor/tl_each_uint.inc.h"

#else // for each type

// Vectors of `few` elements, a constant, with element k at src[i * src_step + k * src_stride].
TL_INLINE void NAME(transpose_few, c)(const T *restrict src, size_t src_step, size_t src_stride,
                                      T *restrict dst, size_t dst_step, size_t dst_stride,
                                      size_t few, size_t many)
{
    for (size_t i = 0; i < many; i++)
        for (size_t k = 0; k < few; k++)
            dst[i * dst_step + k * dst_stride] = src[i * src_step + k * src_stride];
}

TL_INLINE void NAME(split, c)(const T *src, T *dst, size_t dst_stride, size_t few, size_t many)
{
    NAME(transpose_few, c)(src, few, 1, dst, 1, dst_stride, few, many);
}

TL_INLINE void NAME(interleave, c)(const T *src, size_t src_stride, T *dst, size_t few, size_t many)
{
    NAME(transpose_few, c)(src, 1, src_stride, dst, few, 1, few, many);
}

// Channels that are side by side in src or dst, as many as images and boxes have. Returns 0 if
// there are others.
static int NAME(transpose_channels, c)(const T *src, size_t src_stride, T *dst, size_t dst_stride,
                                       size_t rows, size_t cols)
{
    if (rows == src_stride && rows == 2)
        NAME(split, c)(src, dst, dst_stride, 2, cols);
    else if (rows == src_stride && rows == 3)
        NAME(split, c)(src, dst, dst_stride, 3, cols);
    else if (rows == src_stride && rows == 4)
        NAME(split, c)(src, dst, dst_stride, 4, cols);
    else if (cols == dst_stride && cols == 2)
        NAME(interleave, c)(src, src_stride, dst, 2, rows);
    else if (cols == dst_stride && cols == 3)
        NAME(interleave, c)(src, src_stride, dst, 3, rows);
    else if (cols == dst_stride && cols == 4)
        NAME(interleave, c)(src, src_stride, dst, 4, rows);
    else
        return 0;
    return 1;
}

// Squares of small elements, whose rows are words: halves of the square's rows are exchanged, then
// halves of halves. Element 0 is in the lowest bits.
TL_INLINE void NAME(transpose_square, c)(const T *src, size_t src_stride, T *dst, size_t dst_stride)
{
    enum { N = sizeof(uint64_t) / sizeof(T) };
    uint64_t x[N];
    for (size_t k = 0; k < N; k++)
        memcpy(&x[k], src + k * src_stride, sizeof(*x));
    uint64_t mask = ~(uint64_t)0;
    for (size_t half = N / 2; half > 0; half /= 2) {
        const size_t bits = half * 8 * sizeof(T);
        mask ^= mask << bits;
        for (size_t k = 0; k < N; k++) {
            if (k & half)
                continue;
            const uint64_t swapped = ((x[k] >> bits) ^ x[k + half]) & mask;
            x[k + half] ^= swapped;
            x[k] ^= swapped << bits;
        }
    }
    for (size_t k = 0; k < N; k++)
        memcpy(dst + k * dst_stride, &x[k], sizeof(*x));
}

static void NAME(transpose_any, c)(const T *src, size_t src_stride, T *dst, size_t dst_stride,
                                   size_t rows, size_t cols)
{
    for (size_t begin = 0; begin < cols; begin += TILE) {
        const size_t end = cols - begin < TILE ? cols : begin + TILE;
        for (size_t r = 0; r < rows; r++)
            for (size_t c = begin; c < end; c++)
                dst[r * dst_stride + c] = src[c * src_stride + r];
    }
}

void NAME(tl_transpose, c)(const void *src, size_t src_stride, void *dst, size_t dst_stride,
                           size_t rows, size_t cols)
{
    const T *const s = src;
    T *const d = dst;
    if (NAME(transpose_channels, c)(s, src_stride, d, dst_stride, rows, cols))
        return;
    const size_t square = sizeof(T) <= 2 && IS_LITTLE_ENDIAN ? sizeof(uint64_t) / sizeof(T) : 1;
    const size_t whole_rows = square > 1 ? rows / square * square : 0;
    const size_t whole_cols = square > 1 ? cols / square * square : 0;
    for (size_t c = 0; c < whole_cols; c += square)
        for (size_t r = 0; r < whole_rows; r += square)
            NAME(transpose_square, c)
    (s + c * src_stride + r, src_stride, d + r * dst_stride + c, dst_stride);
    NAME(transpose_any, c)
    (s + whole_cols * src_stride, src_stride, d + whole_cols, dst_stride, whole_rows,
     cols - whole_cols);
    NAME(transpose_any, c)
    (s + whole_rows, src_stride, d + whole_rows * dst_stride, dst_stride, rows - whole_rows, cols);
}

#endif
