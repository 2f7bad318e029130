// SPDX-License-Identifier: Apache-2.0
// Sizes of a model's tensors that are known only at run time, as symbols.
//
// The length of each axis, and each element of a small tensor of integers that is computed from
// lengths, is a dimension (ir/ln_dim.h), which the descriptions of operators say. So a front end
// sees that [n, s, 12, 32], computed from a tensor [n, s, 384], only splits the last axis.

#ifndef LN_SIZES_H
#define LN_SIZES_H

#include "ir/ln_dim.h"
#include "lightnet/ln_context.h"

typedef struct ln_sizes ln_sizes;

/** The value of a tensor that is the same in all runs; NULL: it is not, or is unknown. Returns
 * borrowed. */
typedef const tl_tensor *(*ln_sizes_value)(void *data, const char *tensor);

/** Returns new (ln_sizes_free), for the tensors of `ctx`; NULL: no memory. */
ln_sizes *ln_sizes_create(const ln_context *ctx);

/** Ignores NULL. */
void ln_sizes_free(ln_sizes *sizes);

/** The symbols of its dimensions. Returns borrowed. */
ln_symbols *ln_sizes_symbols(const ln_sizes *sizes);

/** Derives the sizes of the operator's outputs, after those of its inputs. `value(data, tensor)`:
 * of constants. -1: no memory. */
int ln_sizes_note(ln_sizes *sizes, const ln_op *op, ln_sizes_value value, void *data);

/** Finds the known elements of a tensor whose producers have not been noted, if they are operators
 * on small tensors of integers. -1: no memory. */
int ln_sizes_find_elements(ln_sizes *sizes, const char *tensor, ln_sizes_value value, void *data);

/** The length of axis `i` of a tensor. */
ln_dim ln_sizes_axis(const ln_sizes *sizes, const char *tensor, int i);

/** Whether elements of a tensor are known. */
int ln_sizes_has_elements(const ln_sizes *sizes, const char *tensor);

/** Element `i` of a tensor of integers: one that was noted, or whose value(data, tensor) is known.
 */
ln_dim ln_sizes_element(const ln_sizes *sizes, const char *tensor, int i, ln_sizes_value value,
                        void *data);

/** Where the length is that a symbol stands for: axis `*axis` of the tensor. NULL: the symbol is an
 * operation. Returns borrowed. */
const char *ln_sizes_origin(const ln_sizes *sizes, int symbol, int *axis);

#endif
