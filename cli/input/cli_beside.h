// SPDX-License-Identifier: Apache-2.0
// Inputs that detectors have beside the image: its size, by the name of the input, or ones. The
// size is that of the model's input, so that boxes are in its pixels.

#pragma once

#include "cli_options.h"
#include "lightnet/ln_session.h"

/** Whether opt->images.has_beside is set, and input `i` has a known name and an image beside it. */
int cli_beside_is_known(const cli_options *opt, const ln_model *model, int i);

/** The value of such an input; open sizes are 1. Returns new (tl_tensor_free_data_too); NULL after
 * a message. */
tl_tensor *cli_beside_make(const cli_options *opt, const ln_model *model, int i);
