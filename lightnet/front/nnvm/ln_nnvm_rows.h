// SPDX-License-Identifier: Apache-2.0
// The tables of translators, one for each kind of operators.

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
extern const ln_nnvm_row ln_nnvm_rows_refused[];
extern const ln_nnvm_row ln_nnvm_rows_repeat[];
extern const ln_nnvm_row ln_nnvm_rows_resize[];
extern const ln_nnvm_row ln_nnvm_rows_shape[];

#endif
