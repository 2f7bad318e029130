// SPDX-License-Identifier: Apache-2.0
// A rule for recurrent networks, hand-written, since any of their outputs may be absent
// (graph.opt).

#ifndef LN_CELLS_H
#define LN_CELLS_H

#include "lightnet/ln_arch.h"

/** Replaces recurrent_cpu of floats with constant weights and default activations by
 * recurrent_pack_cpu and recurrent_packed_cpu. */
ln_list *ln_cells_in_blocks(const ln_context *ctx, ln_list **old_ops);

#endif
