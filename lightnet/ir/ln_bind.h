// SPDX-License-Identifier: Apache-2.0
// What was said of a model's inputs before it is read: shapes and values.

#ifndef LN_BIND_H
#define LN_BIND_H

#include "lightnet/ln_context.h"
#include "tensorlight/tl_tensor.h"

/** What was said of input `name`, the `index`th of those that the model declares (counted without
 * those that were bound by name); NULL: nothing. Its data is NULL when only the shape was said.
 * Returns borrowed. */
const tl_tensor *ln_bind_find(const ln_context *ctx, const char *name, int index);

/** The smallest shape of those to come, where what was said of it is a range; NULL: it is none.
 * Returns borrowed. */
const int *ln_bind_least(const ln_context *ctx, const char *name, int index);

/** Whether something was said by that name. */
int ln_bind_has(const ln_context *ctx, const char *name);

/** Notes that the model cannot be read without the values of inputs, which were not said. */
void ln_bind_want_values(ln_context *ctx);

/** Whether that was noted. */
int ln_bind_wants_values(const ln_context *ctx);

/** Warns of shapes that were said of names which the model, read by now, did not ask for. */
void ln_bind_warn(const ln_context *ctx);

/** Says that a file of parameters, which will be loaded, has a tensor of that name, type and shape.
 *  -1 with a reason. */
int ln_bind_add_param(ln_context *ctx, const char *name, const tl_tensor *like);

/** The record, without data, of the parameter of that name; NULL: nothing was said. Returns
 * borrowed. */
const tl_tensor *ln_bind_param(const ln_context *ctx, const char *name);

/** Forgets everything that was said. */
void ln_bind_free(ln_context *ctx);

#endif
