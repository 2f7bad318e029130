// SPDX-License-Identifier: Apache-2.0
// Times of programs and of their layers.

#ifndef LN_QUANTIZE_TIME_H
#define LN_QUANTIZE_TIME_H

#include "quantize/ln_quantize_layers.h"
#include "quantize/ln_quantize_program.h"

/** Measures runs of the first sample for about `seconds`. ns[i]: the time of layer i, the min of
 * several runs: of its operators and those that follow up to the next layer; ns[layers->n]: of all
 * other operators. is_bf16[i]: whether one of them computes in bfloat16; or NULL. -1 with a reason
 * in `err`. */
int ln_quantize_time_layers(double *ns, char *is_bf16, const ln_quantize_layers *layers,
                            const ln_quantize_program *p, const ln_quantize_samples *samples,
                            double seconds, ln_error *err);

/** Measures runs of both programs in turns, for about `seconds`. ns[0] and ns[1]: the min of each.
 * -1 with a reason in `err`. */
int ln_quantize_time_both(double ns[2], const ln_quantize_program *const programs[2],
                          const ln_quantize_samples *samples, double seconds, ln_error *err);

#endif
