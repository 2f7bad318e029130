// SPDX-License-Identifier: Apache-2.0
// A weight file beside a model, or a file that also contains the model; writing such a file.

#pragma once

#include "data/ln_bundle.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_data.h"

/** Opens a file with all external data of the model, and keeps it open for ctx->given, from which
 * constants are computed. -1 with a reason in the context: as ln_data_load. */
int ln_data_give(ln_context *ctx, const char *file);

/** The same with tensors of the model's own file, which is open, for ctx->weights. They stay valid
 * until drop(owner), which is called when the weights are freed, also after a failure. `file` is
 * its name for messages. */
int ln_data_give_own(ln_context *ctx, const ln_bundle *bundle, void *owner, void (*drop)(void *),
                     const char *file);

/** Opens a weight file and passes its tensors to `func`. Returns the result of `func`; -1 with a
 * reason in the context: the file cannot be read. */
int ln_data_with(const ln_context *ctx, const char *file,
                 int (*func)(const ln_bundle *bundle, void *arg), void *arg);

/** Registers the tensors of the file of ln_context_bind_file (ln_bind_param). -1 with a reason in
 * the context. */
int ln_data_look(ln_context *ctx);

// Saving, with other tensors and metadata of the file

/** Returns the data that the operator reads from a file; NULL: it has none, *shape is as before.
 * *shape: new (tl_tensor_free), the data with its shape in the model, since not every format
 * has shapes; NULL after a failure. */
const ln_weight *ln_data_taken(const ln_context *ctx, const ln_op *op, tl_tensor **shape);

/** Writes the data that operators read from files, as far as it was set or is in the model's own
 * file, with `metadata` as in ln_safetensors_write. -1 as ln_data_save. */
int ln_data_save_with(const ln_context *ctx, const char *const *metadata, const char *file);
