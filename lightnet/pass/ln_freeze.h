// SPDX-License-Identifier: Apache-2.0
// Freezing: a compiled program gets the results of its static work in place of that work.
//
//     weight ─▶ fold ─▶ pack ─▶ conv2d ─▶ ...        weight, folded: only loading reads them
//     packed ─────────────────▶ conv2d ─▶ ...        frozen: `packed` comes from the model's own
//     file
//
// An operator that runs at load becomes a source of its results, unless these are much larger than
// what it reads, as transformed weights are: then it stays, since computing takes less time than
// reading. Whatever nothing reads any more leaves the program, and the memory is planned anew.
//
// Left as they are: results that depend on the seed of random numbers, whose sizes are known when
// they are computed only, or that are outputs of the model. What has left the program is noted,
// with a hash of its value, as what the program was made for (ln_fixed.h).

#ifndef LN_FREEZE_H
#define LN_FREEZE_H

#include "lightnet/ln_context.h"

/** Freezes a compiled context that is not loaded; `datafile` as for ln_context_load. Afterwards
 * ctx->weights has copies of all data that the program takes from files. -1 with a reason: the
 * context is as before, or empty. */
int ln_freeze(ln_context *ctx, const char *datafile);

#endif
