// SPDX-License-Identifier: Apache-2.0
// The hash function FNV-1a, of 32 and of 64 bits. Source: RFC 9923.

#pragma once

#include <stddef.h>
#include <stdint.h>

/** Extends `hash`, that of the bytes so far, by `size` bytes: ln_fnv64 of all of them. */
static inline uint64_t ln_fnv64_more(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *const bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3;
    return hash;
}

/** The hash of `size` bytes. */
static inline uint64_t ln_fnv64(const void *data, size_t size)
{
    return ln_fnv64_more(0xcbf29ce484222325, data, size);
}

static inline uint32_t ln_fnv32(const void *data, size_t size)
{
    const unsigned char *const bytes = data;
    uint32_t hash = 0x811c9dc5;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x01000193;
    return hash;
}
