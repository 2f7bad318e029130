// SPDX-License-Identifier: Apache-2.0
// Variables of a graph, and which rows its operators have: what stands before its translation.

#ifndef LN_NNVM_VARS_H
#define LN_NNVM_VARS_H

#include "front/nnvm/ln_nnvm.h"

/** The node, to be translated. */
ln_nnvm_node ln_nnvm_node_init(ln_nnvm_model *m, ln_nnvm_vertex *v);

/** Decides the dialect, looks the rows up and marks what the heads need. The translation fails when
 *  an operator that is needed has none, naming all of them. */
void ln_nnvm_choose_rows(ln_nnvm_model *m);

/** The failure that a compiled graph is, with its variables and operators, their types and shapes.
 */
void ln_nnvm_refuse_compiled(ln_nnvm_model *m);

/** Makes the tensors of all variables whose shape is known: told of before the model was read, or
 *  by attributes. Inputs are declared, in the order of the file. */
void ln_nnvm_add_known(ln_nnvm_model *m);

/** Makes the tensor of a parameter, whose shape its reader tells. */
void ln_nnvm_add_variable(ln_nnvm_model *m, ln_nnvm_vertex *v, int ndim, const int *dims);

/** Enters a tensor whose data a file brings. Returns its name; NULL after a failure. */
const char *ln_nnvm_add_param(ln_nnvm_model *m, const char *name, tl_dtype dtype, int ndim,
                              const int *dims);

#endif
