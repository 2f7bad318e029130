// SPDX-License-Identifier: Apache-2.0
// Numbers in files whose lowest byte comes first.

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** The number in `size` bytes, at most 8. */
static inline uint64_t ln_little_endian_get(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;
    while (size-- > 0)
        value = value << 8 | bytes[size];
    return value;
}

/** Writes a number of `size` bytes, at most 8. The caller checks the stream. */
static inline void ln_little_endian_put(FILE *stream, uint64_t value, size_t size)
{
    for (; size > 0; size--, value >>= 8)
        fputc((int)(value & 0xff), stream);
}
