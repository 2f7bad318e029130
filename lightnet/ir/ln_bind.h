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

/** A name that a shape was given for, but for which the model did not ask; NULL: none. Returns
 * borrowed. */
const char *ln_bind_unused(const ln_context *ctx);

/** Warns of all such names. */
void ln_bind_warn(const ln_context *ctx);

/** Checks shapes for which the model, read by now, did not ask: its inputs and open sizes must
 * allow them. -1 with a reason: they do not, or there is no input and no open size of the name. */
int ln_bind_check(const ln_context *ctx);

/** Writes the shapes from `least` (NULL: `most`) to `most`, as "[1, 2..8]", into `text`, `size`
 * bytes. Returns it. */
const char *ln_bind_sprint(char *text, size_t size, int ndim, const int *least, const int *most);

/** Says that a file of parameters, which will be loaded, has a tensor of that name, type and shape.
 *  -1 with a reason. */
int ln_bind_add_param(ln_context *ctx, const char *name, const tl_tensor *like);

/** The record, without data, of the parameter of that name; NULL: nothing was said. Returns
 * borrowed. */
const tl_tensor *ln_bind_param(const ln_context *ctx, const char *name);

/** Forgets everything that was said. */
void ln_bind_free(ln_context *ctx);

#endif
