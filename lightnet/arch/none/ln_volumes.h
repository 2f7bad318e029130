// SPDX-License-Identifier: Apache-2.0
// A rule for convolutions over three axes, hand-written, since it creates one operator per depth
// index of the kernel (lines.opt).

#ifndef LN_VOLUMES_H
#define LN_VOLUMES_H

#include "lightnet/ln_arch.h"

/** Replaces convnd and deconvnd of floats over three axes, with constant weights, by convolutions
 * of images; a transposed one must not have dilation along the depth. */
ln_list *ln_volumes_as_images(const ln_context *ctx, ln_list **old_ops);

#endif
