// SPDX-License-Identifier: Apache-2.0
// Characters of strings, which are UTF-8.

#pragma once

#include <stddef.h>
#include <stdint.h>

/** The code point at `p`, before `end`, and *n, the bytes of its sequence. A byte that begins no
 *  valid sequence is a separate character: itself, of 1 byte. */
uint32_t tl_char_at(const char *p, const char *end, size_t *n);
