// SPDX-License-Identifier: Apache-2.0
// Calibration: the model runs in float32 on the samples, and the values of each tensor that may be
// quantized give its range.

#ifndef LN_QUANTIZE_CALIBRATE_H
#define LN_QUANTIZE_CALIBRATE_H

#include "quantize/ln_quantize_layers.h"
#include "quantize/ln_quantize_program.h"

/** Finds the layers of the model, quantizes their weights, and determines the scales of their
 * sources. -1 with a reason in `err`; ln_quantize_layers_free in any case. */
int ln_quantize_calibrate(ln_quantize_layers *layers, const ln_quantize_samples *samples,
                          const ln_quantize_method *method, ln_error *err);

#endif
