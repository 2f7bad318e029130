// SPDX-License-Identifier: Apache-2.0
// Rules that join, split and pick channels in blocks of 16: hand-written, since their operators
// have any number of tensors (blocked.opt).

#ifndef LN_BLOCKED_PICK_H
#define LN_BLOCKED_PICK_H

#include "lightnet/ln_arch.h"

/** join_cpu of channels, one source at least from blocks: joins blocks if all sources except the
 * last have full blocks, otherwise picks. */
ln_list *ln_join_in_blocks(const ln_context *ctx, ln_list **old_ops);

/** split_cpu of channels from blocks: a pick for each part. */
ln_list *ln_split_in_blocks(const ln_context *ctx, ln_list **old_ops);

/** pick_blocked_cpu of other picks: one pick from their sources, unless there are too many. */
ln_list *ln_pick_of_picks(const ln_context *ctx, ln_list **old_ops);

#endif
