// SPDX-License-Identifier: Apache-2.0
// Reading a model into a context: see ln_context_init.

#ifndef LN_READ_H
#define LN_READ_H

#include "base/ln_infile.h"
#include "front/ln_front.h"
#include "lightnet/ln_context.h"

/** As ln_context_init, from an open file, called `name` in messages, which may be taken: it is left
 * all zero then. */
int ln_context_init_file(ln_context *ctx, const char *name, ln_infile *file);

/** Reads JSON IR, called `name` in messages, into a context that has nothing but a source yet. -1
 * with a reason: the caller cleans it up. */
int ln_context_read_ir(ln_context *ctx, const char *name, const char *text, size_t len);

/** As ln_context_init, from a model that `front` has parsed, called `name` in messages. */
int ln_context_init_parsed(ln_context *ctx, const char *name, const ln_front *front,
                           const void *parsed);

#endif
