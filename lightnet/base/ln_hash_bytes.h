// SPDX-License-Identifier: Apache-2.0
// A seeded hash of untrusted bytes, for keys of hash tables.

#pragma once

#include <stddef.h>
#include <stdint.h>

/** Differs between processes, so that a file cannot contain keys of equal hashes. */
uint32_t ln_hash_bytes(const void *data, size_t len);
