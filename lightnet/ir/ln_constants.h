// SPDX-License-Identifier: Apache-2.0
// What is computed once: constants, when a context is loaded, and again when one of them was set.

#ifndef LN_CONSTANTS_H
#define LN_CONSTANTS_H

#include "lightnet/ln_context.h"

/** Prepares all operators and runs those that run at load, in list order, so that each finds what
 *  the ones before it computed. Data of files is fetched when it is read first. Once
 *  more with `again`: tensors without inputs then keep what they hold, which may have been set.
 *  -1 with a reason in the context. */
int ln_constants_compute(const ln_context *ctx, int again);

/** Copies what files have for constants that runs read, or that may be set, to their memory. */
void ln_constants_fetch(const ln_context *ctx);

/** Lets the system have the memory that only loading needed. */
void ln_constants_release(const ln_context *ctx);

#endif
