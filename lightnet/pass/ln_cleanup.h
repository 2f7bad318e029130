// SPDX-License-Identifier: Apache-2.0
// Clean-up between rewrites: dead operators, equal operators, views that change nothing. See
// ln_pass_preprocess in ln_pass.h.

#ifndef LN_CLEANUP_H
#define LN_CLEANUP_H

#include "lightnet/ln_context.h"

/* All return how much they changed, 0 for nothing, or -1 with a reason. */

/** All of them, where the context is to be optimized. */
int ln_cleanup(ln_context *ctx);

/** Removes operators that no output, no effect and no input of the model needs. */
int ln_cleanup_dead(ln_context *ctx);

/** Lets readers of a view with the shape and type of its owner read the owner, and readers of an
 * operator's outputs those of an earlier operator that computes the same. */
int ln_cleanup_replace(ln_context *ctx);

#endif
