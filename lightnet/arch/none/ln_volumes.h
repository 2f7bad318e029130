// SPDX-License-Identifier: Apache-2.0
// A rule about convolutions over three axes, written by hand, since it makes as many operators as
// kernels are deep (volumes.opt).

#ifndef LN_VOLUMES_H
#define LN_VOLUMES_H

#include "lightnet/ln_arch.h"

/** convnd of floats over three axes, with constant weights, becomes convolutions of images. */
ln_list *ln_volumes_as_images(const ln_context *ctx, ln_list **old_ops);

#endif
