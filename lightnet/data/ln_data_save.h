// SPDX-License-Identifier: Apache-2.0
// Writes the weights of a model, with other tensors and metadata of the file.

#ifndef LN_DATA_SAVE_H
#define LN_DATA_SAVE_H

#include "ir/ln_weights.h"
#include "lightnet/ln_context.h"

/** The data that the operator takes from a file, and *shape: new (tl_tensor_free), its shape in the
 * model, since not every format knows shapes; NULL after a failure. Returns NULL: the operator has
 * no such data. */
const ln_weight *ln_data_taken(const ln_context *ctx, const ln_op *op, tl_tensor **shape);

/** Writes the data that operators take from files, as far as it was set or is in the model's own
 * file, with `metadata` as ln_safetensors_write takes it. -1 as ln_data_save. */
int ln_data_save_with(const ln_context *ctx, const char *const *metadata, const char *file);

#endif
