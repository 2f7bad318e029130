// SPDX-License-Identifier: Apache-2.0
// Template: transposition in plain C for one size of element.

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
