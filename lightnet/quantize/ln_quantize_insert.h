// SPDX-License-Identifier: Apache-2.0
// Inserts quantization into a model that is read, not compiled:
//
//     x ─▶ quantize ─▶ dequantize ─▶ conv2d ─▶ ...      x: 8 bits, one scale
//     weight (TL_INT8) ─▶ dequantize ──┘                a scale for each output channel
//
// Rules of a target compute the operators between these with integers. Readers of x that are not
// quantized read x. The sources of a joint are quantized if it is between 8-bit layers: its sources
// are computed from such a layer, and such a layer reads its result, with only element-wise
// functions, normalizations and data movement in between. The time is linear in the size of the
// model.

#pragma once

#include "lightnet/ln_context.h"
#include "lightnet/ln_hash.h"
#include "quantize/ln_quantize_layers.h"

/** The 8-bit layers, and the computation of the others. */
typedef struct ln_quantize_mix {
    const char *is_on; // for each layer; NULL: none. Selected layers are usable
    int has_joints;    // joints between them are in 8 bits, too
    int is_bf16;       // other products of matrices may round to bfloat16
} ln_quantize_mix;

/** Quantizes the layers of the mix. Adds the 8-bit weights to the context's weights. Inserts into
 * `weights`, whose keys are freed by ln_free, the weight tensor of each layer, with the number of
 * the layer, from 1. -1 with the reason in the context, which can only be cleaned up. */
int ln_quantize_insert(ln_context *ctx, const ln_quantize_layers *layers,
                       const ln_quantize_mix *mix, ln_hash *weights);
