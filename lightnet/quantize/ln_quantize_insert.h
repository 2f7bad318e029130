// SPDX-License-Identifier: Apache-2.0
// Putting quantization into a model that is read, not compiled:
//
//     x ─▶ quantize ─▶ dequantize ─▶ conv2d ─▶ ...      x: 8 bits, one scale
//     weight (TL_INT8) ─▶ dequantize ──┘                a scale for each output channel
//
// Rules of a target compute what lies between these operators with integers. Readers of x that are
// not quantized read x. The time is linear in the size of the model.

#ifndef LN_QUANTIZE_INSERT_H
#define LN_QUANTIZE_INSERT_H

#include "lightnet/ln_context.h"
#include "lightnet/ln_hash.h"
#include "quantize/ln_quantize_layers.h"

/** Quantizes each layer i with is_on[i], which is usable (is_on NULL: none). The context's weights
 * get those of 8 bits. Enters into `weights`, whose keys are freed by ln_free, the tensor that has
 * the weight of each layer, with the number of the layer, from 1. -1 with the reason in the
 * context, which can only be cleaned up. */
int ln_quantize_insert(ln_context *ctx, const ln_quantize_layers *layers, const char *is_on,
                       ln_hash *weights);

#endif
