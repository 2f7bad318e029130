// SPDX-License-Identifier: Apache-2.0
// Samples for quantize: the files of --data.

#pragma once

#include "cli_options.h"
#include "lightnet/ln_quantize.h"

/** Adds the samples of opt->samples, a folder or an array, for the model's inputs. Images become
 * inputs by opt->images, whose photo is not NULL; warns once of pixels that are not scaled, and of
 * each sample that it cannot read and skips. Returns 0, or CLI_FAILED after a message. */
int cli_samples_add(ln_quantizer *quantizer, const ln_model *model, const cli_options *opt);
