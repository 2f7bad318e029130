// SPDX-License-Identifier: Apache-2.0
// Copies of blocks that are too short for calls of memcpy: as words, the last of which may overlap
// the one before it.

#include <string.h>

#include "kernel/move/move.h"
#include "kernel/tl_kernel.h"

// Longer blocks are copied by memcpy.
enum { MAX_SIZE = 256 };

// A block of at least `word` bytes, a constant.
TL_INLINE void copy_block(char *dst, const char *src, size_t size, size_t word)
{
    for (size_t i = 0; i + word < size; i += word)
        memcpy(dst + i, src + i, word);
    memcpy(dst + size - word, src + size - word, word);
}

TL_INLINE void copy_all(tl_strided dst, tl_strided src, size_t n, size_t size, size_t word)
{
    char *to = dst.data;
    const char *from = src.data;
    for (size_t i = 0; i < n; i++, to += dst.stride, from += src.stride)
        copy_block(to, from, size, word);
}

void tl_copy_blocks(tl_strided dst, tl_strided src, size_t n, size_t size)
{
    if (size > MAX_SIZE)
        for (size_t i = 0; i < n; i++)
            memcpy((char *)dst.data + (ptrdiff_t)i * dst.stride,
                   (const char *)src.data + (ptrdiff_t)i * src.stride, size);
    else if (size == 8)
        copy_all(dst, src, n, 8, 8);
    else if (size == 4)
        copy_all(dst, src, n, 4, 4);
    else if (size >= 16)
        copy_all(dst, src, n, size, 16);
    else if (size > 8)
        copy_all(dst, src, n, size, 8);
    else if (size > 4)
        copy_all(dst, src, n, size, 4);
    else if (size >= 2)
        copy_all(dst, src, n, size, 2);
    else if (size == 1)
        copy_all(dst, src, n, 1, 1);
}
