// SPDX-License-Identifier: Apache-2.0
// The algorithms and the precision of convolutions in blocks, selected alike by operators
// (blocked.op) and rules (blocked.opt, blocked_halves.opt).

#pragma once

#include <stddef.h>

#include "lightnet/ln_context.h"
#include "tensorlight/tl_nn.h"

// Algorithms (ln_context_set_tuning)

/** The fastest tiles for a blocked convolution of an image [N, C, H, W], as tl_blocked_conv2d_best:
 * measured if the context enables it, once for each shape. */
int ln_tuned_conv2d(const ln_context *ctx, const int src[4], const int dst[4],
                    const tl_conv2d_param *param);

/** The same for 8-bit integers, as tl_quantized_conv2d_best: never measured. */
int ln_quantized_conv2d_tile(const ln_context *ctx, const int src[4], const int dst[4],
                             const tl_conv2d_param *param);

// Bfloat16

/** Elements of a row of packed weights for a source in planes or blocks, of floats or bfloat16. */
size_t ln_blocked_conv2d_row(const tl_tensor *src, int channels, const int size[2]);

/** Whether the context's instruction set has matrix units for bfloat16. */
int ln_has_units_for_halves(const ln_context *ctx);

/** Whether operators may compute with bfloat16: the context's precision allows it, and the CPU has
 * matrix units, or dot products that are fast or requested by LIGHTNET_MAX_ISA=avx512bf16. */
int ln_may_compute_in_halves(const ln_context *ctx);

/** Whether all readers of the float tensor round it to bfloat16, or are blocked convolutions that
 * add it to their sums. 0 also for lack of memory. */
int ln_is_read_as_halves(const ln_context *ctx, const ln_tensor_entry *te);
