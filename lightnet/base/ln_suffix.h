// SPDX-License-Identifier: Apache-2.0
// Suffixes of texts and file names.

#ifndef LN_SUFFIX_H
#define LN_SUFFIX_H

#include <stddef.h>

/** Whether the `len` bytes of `text` end with `end`, or are `end`. */
int ln_ends_with(const char *text, size_t len, const char *end);

/** Whether the name of `file`, without its folders, ends with `suffix` and has characters before
 * it: the hidden file "models/.json" has no suffix. */
int ln_has_suffix(const char *file, const char *suffix);

#endif
