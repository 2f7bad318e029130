// SPDX-License-Identifier: Apache-2.0
// Putting quantization into a model that is read, not compiled:
//
//     x ─▶ quantize ─▶ dequantize ─▶ conv2d ─▶ ...      x: 8 bits, one scale
//     weight (TL_INT8) ─▶ dequantize ──┘                a scale for each output channel
//
// Rules of a target compute what lies between these operators with integers. Readers of x that are
// not quantized read x. The sources of a joint are quantized where it stands between layers in 8
// bits: what it reads is computed from such, and one of them reads what it makes, with nothing but
// functions of elements, normalizations and moves between. The time is linear in the size of the
// model.

#ifndef LN_QUANTIZE_INSERT_H
#define LN_QUANTIZE_INSERT_H

#include "lightnet/ln_context.h"
#include "lightnet/ln_hash.h"
#include "quantize/ln_quantize_layers.h"

/* What is in 8 bits, and how the rest is computed. */
typedef struct ln_quantize_mix {
    const char *is_on; /* of each layer; NULL: none. Those that are on are usable */
    int has_joints;    /* joints between them are, too */
    int is_bf16;       /* other products of matrices may round to bfloat16 */
} ln_quantize_mix;

/** Quantizes the layers of the mix. The context's weights get those of 8 bits. Enters into
 * `weights`, whose keys are freed by ln_free, the tensor that has the weight of each layer, with
 * the number of the layer, from 1. -1 with the reason in the context, which can only be cleaned up.
 */
int ln_quantize_insert(ln_context *ctx, const ln_quantize_layers *layers,
                       const ln_quantize_mix *mix, ln_hash *weights);

#endif
