// SPDX-License-Identifier: Apache-2.0
// A rule about convolutions over three axes, written by hand, since it makes as many operators as
// kernels are deep (lines.opt).

#ifndef LN_VOLUMES_H
#define LN_VOLUMES_H

#include "lightnet/ln_arch.h"

/** convnd and deconvnd of floats over three axes, with constant weights, become convolutions of
 *  images, of which a transposed one may have no dilation along the depth. */
ln_list *ln_volumes_as_images(const ln_context *ctx, ln_list **old_ops);

#endif
