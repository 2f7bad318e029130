// SPDX-License-Identifier: Apache-2.0
// Samples for calibration: what --data names.
//
//     DIR/*             of a model with one input: a file for each sample, in the order of names
//     DIR/INPUT/*       of a model with several: a folder for each input, called as it; the k-th
//                       files of all folders are a sample
//     FILE              of a model with one input: an npy array, whose first axis is samples

#ifndef CLI_SAMPLES_H
#define CLI_SAMPLES_H

#include "cli_options.h"
#include "lightnet/ln_quantize.h"
#include "lightnet/ln_session.h"

/** Adds the samples that opt->data names. Returns 0, or CLI_FAILED after a message. */
int cli_samples_add(ln_quantizer *quantizer, const ln_model *model, const cli_options *opt);

#endif
