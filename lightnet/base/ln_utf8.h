// SPDX-License-Identifier: Apache-2.0
// Valid UTF-8, as RFC 3629 defines it.

#pragma once

#include <stddef.h>
#include <stdint.h>

/** The length of the valid UTF-8 sequence at `p`, of at most `left` bytes (at least 1); 0: none
 * (also for surrogates and overlong forms). */
size_t ln_utf8_length(const unsigned char *p, size_t left);

/** The length of the longest valid UTF-8 at the beginning of the `size` bytes: `size` if all are
 * valid. */
size_t ln_utf8_prefix(const char *bytes, size_t size);

/** The code point of the sequence at `p`, of at most `left` bytes (at least 1), and *n, its length.
 * An invalid byte is itself, of length 1. */
uint32_t ln_utf8_get(const unsigned char *p, size_t left, size_t *n);

/** Writes the sequence of code point `c`. Returns its length; 0: no such character. */
size_t ln_utf8_put(char bytes[4], uint32_t c);
