// SPDX-License-Identifier: Apache-2.0
// The error of the outputs of a quantized program relative to float32, over all samples.

#pragma once

#include "quantize/ln_quantize_program.h"

/** The errors of a mix of layers. */
typedef struct ln_quantize_error {
    double relative; // of the worst output: the norm of the difference over that of float32; of
                     // integers and strings the share of elements that differ. Infinite if results
                     // are not finite and float32's are
    double top1;     // share of the rows of the first output with the same argmax; rows are along
                     // the last axis, of [N, C, 1, 1] along C. Of integers and strings, the share
                     // of equal elements
} ln_quantize_error;

/** The outputs of float32 for each sample. */
typedef struct ln_quantize_outputs {
    tl_tensor **items; // n_samples * n
    int n;             // outputs of the model
    int n_samples;
} ln_quantize_outputs;

/** Runs the program on the samples and keeps its outputs. -1 with a reason in `err`;
 * ln_quantize_outputs_free in any case. */
int ln_quantize_outputs_find(ln_quantize_outputs *outputs, const ln_quantize_program *p,
                             const ln_quantize_samples *samples, ln_error *err);

/** Runs the program on the first `n` samples and compares. -1 with a reason in `err`. */
int ln_quantize_error_find(ln_quantize_error *error, const ln_quantize_outputs *outputs,
                           const ln_quantize_program *p, const ln_quantize_samples *samples, int n,
                           ln_error *err);

/** Frees the content of the outputs, not the struct. */
void ln_quantize_outputs_free(ln_quantize_outputs *outputs);
