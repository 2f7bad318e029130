// SPDX-License-Identifier: Apache-2.0
// The tables of translators, one for each kind of operators.

#ifndef LN_ONNX_ROWS_H
#define LN_ONNX_ROWS_H

#include "front/onnx/ln_onnx.h"

extern const ln_onnx_row ln_onnx_rows_attention[];
extern const ln_onnx_row ln_onnx_rows_basic[];
extern const ln_onnx_row ln_onnx_rows_constant[];
extern const ln_onnx_row ln_onnx_rows_branch[];
extern const ln_onnx_row ln_onnx_rows_control[];
extern const ln_onnx_row ln_onnx_rows_conv[];
extern const ln_onnx_row ln_onnx_rows_einsum[];
extern const ln_onnx_row ln_onnx_rows_elementwise[];
extern const ln_onnx_row ln_onnx_rows_index[];
extern const ln_onnx_row ln_onnx_rows_loss[];
extern const ln_onnx_row ln_onnx_rows_matmul[];
extern const ln_onnx_row ln_onnx_rows_microsoft[]; /* of the domain com.microsoft */
extern const ln_onnx_row ln_onnx_rows_norm[];
extern const ln_onnx_row ln_onnx_rows_pool[];
extern const ln_onnx_row ln_onnx_rows_quantize[];
extern const ln_onnx_row ln_onnx_rows_random[];
extern const ln_onnx_row ln_onnx_rows_recurrent[];
extern const ln_onnx_row ln_onnx_rows_reduce[];
extern const ln_onnx_row ln_onnx_rows_refused[];
extern const ln_onnx_row ln_onnx_rows_resize[];
extern const ln_onnx_row ln_onnx_rows_sample[];
extern const ln_onnx_row ln_onnx_rows_select[];
extern const ln_onnx_row ln_onnx_rows_shape[];
extern const ln_onnx_row ln_onnx_rows_signal[];
extern const ln_onnx_row ln_onnx_rows_unary[];

#endif
