// SPDX-License-Identifier: Apache-2.0
// Shared by operators and rules for bfloat16 (blocked.op, blocked_halves.opt).

#ifndef LN_HALVES_H
#define LN_HALVES_H

#include <stddef.h>

#include "lightnet/ln_context.h"

/** Elements of a row of packed weights for a source in planes or blocks, of floats or bfloat16. */
size_t ln_blocked_conv2d_row(const tl_tensor *src, int channels, const int size[2]);

/** Whether operators may compute with bfloat16: the caller allows it, and the CPU supports it. */
int ln_may_compute_in_halves(const ln_context *ctx);

/** Whether all readers of the float tensor round it to bfloat16, or are blocked convolutions that
 * add it to their sums. 0 also for lack of memory. */
int ln_is_read_as_halves(const ln_context *ctx, const ln_tensor_entry *te);

#endif
