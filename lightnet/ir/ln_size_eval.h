// SPDX-License-Identifier: Apache-2.0
// Evaluates size expressions over numbers or symbolic dimensions.

#pragma once

#include "ir/ln_dim.h"
#include "lightnet/ln_op.h"

/** Callbacks for lengths of inputs, and for elements that sizes are computed from. All zero: the
 * current lengths of tensors, as numbers, and no elements. */
typedef struct ln_size_source {
    ln_symbols *symbols;
    ln_dim (*axis)(void *data, const ln_tensor_entry *te, int i);
    ln_dim (*value)(void *data, const ln_tensor_entry *te, int i);
    void *data;
} ln_size_source;

/** The lengths of an output; `part`: of a variadic one, its position. Axes that the source does not
 * provide are unknown. Returns their number, of which the first LN_MAXDIM are in `axes`; -1:
 * unknown. */
int ln_size_axes(const ln_op_arg *op_arg, const char *arg_name, int part,
                 const ln_size_source *source, ln_dim axes[LN_MAXDIM]);

/** Whether output `arg_name` has `values`. */
int ln_size_has_values(const ln_op_arg *op_arg, const char *arg_name);

/** Element `i` of the output. */
ln_dim ln_size_value(const ln_op_arg *op_arg, const char *arg_name, int part, int i,
                     const ln_size_source *source);
