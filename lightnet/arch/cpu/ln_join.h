// SPDX-License-Identifier: Apache-2.0
// A rule for joins, hand-written, since they have any number of inputs (graph.opt).

#ifndef LN_JOIN_H
#define LN_JOIN_H

#include "lightnet/ln_arch.h"

/** Replaces join_cpu by join_nocopy_cpu, whose inputs are computed in its output, if they are
 * contiguous there, consist of whole cache lines, and are not placed by another operator. */
ln_list *ln_join_without_copy(const ln_context *ctx, ln_list **old_ops);

#endif
