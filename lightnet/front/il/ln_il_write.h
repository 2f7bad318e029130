// SPDX-License-Identifier: Apache-2.0
// Writes a context as IL.

#ifndef LN_IL_WRITE_H
#define LN_IL_WRITE_H

#include "lightnet/ln_context.h"

/** Writes what ln_context_print writes as IL to `file` ("-": standard output), without macros;
 *  reading it gives the same again. -1 with the reason in the context: the file is as before. */
int ln_il_write(ln_context *ctx, const char *file);

#endif
