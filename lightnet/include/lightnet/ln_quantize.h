// SPDX-License-Identifier: Apache-2.0
// Quantization to 8 bits: a model becomes the fastest mix of float32 and 8-bit layers whose outputs
// on given samples stay within a budget.
//
//     ln_quantizer *quantizer;
//     if (ln_quantizer_create(model, &quantizer) ||                       // of ln_model_open
//         ln_quantizer_set(quantizer, "max_error", "0.01") ||
//         ln_quantizer_add_sample(quantizer, 1, &image) ||                // some, better many
//         ln_quantizer_run(quantizer) ||
//         ln_quantizer_save(quantizer, "model8.safetensors"))
//         fprintf(stderr, "%s\n", ln_quantizer_error(quantizer));
//     ln_quantizer_free(quantizer);
//
// Layers are convolutions and matrix multiplications of computed values with constant weights.
// Weights become signed 8-bit integers with a scale for each output channel, their sources unsigned
// ones with one scale and zero point, from their values in the samples.

#ifndef LN_QUANTIZE_H
#define LN_QUANTIZE_H

#include "lightnet/ln_api.h"
#include "lightnet/ln_session.h"
#include "tensorlight/tl_tensor.h"

LN_BEGIN_DECLS

typedef struct ln_quantizer ln_quantizer; /* a model, its samples, and what was chosen for it */

/** A layer of the model, and what was measured of it. */
typedef struct ln_quantized_layer {
    const char *name; /* of its operator */
    const char *type; /* of its operator, such as "conv2d" */
    int is_quantized; /* it was chosen to be computed in 8 bits */
    double error;     /* of the outputs, as option max_error has it, where this layer alone is in 8
                         bits, on the first 32 samples; infinite: it cannot be */
    double ns_before; /* nanoseconds of its operators and those up to the next layer, in float32 */
    double ns_after;  /* the same in what was chosen */
} ln_quantized_layer;

/** What was chosen for the model. */
typedef struct ln_quantized_model {
    int n_layers;
    int n_quantized;  /* of these; 0: the model stays float32, but for is_bf16 */
    int n_within;     /* layers of the mix that kept the budget, before it was timed */
    int has_joints;   /* sums and means between layers in 8 bits are in 8 bits, too */
    int is_bf16;      /* other products may round to bfloat16 (ln_context_set_precision) */
    double error;     /* of the outputs, on all samples */
    double top1;      /* share of largest elements that are where those of float32 are */
    double ns_before; /* nanoseconds of a run, in float32 */
    double ns_after;  /* of what was chosen */
} ln_quantized_model;

/** *quantizer: new (ln_quantizer_free), which keeps the model; NULL after a failure, whose reason
 * is in ln_quantizer_error(NULL). LN_BAD_ARGUMENT: a NULL, or the model is compiled already. */
LN_API ln_status ln_quantizer_create(ln_model *model, ln_quantizer **quantizer);

/** Takes NULL. */
LN_API void ln_quantizer_free(ln_quantizer *quantizer);

/** Sets an option; the message for an unknown key lists those that there are:
 *
 *  | key         | value                                                                        |
 *  |-------------|------------------------------------------------------------------------------|
 *  | calibration | how ranges follow from values: minmax (default), percentile, entropy         |
 *  | percentile  | of the values that a range includes, at each end, 50 to 100 (default 99.99)  |
 *  | max_error   | the budget: largest relative error of any output over the samples, that is,  |
 *  |             | the norm of the difference to float32, divided by that of float32; of        |
 *  |             | integers the share that differs. Default 0.01, none where top1 is set        |
 *  | top1        | the budget: least share, 0 to 1, of rows of the first output, along its last |
 *  |             | axis, whose largest element is where that of float32 is. Default: any        |
 *  | any_speed   | yes: quantize layers also where they are no faster on this machine, for      |
 *  |             | files that run on others (default no)                                        |
 *  | seconds     | for which each program is measured (default 0.3)                             |
 */
LN_API ln_status ln_quantizer_set(ln_quantizer *quantizer, const char *key, const char *value);

/** Adds a sample (copies it): the values of the `n` inputs that a run must be given, in their
 * order. All samples have the same shapes. LN_BAD_ARGUMENT: another number of inputs, another type
 * or shape than the model, or the first sample, has; a NULL. */
LN_API ln_status ln_quantizer_add_sample(ln_quantizer *quantizer, int n,
                                         const tl_tensor *const *inputs);

/** Calibrates, measures and chooses, in the threads of the model's options. LN_BAD_ARGUMENT: there
 * are no samples. A model that stays float32 is a success. */
LN_API ln_status ln_quantizer_run(ln_quantizer *quantizer);

/** What the last ln_quantizer_run chose; NULL: it did not succeed. Returns borrowed (until the next
 * run). */
LN_API const ln_quantized_model *ln_quantizer_result(const ln_quantizer *quantizer);

/** Layer `i`, in the order of the model; NULL: out of range, or as above. Returns borrowed, as
 * above. */
LN_API const ln_quantized_layer *ln_quantizer_layer(const ln_quantizer *quantizer, int i);

/** What that layer computes in, in what was chosen: "int8", "bf16" or "float32"; NULL: there is no
 *  such layer. */
LN_API const char *ln_quantizer_layer_precision(const ln_quantizer *quantizer, int i);

/** Writes what was chosen, compiled for the target and the shapes of the samples, as one file
 * (ln_context_save). LN_BAD_ARGUMENT: nothing was chosen. */
LN_API ln_status ln_quantizer_save(ln_quantizer *quantizer, const char *file);

/** Why the last call failed; NULL: why that of the calling thread without a quantizer did. Returns
 * borrowed (until the next call). */
LN_API const char *ln_quantizer_error(const ln_quantizer *quantizer);

LN_END_DECLS

#endif
