// SPDX-License-Identifier: Apache-2.0
// What operators and rules of bfloat16 share (blocked.op, blocked_halves.opt).

#ifndef LN_HALVES_H
#define LN_HALVES_H

#include <stddef.h>

#include "lightnet/ln_context.h"

/** Elements of a row of packed weights for a source in planes or blocks, of floats or bfloat16. */
size_t ln_blocked_conv2d_row(const tl_tensor *src, int channels, const int size[2]);

/** Whether operators may compute with bfloat16: the caller allows it, and the CPU multiplies it. */
int ln_may_compute_in_halves(const ln_context *ctx);

/** Whether all that reads the tensor of floats rounds it to bfloat16, or is a convolution in blocks
 *  that adds it to its sums. 0 also when there is no memory to tell. */
int ln_is_read_as_halves(const ln_context *ctx, const ln_tensor_entry *te);

#endif
