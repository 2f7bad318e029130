// SPDX-License-Identifier: Apache-2.0
// Before translation: variables of a graph, and the rows of its operators.

#pragma once

#include "front/nnvm/ln_nnvm.h"

/** The node as input of its translator. */
ln_nnvm_node ln_nnvm_node_init(ln_nnvm_model *m, ln_nnvm_vertex *v);

/** Determines the dialect, finds rows, and marks nodes that outputs need. Fails if needed operators
 *  have no row, and names all of them. */
void ln_nnvm_choose_rows(ln_nnvm_model *m);

/** The type and shape of a variable, bound before reading or from attributes: new (tl_tensor_free),
 *  without data; NULL: unknown shape. */
tl_tensor *ln_nnvm_variable_like(ln_nnvm_model *m, ln_nnvm_vertex *v);
tl_dtype ln_nnvm_variable_dtype(ln_nnvm_model *m, ln_nnvm_vertex *v);

// Checks of a node; errors fail the translation.

/** Whether an attribute has no effect. */
int ln_nnvm_is_harmless(const ln_nnvm_node *n, const char *key);
/** Checks that all attributes were read or are harmless. */
void ln_nnvm_check_attrs(ln_nnvm_node *n);
/** Checks the number of inputs. */
void ln_nnvm_check_inputs(ln_nnvm_node *n);
/** Fails: the entry names an output that its node, which has `n_outs`, lacks. */
void ln_nnvm_fail_output(ln_nnvm_node *n, const ln_nnvm_entry *e, uint32_t n_outs);
/** The name of a parameter that a file of MXNet 0.8 omits; NULL after a failure. */
const char *ln_nnvm_omitted_name(ln_nnvm_node *n, const char *arg);

/** Creates the tensors of all variables with a known shape (bound before reading, or from
 *  attributes), and declares inputs in the order of the file. */
void ln_nnvm_add_known(ln_nnvm_model *m);

/** Creates the tensor of a parameter with the shape that its reader infers. */
void ln_nnvm_add_variable(ln_nnvm_model *m, ln_nnvm_vertex *v, int ndim, const int *dims);

/** Adds a tensor with data from a file. Returns its name; NULL after a failure. */
const char *ln_nnvm_add_param(ln_nnvm_model *m, const char *name, tl_dtype dtype, int ndim,
                              const int *dims);
