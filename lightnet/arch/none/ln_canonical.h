// SPDX-License-Identifier: Apache-2.0
// A rule about operators of the catalogue, written by hand: it also holds for the reference program
// (identity.opt).

#ifndef LN_CANONICAL_H
#define LN_CANONICAL_H

#include "lightnet/ln_arch.h"

/** An operator of the catalogue becomes the general one that computes the same. */
ln_list *ln_canonical(const ln_context *ctx, ln_list **old_ops);

#endif
