// SPDX-License-Identifier: Apache-2.0
// The rule that replaces operators by general ones, such as relu by unary. The reference program
// applies it, too (identity.opt).

#ifndef LN_CANONICAL_H
#define LN_CANONICAL_H

#include "lightnet/ln_arch.h"

/** A subgraph function (ln_arch.h): replaces one operator by the general one of equal results. */
ln_list *ln_canonical(const ln_context *ctx, ln_list **old_ops);

#endif
