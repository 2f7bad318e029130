// SPDX-License-Identifier: Apache-2.0
// Writes JSON IR as IL.

#ifndef LN_IL_WRITE_H
#define LN_IL_WRITE_H

#include <stddef.h>

#include "lightnet/ln_msg.h"

/** Writes JSON IR that the library has written, `len` bytes, as IL to `file` ("-": standard
 * output), without macros; reading it gives the same again. -1 with a reason: the file is as
 * before. */
int ln_il_write(const char *json, size_t len, const char *file, ln_error *err);

#endif
