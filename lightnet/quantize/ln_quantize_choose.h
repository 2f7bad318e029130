// SPDX-License-Identifier: Apache-2.0
// Selects the layers to compute in 8 bits: the fastest mix within a budget.
//
// Each layer is quantized alone, for its error, and all at once, for the times.
// Layers are sorted by the time they save relative to their error; the longest prefix of that order
// whose mix keeps the budget on all samples is found, and then each further layer is tried.
// Variants of that mix, with joints in 8 bits and with bfloat16 for other products, and bfloat16
// alone are measured, too; the fastest that keeps the budget and is faster than float32 is
// selected.

#pragma once

#include "quantize/ln_quantize_error.h"
#include "quantize/ln_quantize_layers.h"
#include "quantize/ln_quantize_program.h"

/** The max number of samples to measure the error of single layers. */
enum { LN_QUANTIZE_MAX_SINGLE = 32 };

typedef struct ln_quantize_budget {
    double max_error; // below 0: any
    double top1;      // at least; below 0: any
    int any_speed;    // layers need not be faster in 8 bits
    int may_bf16;     // other layers may round to bfloat16
    double seconds;   // to measure each program
} ln_quantize_budget;

/** The result; arrays of layers->n elements, ns_* of one more, for all other operators. */
typedef struct ln_quantize_choice {
    ln_quantize_mix mix;
    char *is_on;       // of the mix
    char *is_bf16;     // layers that compute in bfloat16 in the mix
    double *errors;    // relative, of each layer alone; infinite if it is not usable
    double *ns_before; // in float32
    double *ns_int8;   // with all usable layers in 8 bits
    double *ns_after;  // in the mix
    double total[2];   // ns of a run: in float32, of the mix
    ln_quantize_error error;
    int n_on;
    int n_within; // layers of the mix that keeps the budget, before it was timed
    int n_tried;  // mixes that were tried
} ln_quantize_choice;

/** Selects the mix. -1 with a reason in `err`; ln_quantize_choice_free in any case. */
int ln_quantize_choose(ln_quantize_choice *choice, const ln_quantize_layers *layers,
                       const ln_quantize_samples *samples, const ln_quantize_budget *budget,
                       ln_error *err);

/** Frees the content of the choice, not the struct. */
void ln_quantize_choice_free(ln_quantize_choice *choice);
