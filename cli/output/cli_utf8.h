// SPDX-License-Identifier: Apache-2.0
// Text as UTF-8.

#ifndef CLI_UTF8_H
#define CLI_UTF8_H

#include <stdint.h>

/** Decodes the character at `text`, which ends with a 0, to *c. Returns its bytes; invalid UTF-8
 * (RFC 3629): 1, and *c is 0. */
int cli_utf8_decode(const char *text, uint32_t *c);

#endif
