// SPDX-License-Identifier: Apache-2.0
// Selection of the fastest algorithm (ln_context_set_tuning).

#ifndef LN_TUNED_H
#define LN_TUNED_H

#include "lightnet/ln_context.h"
#include "tensorlight/tl_nn.h"

/** The fastest tiles for a blocked convolution of an image [N, C, H, W], as tl_blocked_conv2d_best:
 * measured if the context enables it, once for each shape. */
int ln_tuned_conv2d(const ln_context *ctx, const int src[4], const int dst[4],
                    const tl_conv2d_param *param);

/** The same for 8-bit integers, as tl_quantized_conv2d_best: never measured. */
int ln_quantized_conv2d_tile(const ln_context *ctx, const int src[4], const int dst[4],
                             const tl_conv2d_param *param);

#endif
