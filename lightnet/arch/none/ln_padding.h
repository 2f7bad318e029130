// SPDX-License-Identifier: Apache-2.0
// The padding of convolutions and pools, for rules.

#pragma once

#include "lightnet/ln_op.h"
#include "lightnet/ln_tensor.h"

/** The padding of a convolution or a pool of images `src` [N, C, H, W], by its autopad: top, left,
 * bottom, right. Returns `padding`. */
const int *ln_padding_of(const ln_op *op, const ln_tensor_entry *src, int padding[4]);

/** The same for a transposed convolution: the crop of its result. */
const int *ln_deconv_padding_of(const ln_op *op, const ln_tensor_entry *src, int padding[4]);
