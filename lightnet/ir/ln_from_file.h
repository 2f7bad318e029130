// SPDX-License-Identifier: Apache-2.0
// Where the data of tensors that no other makes comes from.

#ifndef LN_FROM_FILE_H
#define LN_FROM_FILE_H

#include "lightnet/ln_context.h"
#include "lightnet/ln_op.h"

/** The tensor whose data the operator wants from a file, as its parameter `from_file` says; NULL:
 * it wants none. Returns borrowed. */
const char *ln_from_file_name(const ln_op *op);

/** Whether the type of an operator is `base`, or what a target makes of it: base_cpu. */
int ln_is_form_of(const char *optype, const char *base);

/** Whether an operator of this type makes tensors that may be inputs: create and source, in any
 * target's form. */
int ln_makes_inputs(const char *optype);

/** Whether the operator, a create, makes random numbers: its parameter `ran` is a range. */
int ln_makes_random(const ln_op *op);

/** Whether the operator makes an input whose sizes are open. */
int ln_is_placeholder(const ln_op *op);

/** Of such an operator the smallest and the largest shape; NULL: it is another one. Returns
 * borrowed. */
const int *ln_placeholder_least(const ln_op *op);
const int *ln_placeholder_most(const ln_op *op);

/** The tensor that the operator, a source, makes without data; NULL: it is another one. Returns
 * borrowed. */
const char *ln_empty_source(const ln_op *op);

/** Returns new (ln_op_free_lists_too): an operator `name` of `optype`, "source" in some target's
 * form, that has tensor `tname` of like's type and shape: from a file, or as an input. NULL with
 * the reason in the context: there is no such type, no memory. */
ln_op *ln_source_create(const ln_context *ctx, const char *optype, const char *name,
                        const char *tname, const tl_tensor *like, int from_file);

/** As ln_source_create: an abstract operator that has an input of like's type, whose shape is from
 * `least` to that of `like`. */
ln_op *ln_placeholder_create(const ln_context *ctx, const char *name, const char *tname,
                             const tl_tensor *like, const int *least);

#endif
