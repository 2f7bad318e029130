// SPDX-License-Identifier: Apache-2.0
// What is computed once: constants, when a context is loaded, and again when one of them was set.

#ifndef LN_CONSTANTS_H
#define LN_CONSTANTS_H

#include "lightnet/ln_context.h"

/* Who is told of each operator when it has been prepared and its outputs hold what it makes once.
 */
typedef struct ln_constants_watch {
    int (*func)(const ln_context *ctx, const ln_op *op, void *data); /* -1 ends it: a failure */
    void *data;
} ln_constants_watch;

/** Prepares all operators and runs those that run at load, in list order, so that each finds what
 *  the ones before it computed. Data of files is fetched when it is read first. Once
 *  more with `again`: tensors without inputs then keep what they hold, which may have been set.
 *  `watch` NULL: nobody is told. -1 with a reason in the context. */
int ln_constants_compute(const ln_context *ctx, int again, const ln_constants_watch *watch);

/** Reads what files have for constants that runs read, or that may be set, to their memory. -1 with
 *  a reason in the context: a file cannot be read. */
int ln_constants_fetch(const ln_context *ctx);

/** Reads what files or callers have given for the tensor to its memory; 0 where there is nothing.
 * -1 with a reason in the context: a file cannot be read. */
int ln_constants_fetch_tensor(const ln_context *ctx, ln_tensor_entry *te);

/** Lets the system have the memory that only loading needed. */
void ln_constants_release(const ln_context *ctx);

/** As ln_context_load; `watch` (or NULL) sees what is computed once. */
int ln_load(ln_context *ctx, const char *datafile, const ln_constants_watch *watch);

#endif
