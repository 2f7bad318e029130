// SPDX-License-Identifier: Apache-2.0
// Defining an output whose entry in the list is at hand. See ln_op.h.

#ifndef LN_OP_DEFINE_H
#define LN_OP_DEFINE_H

#include "lightnet/ln_op.h"

/** As ln_op_define_output, for `tle` of op_arg->tensors_out. */
ln_tensor_entry *ln_op_define_listed(ln_op_arg *op_arg, const ln_tensor_list_entry *tle, int ndim,
                                     const int *dims, tl_dtype dtype, ln_mem_type mtype);

#endif
