// SPDX-License-Identifier: Apache-2.0
// A file of weights beside a model, or one that the model itself stands in.

#ifndef LN_DATA_GIVE_H
#define LN_DATA_GIVE_H

#include "data/ln_bundle.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_data.h"

/** Opens a file that has all data that the model wants from one, and keeps it open for ctx->given,
 *  from where constants are computed. -1 with a reason in the context: as ln_data_load. */
int ln_data_give(ln_context *ctx, const char *file);

/** The same with tensors of the model's own file, which is open, for ctx->weights. They stay there
 * until drop(thing), which comes with the weights' end, also after a failure. `file` is its name
 * for messages. */
int ln_data_give_own(ln_context *ctx, const ln_bundle *bundle, void *thing, void (*drop)(void *),
                     const char *file);

/** Opens a file of weights and hands its tensors to `func` while they are there. Returns what that
 *  returned; -1 with a reason in the context: the file cannot be read. */
int ln_data_with(const ln_context *ctx, const char *file,
                 int (*func)(const ln_bundle *bundle, void *arg), void *arg);

/** Says of the file that ln_context_bind_file named which tensors it has (ln_bind_param). -1 with a
 *  reason in the context. */
int ln_data_look(ln_context *ctx);

#endif
