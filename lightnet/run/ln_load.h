// SPDX-License-Identifier: Apache-2.0
// Loading a compiled context: memory, data from a file, and everything that is computed only once.

#ifndef LN_LOAD_H
#define LN_LOAD_H

#include "run/ln_constants.h"
#include "lightnet/ln_context.h"

/** As ln_context_load; `watch` (or NULL) sees what is computed once. */
int ln_load(ln_context *ctx, const char *datafile, const ln_constants_watch *watch);

#endif
