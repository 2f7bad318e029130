// SPDX-License-Identifier: Apache-2.0
// Checks while a model is loaded that padding does not change its results: a short and a long
// sequence run alone, and then together.
#pragma once

#include "srv_run.h"

/** Compares results alone with those in a batch, where run->pad pads the shorter sequence. Floats
 *  may differ by rounding: 1e-5 (FP16 1e-2, BF16 8e-2) of the largest magnitude of the output, or
 *  of 1 if that is larger; others are equal. -1 with a reason: results differ, or the model does
 *  not run on the values of this check. */
int srv_pad_probe(srv_run *run, const srv_port *inputs, int n_inputs, srv_error *why);
