// SPDX-License-Identifier: Apache-2.0
// Operators that produce tensors without computing: their data comes from files or callers.

#pragma once

#include "lightnet/ln_context.h"
#include "lightnet/ln_op.h"

/** The tensor whose data the operator reads from a file, by its parameter `from_file`; NULL: none.
 * Returns borrowed. */
const char *ln_from_file_name(const ln_op *op);

/** Whether the type of an operator is `base`, or its variant for a target, such as base_cpu. */
int ln_is_form_of(const char *optype, const char *base);

/** Whether an operator of this type can produce inputs: create and source, of any target. */
int ln_produces_inputs(const char *optype);

/** Whether the operator, a create, produces random numbers: its parameter `ran` is a range. */
int ln_produces_random(const ln_op *op);

/** Whether the operator produces an input with open sizes. */
int ln_is_placeholder(const ln_op *op);

/** The min and the max shape of such an operator's input; NULL: another operator. Returns
 * borrowed. */
const int *ln_placeholder_min(const ln_op *op);
const int *ln_placeholder_max(const ln_op *op);

/** The name of the size of axis `i`, or a sum of names and numbers; NULL: none, or another
 * operator. Returns borrowed. */
const char *ln_placeholder_size(const ln_op *op, int i);

/** The tensor that the operator, a source, produces without data; NULL: another operator. Returns
 * borrowed. */
const char *ln_empty_source(const ln_op *op);

/** Returns new (ln_op_free_lists_too): an operator `name` of `optype`, "source" of some target,
 * that produces tensor `tname` of like's type and shape: from a file, or as an input. NULL with the
 * reason in the context: unknown type, no memory. */
ln_op *ln_source_create(const ln_context *ctx, const char *optype, const char *name,
                        const char *tname, const tl_tensor *like, int from_file);

/** As ln_source_create: an abstract operator that produces an input of like's type, with a shape
 * from `min` to that of `like`, and the names of its sizes (""; or NULL: none). */
ln_op *ln_placeholder_create(const ln_context *ctx, const char *name, const char *tname,
                             const tl_tensor *like, const int *min, const char *const *sizes);
