// SPDX-License-Identifier: Apache-2.0
// The operators of a context: entering, leaving and replacing them, with everything that must
// follow. See ln_context.h.

#ifndef LN_CONTEXT_OPS_H
#define LN_CONTEXT_OPS_H

#include "lightnet/ln_context.h"

/** As ln_context_subgraph; `*next` is then the node from which to look on: that of the first new
 * operator, or of the one after the old. NULL at the end. */
int ln_context_substitute(ln_context *ctx, ln_list *old_ops, ln_list *new_ops, ln_list **next);

#endif
