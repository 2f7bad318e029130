// SPDX-License-Identifier: Apache-2.0
// The hash function FNV-1a, of 32 and of 64 bits. Source: RFC 9923.

#ifndef LN_FNV_H
#define LN_FNV_H

#include <stddef.h>
#include <stdint.h>

/** The hash of `size` bytes. */
uint32_t ln_fnv32(const void *data, size_t size);
uint64_t ln_fnv64(const void *data, size_t size);

/** The hash of bytes that begin with those of `hash` and end with the `size` bytes at `data`. */
uint64_t ln_fnv64_more(uint64_t hash, const void *data, size_t size);

#endif
