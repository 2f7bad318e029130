// SPDX-License-Identifier: Apache-2.0
// Models in the intermediate language, which the library does not read.

#pragma once

#include "lightnet/ln_context.h"

/** Reads the model in the file `source`, not a stream, into an empty context, if it is in IL.
 * Returns 0; 1: it is not, or the file cannot be read; -1 with the reason in the context. */
int cli_il_read_file(ln_context *ctx, const char *source);

/** The same with `len` bytes in memory; `name` is the file's name in messages. */
int cli_il_read_text(ln_context *ctx, const char *name, const char *text, size_t len);

/** Whether the file `source`, not a stream, is an IL model. */
int cli_il_is_file(const char *source);

/** Whether `format` is the name of IL. */
int cli_il_is_format(const char *format);

/** Whether this build can write IL. */
int cli_il_can_write(void);

/** Writes the context's model, not compiled, to `file`, as ln_context_write does. -1 with the
 * reason in the context. */
int cli_il_write(ln_context *ctx, const char *file);
