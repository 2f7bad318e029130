// SPDX-License-Identifier: Apache-2.0
// The padding of convolutions and pools, for rules that need to know it.

#ifndef LN_PADDING_H
#define LN_PADDING_H

#include "lightnet/ln_op.h"
#include "lightnet/ln_tensor.h"

/** The padding of a convolution or a pool whose images [N, C, H, W] are `src`, as its autopad says:
 *  top, left, bottom, right. Returns `padding`. */
const int *ln_padding_of(const ln_op *op, const ln_tensor_entry *src, int padding[4]);

/** The same of a transposed convolution: what it cuts off its result. */
const int *ln_deconv_padding_of(const ln_op *op, const ln_tensor_entry *src, int padding[4]);

#endif
