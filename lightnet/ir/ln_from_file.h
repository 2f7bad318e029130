// SPDX-License-Identifier: Apache-2.0
// Where the data of tensors that no other makes comes from.

#ifndef LN_FROM_FILE_H
#define LN_FROM_FILE_H

#include "lightnet/ln_op.h"

/** The tensor whose data the operator wants from a file, as its parameter `from_file` says; NULL:
 * it wants none. Returns borrowed. */
const char *ln_from_file_name(const ln_op *op);

/** Whether an operator of this type makes tensors that may be inputs: create and source, in any
 * target's form. */
int ln_makes_inputs(const char *optype);

/** Whether the operator, a create, makes random numbers: its parameter `ran` is a range. */
int ln_makes_random(const ln_op *op);

/** The tensor that the operator, a source, makes without data; NULL: it is another one. Returns
 * borrowed. */
const char *ln_empty_source(const ln_op *op);

#endif
