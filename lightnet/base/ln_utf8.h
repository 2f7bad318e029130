// SPDX-License-Identifier: Apache-2.0
// Valid UTF-8, as RFC 3629 defines it.

#ifndef LN_UTF8_H
#define LN_UTF8_H

#include <stddef.h>

/** The length of the valid UTF-8 sequence at `p`, of at most `left` bytes (at least 1); 0: there is
 * none (also for surrogates and overlong forms). */
size_t ln_utf8_length(const unsigned char *p, size_t left);

#endif
