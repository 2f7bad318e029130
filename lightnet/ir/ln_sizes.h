// SPDX-License-Identifier: Apache-2.0
// Sizes of a context's tensors that are known only at run time, as symbols.
//
// A dimension (ir/ln_dim.h) describes each axis, and each element of a small integer tensor that is
// computed from lengths. Values store them, since values outlive entries: an operator that replaces
// another keeps its symbolic shapes.

#pragma once

#include "ir/ln_dim.h"
#include "lightnet/ln_context.h"

/** The symbolic sizes of a value. Freed by ln_free. */
typedef struct ln_value_sizes {
    int n_axes, n_elements;     // 0: not known as symbols
    ln_dim axes[LN_MAXDIM];     // of a tensor whose sizes are open
    ln_dim elements[LN_MAXDIM]; // of integers that are computed from sizes
} ln_value_sizes;

/** Returns the constant value of a tensor, borrowed; NULL: not constant, or unknown. */
typedef const tl_tensor *(*ln_sizes_value)(void *data, const char *tensor);

/** Derives the axes of the operator's dynamic outputs, after those of its inputs. -1 after
 * ln_op_fail: no memory. */
int ln_sizes_infer_axes(const ln_op *op);

/** The same, and the elements of its outputs, with constants: `value(data, tensor)`. */
int ln_sizes_infer(const ln_op *op, ln_sizes_value value, void *data);

/** Finds the known elements of a tensor whose producers have not been visited, if they are
 * operators on small tensors of integers. -1: no memory. */
int ln_sizes_find_elements(const ln_tensor_entry *te, ln_sizes_value value, void *data);

/** The next term of a size such as "past + new + 1", *len characters from *term on; moves *text
 * behind it. Returns 0 at the end. */
int ln_size_term(const char **text, const char **term, size_t *len);

/** Whether a term is a number: *number. */
int ln_size_is_number(const char *term, size_t len, int64_t *number);

/** Finds the axes of inputs that ln_sizes_check_inputs checks: ctx->named_axes. -1: no memory. */
int ln_sizes_find_named(ln_context *ctx);

/** Frees ctx->named_axes. */
void ln_sizes_forget_named(ln_context *ctx);

/** Checks the current shapes of inputs with named sizes: equal names are equal lengths, and sums
 * hold. -1 with a reason. */
int ln_sizes_check_inputs(const ln_context *ctx);

/** The length of axis `i` of a tensor. Unknown: of a dynamic tensor outside of a context. */
ln_dim ln_sizes_axis(const ln_tensor_entry *te, int i);

/** Whether elements of a tensor are known. */
int ln_sizes_has_elements(const ln_tensor_entry *te);

/** Element `i` of a tensor of integers: inferred, or of the constant value(data, tensor). */
ln_dim ln_sizes_element(const ln_tensor_entry *te, int i, ln_sizes_value value, void *data);

/** Whether the length of axis `i` may change from run to run. */
int ln_sizes_is_open(const ln_tensor_entry *te, int i);

/** Whether two tensors have the same shape in each run: equal max shapes are not sufficient, if two
 * inputs have independent sizes. */
int ln_sizes_is_same_shape(const ln_tensor_entry *a, const ln_tensor_entry *b);
