// SPDX-License-Identifier: Apache-2.0
// Shapes and values of a model's inputs that were set before it is read, and the callback for
// missing operators.

#pragma once

#include "lightnet/ln_context.h"
#include "tensorlight/tl_tensor.h"

/** The binding of input `name`, the `index`th of those that the model declares (not counting those
 * bound by name); NULL: none. Its data is NULL if only the shape was bound. Returns borrowed. */
const tl_tensor *ln_bind_find(const ln_context *ctx, const char *name, int index);

/** The min shape, if it was bound to a range; NULL: it was not. Returns borrowed. */
const int *ln_bind_min(const ln_context *ctx, const char *name, int index);

/** Names the sizes of the range that was last bound to input `name`, as parameter `sizes` of a
 * placeholder, with copies of the names. -1 with a reason. */
int ln_bind_name_sizes(ln_context *ctx, const char *name, const char *const *sizes);

/** These names; NULL: none. Returns borrowed. */
const char *const *ln_bind_sizes(const ln_context *ctx, const char *name);

/** The sum that was bound to size `name` by ln_context_bind_sum; NULL: none. Returns borrowed. */
const char *ln_bind_sum(const ln_context *ctx, const char *name);

/** Whether a sequence or an optional value was bound to input `name`, or to the `index`th as above:
 * *items is then its list of *n tensors, borrowed; *n is -1 for an absent optional value. */
int ln_bind_find_list(const ln_context *ctx, const char *name, int index,
                      const tl_tensor *const **items, int *n);

/** Whether that name was bound. */
int ln_bind_has(const ln_context *ctx, const char *name);

/** Records that the model cannot be read without the values of inputs that were not bound. */
void ln_bind_want_values(ln_context *ctx);

/** Whether that was recorded. */
int ln_bind_wants_values(const ln_context *ctx);

/** Removes the record: the model can be read without. */
void ln_bind_drop_wish(ln_context *ctx);

/** What the caller can do after a failure to read the model: read it again, with values of inputs,
 * or with fixed sizes. */
typedef enum ln_bind_offer {
    LN_OFFERS_VALUES = 1,
    LN_OFFERS_SIZES = 2,
} ln_bind_offer;

/** Replaces the offers by these bits. -1 with a reason. */
int ln_bind_set_offers(ln_context *ctx, int offers);

/** Whether an offer exists. */
int ln_bind_has_offer(const ln_context *ctx, ln_bind_offer offer);

/** Passes an operator on to the function of ln_context_set_missing, if any. */
void ln_bind_report_missing(const ln_context *ctx, const ln_missing_op *op);

/** A name with a bound shape that the model does not have; NULL: none. Returns borrowed. */
const char *ln_bind_unused(const ln_context *ctx);

/** Warns of all such names. */
void ln_bind_warn(const ln_context *ctx);

/** Checks bound shapes that were not used while the model was read: its inputs and open sizes must
 * allow them. And bound values of inputs on which shapes depend. -1 with a reason: they do not,
 * there is no input and no open size of the name, or the value was another. */
int ln_bind_check(const ln_context *ctx);

/** Writes the shapes from `min` (NULL: `max`) to `max`, as "[1, 2..8]", into `text`, `size`
 * bytes. Returns it. */
const char *ln_bind_sprint(char *text, size_t size, int ndim, const int *min, const int *max);

/** Records that the parameter file to be loaded has a tensor of that name, type and shape. -1 with
 * a reason. */
int ln_bind_add_param(ln_context *ctx, const char *name, const tl_tensor *like);

/** The record, without data, of the parameter of that name; NULL: none. Returns borrowed. */
const tl_tensor *ln_bind_param(const ln_context *ctx, const char *name);

/** Removes all bindings. */
void ln_bind_free(ln_context *ctx);
