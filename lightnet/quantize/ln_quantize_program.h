// SPDX-License-Identifier: Apache-2.0
// Programs of a model for the samples: in float32, or with some layers in 8 bits.

#pragma once

#include <stdint.h>

#include "lightnet/ln_context.h"
#include "lightnet/ln_quantize.h"
#include "quantize/ln_quantize_insert.h"
#include "quantize/ln_quantize_layers.h"
#include "session/ln_model.h"
#include "session/ln_program.h"
#include "session/ln_value.h"

/** The callback for progress (ln_quantizer_set_progress). */
typedef struct ln_quantize_progress {
    ln_quantizer_progress_func func; // NULL: none
    void *data;
} ln_quantize_progress;

/** The samples: values of all required inputs, one set after the other. The first `n_alike` have
 * the shapes of the first one; mixes of layers are measured on these. */
typedef struct ln_quantize_samples {
    ln_model *model;
    ln_value *values; // n * the inputs of the interface; with data where a required one
    void **data;      // n * model->n_required: owns it
    int n, n_alike, room;
    ln_quantize_progress progress;
} ln_quantize_samples;

/** Reports that `done` of `total` parts of a step are done (total 0: unknown). -1 with LN_CANCELLED
 * in `err`: the caller ends the quantization. */
int ln_quantize_report(const ln_quantize_samples *samples, const char *step, int done, int total,
                       ln_error *err);

typedef struct ln_quantize_program {
    ln_program *program;
    ln_context *ctx;  // its context
    ln_hash *weights; // tensor -> the number, from 1, of the layer whose weight it is
} ln_quantize_program;

/** The shapes of sample `i`. Returns borrowed: a value for each input of the interface. */
const ln_value *ln_quantize_shapes(const ln_quantize_samples *samples, int i);

/** Whether two samples have equal shapes. */
int ln_quantize_are_alike(const ln_quantize_samples *samples, int i, int k);

/** Reads the model for the shapes of sample `i`. -1 with a reason in `err`;
 * ln_quantize_program_free in any case. */
int ln_quantize_program_read(ln_quantize_program *p, const ln_quantize_samples *samples, int i,
                             ln_error *err);

/** Reads it with open sizes, quantizes the layers of the mix, and writes it as ONNX. -1 with a
 * reason in `err`. */
int ln_quantize_program_write(const ln_quantize_samples *samples, const ln_quantize_layers *layers,
                              const ln_quantize_mix *mix, const char *file, ln_error *err);

/** Reads it for the first sample, quantizes the layers of the mix, and compiles it; as above. */
int ln_quantize_program_compile(ln_quantize_program *p, const ln_quantize_samples *samples,
                                const ln_quantize_layers *layers, const ln_quantize_mix *mix,
                                ln_error *err);

/** Does that, and loads it. */
int ln_quantize_program_make(ln_quantize_program *p, const ln_quantize_samples *samples,
                             const ln_quantize_layers *layers, const ln_quantize_mix *mix,
                             ln_error *err);

/** Loads a program that has been compiled. */
int ln_quantize_program_load(ln_quantize_program *p, const ln_quantize_samples *samples,
                             ln_error *err);

/** Sets the inputs to the values of sample `i`. */
int ln_quantize_program_set(const ln_quantize_program *p, const ln_quantize_samples *samples, int i,
                            ln_error *err);

/** Does that, and runs it. */
int ln_quantize_program_run(const ln_quantize_program *p, const ln_quantize_samples *samples, int i,
                            ln_error *err);

/** Copies the reason from the context. Returns -1. */
int ln_quantize_program_fail(const ln_quantize_program *p, ln_error *err);

void ln_quantize_program_free(ln_quantize_program *p);

// Calibration: float32 runs on the samples find the range of each tensor

/** Finds the layers of the model, quantizes their weights, and determines the scales of their
 * sources. -1 with a reason in `err`; ln_quantize_layers_free in any case. */
int ln_quantize_calibrate(ln_quantize_layers *layers, const ln_quantize_samples *samples,
                          const ln_quantize_method *method, ln_error *err);

// Times of programs and of their layers

/** Measures runs of the first sample for about `seconds`. ns[i]: the time of layer i, the min of
 * several runs: of its operators and those that follow up to the next layer; ns[layers->n]: of all
 * other operators. is_bf16[i]: whether one of them computes in bfloat16; or NULL. -1 with a reason
 * in `err`. */
int ln_quantize_time_layers(double *ns, char *is_bf16, const ln_quantize_layers *layers,
                            const ln_quantize_program *p, const ln_quantize_samples *samples,
                            double seconds, ln_error *err);

/** Measures runs of both programs alternately, for about `seconds`. ns[0] and ns[1]: the min of
 * each. -1 with a reason in `err`. */
int ln_quantize_time_both(double ns[2], const ln_quantize_program *const programs[2],
                          const ln_quantize_samples *samples, double seconds, ln_error *err);
