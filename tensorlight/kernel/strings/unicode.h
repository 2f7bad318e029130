// SPDX-License-Identifier: Apache-2.0
// Unicode character classes.

#pragma once

#include <stddef.h>
#include <stdint.h>

/** Characters from `first` to `last`. */
typedef struct tl_char_range {
    uint32_t first, last;
} tl_char_range;

/** The sorted ranges of a class, and *n, their number: a general category (L, N, P, Z) or a script
 *  (Latin, Greek, Cyrillic, Han). NULL: an unknown name. Returns borrowed, forever. */
const tl_char_range *tl_char_class(const char *name, size_t len, size_t *n);
