// SPDX-License-Identifier: Apache-2.0
// Quantization to 8 bits: finds the fastest mix of float32 and 8-bit
// layers whose outputs on given samples stay within an error budget.
//
//     ln_quantizer *quantizer;
//     if (ln_quantizer_create(model, &quantizer) ||                       // of ln_model_open
//         ln_quantizer_set(quantizer, "max_error", "0.01") ||
//         ln_quantizer_add_sample(quantizer, 1, &image) ||                // some, better many
//         ln_quantizer_run(quantizer) ||
//         ln_quantizer_save(quantizer, "model8.safetensors"))          // or "model8.onnx"
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

typedef struct ln_quantizer ln_quantizer; // a model, its samples, and the selected mix

/** A layer of the model, and its measurements. */
typedef struct ln_quantized_layer {
    const char *name; // of its operator
    const char *type; // of its operator, such as "conv2d"
    int is_quantized; // it is computed in 8 bits
    double error;     // of the outputs, as in option max_error, if only this layer is
                      // in 8 bits, on the first 32 samples; infinite: unsupported
    double ns_before; // nanoseconds of its operators and those up to the next layer, in float32
    double ns_after;  // the same in the selected mix
} ln_quantized_layer;

/** The selected mix of a model. */
typedef struct ln_quantized_model {
    int n_layers;
    int n_quantized;  // of these; 0: the model stays float32, except is_bf16
    int n_within;     // layers of the mix within the budget, before it was timed
    int has_joints;   // sums and means between layers in 8 bits are in 8 bits, too
    int is_bf16;      // other products may round to bfloat16 (ln_context_set_precision)
    double error;     // of the outputs, on all samples
    double top1;      // share of equal argmax indices with float32
    double ns_before; // nanoseconds of a run, in float32
    double ns_after;  // of the selected mix
} ln_quantized_model;

/** *quantizer: new (ln_quantizer_free), which keeps the model; NULL after a failure, whose reason
 * is in ln_quantizer_error(NULL). LN_BAD_ARGUMENT: a NULL, or the model is compiled already. */
LN_API ln_status ln_quantizer_create(ln_model *model, ln_quantizer **quantizer);

/** Ignores NULL. */
LN_API void ln_quantizer_free(ln_quantizer *quantizer);

/** Sets an option; the message for an unknown key lists the known ones:
 *
 *  | key         | value                                                                        |
 *  |-------------|------------------------------------------------------------------------------|
 *  | calibration | method for ranges of values: minmax (default), percentile, entropy           |
 *  | percentile  | of the values that a range includes, at each end, 50 to 100 (default 99.99)  |
 *  | max_error   | the budget: max relative error of any output over the samples, that is, the  |
 *  |             | norm of the difference to float32, divided by that of float32; for integers  |
 *  |             | and strings the share that differs. Default 0.01, none if top1 is set        |
 *  | top1        | the budget: min share, 0 to 1, of rows of the first output, along its last   |
 *  |             | axis (of [N, C, 1, 1] along C), with the same argmax as float32; of integers |
 *  |             | and strings the share of equal elements. Default: any                        |
 *  | any_speed   | yes: also quantize layers that are not faster on this machine, for           |
 *  |             | files that run on others (default no)                                        |
 *  | bf16        | no: layers that are not in 8 bits stay float32, as in ONNX (default yes)     |
 *  | seconds     | measuring time of each program (default 0.3)                                 |
 */
LN_API ln_status ln_quantizer_set(ln_quantizer *quantizer, const char *key, const char *value);

/** Adds a sample (copies it): the values of the `n` required inputs, in their order. Samples may
 * differ in open sizes; errors and times are measured on those with the shapes of the first one.
 * LN_BAD_ARGUMENT: another number of inputs, another type or shape than the model has; a NULL. */
LN_API ln_status ln_quantizer_add_sample(ln_quantizer *quantizer, int n,
                                         const tl_tensor *const *inputs);

/** Receives the progress of ln_quantizer_run: `done` of `total` parts of a step are done; `total`
 * is 0 in a step of unknown length. Steps, in order:
 *
 *  | step      | its parts                                                                      |
 *  |-----------|--------------------------------------------------------------------------------|
 *  | calibrate | samples: the ranges of values                                                  |
 *  | count     | samples: their distribution, for percentile and entropy                        |
 *  | time      | programs to time: float32, all layers in 8 bits                                |
 *  | layers    | layers: the error of each one alone                                            |
 *  | select    | mixes of layers (`total` is 0)                                                 |
 *
 *  A value other than 0 ends the run with LN_CANCELLED. */
typedef int (*ln_quantizer_progress_func)(void *data, const char *step, int done, int total);

/** Later runs call func(data, ..) in the thread of ln_quantizer_run; NULL (default): nothing. */
LN_API ln_status ln_quantizer_set_progress(ln_quantizer *quantizer, ln_quantizer_progress_func func,
                                           void *data);

/** Calibrates, measures and selects, with the threads of the model's options.
 * LN_BAD_ARGUMENT: no samples. A model that stays float32 is a success. */
LN_API ln_status ln_quantizer_run(ln_quantizer *quantizer);

/** The result of the last ln_quantizer_run; NULL: none. Returns borrowed (until the next run). */
LN_API const ln_quantized_model *ln_quantizer_result(const ln_quantizer *quantizer);

/** Layer `i`, in the order of the model; NULL: out of range, or as above. Returns borrowed, as
 * above. */
LN_API const ln_quantized_layer *ln_quantizer_layer(const ln_quantizer *quantizer, int i);

/** The precision of layer `i` in the mix: "int8", "bf16" or "float32"; NULL: no such layer. */
LN_API const char *ln_quantizer_layer_precision(const ln_quantizer *quantizer, int i);

/** Writes the selected mix as one file: compiled for the target and the shapes of the first sample
 * (ln_context_save), or, with the suffix .onnx, as an ONNX model with QuantizeLinear and
 * DequantizeLinear, whose sizes stay open. LN_BAD_ARGUMENT: no mix was selected. */
LN_API ln_status ln_quantizer_save(ln_quantizer *quantizer, const char *file);

/** The error of the last call; NULL: of the calling thread's last call
 * without a quantizer. Returns borrowed (until the next call). */
LN_API const char *ln_quantizer_error(const ln_quantizer *quantizer);

LN_END_DECLS

#endif
