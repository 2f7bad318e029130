// SPDX-License-Identifier: Apache-2.0
// A rule about joins, written by hand, since they have any number of inputs (graph.opt).

#ifndef LN_JOIN_H
#define LN_JOIN_H

#include "lightnet/ln_arch.h"

/** join_cpu takes its inputs (join_nocopy_cpu) where they lie beside each other in its output, each
 *  fills whole lines of a cache, and nobody else has a say in where they lie. */
ln_list *ln_join_without_copy(const ln_context *ctx, ln_list **old_ops);

#endif
