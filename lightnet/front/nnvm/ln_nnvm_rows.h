// SPDX-License-Identifier: Apache-2.0
// The tables of translators, and those of rewriters, one for each kind of operators.

#ifndef LN_NNVM_ROWS_H
#define LN_NNVM_ROWS_H

#include "front/nnvm/ln_nnvm.h"

extern const ln_nnvm_row ln_nnvm_rows_conv[];
extern const ln_nnvm_row ln_nnvm_rows_create[];
extern const ln_nnvm_row ln_nnvm_rows_detect[];
extern const ln_nnvm_row ln_nnvm_rows_function[];
extern const ln_nnvm_row ln_nnvm_rows_index[];
extern const ln_nnvm_row ln_nnvm_rows_norm[];
extern const ln_nnvm_row ln_nnvm_rows_order[];
extern const ln_nnvm_row ln_nnvm_rows_pair[];
extern const ln_nnvm_row ln_nnvm_rows_part[];
extern const ln_nnvm_row ln_nnvm_rows_pool[];
extern const ln_nnvm_row ln_nnvm_rows_product[];
extern const ln_nnvm_row ln_nnvm_rows_reduce[];
extern const ln_nnvm_row ln_nnvm_rows_repeat[];
extern const ln_nnvm_row ln_nnvm_rows_resize[];
extern const ln_nnvm_row ln_nnvm_rows_shape[];

extern const ln_nnvm_row ln_nnvm_mxnet_rows_elementwise[];
extern const ln_nnvm_row ln_nnvm_mxnet_rows_layers[];
extern const ln_nnvm_row ln_nnvm_mxnet_rows_shape[];

/** The row for an operator: its translator, else, of MXNet's, its rewriter. NULL: not known. */
const ln_nnvm_row *ln_nnvm_find_row(const char *op, ln_nnvm_dialect dialect);

/** The row of an operator that another was rewritten to. */
const ln_nnvm_row *ln_nnvm_find_core_row(const char *op);

/** The row with the rewriter of an operator of MXNet; NULL: there is none. */
const ln_nnvm_row *ln_nnvm_find_rewriter(const char *op);

/** Whether the name is an operator of MXNet alone. */
int ln_nnvm_is_mxnet_only(const char *op);

#endif
