// SPDX-License-Identifier: Apache-2.0
// Whether all operators of a model are known.

#ifndef LN_ONNX_SUPPORT_H
#define LN_ONNX_SUPPORT_H

#include "front/onnx/ln_onnx_model.h"

/** Fails with the names of all operators that cannot be translated, and how often each is used. */
void ln_onnx_check_support(const ln_onnx_scope *scope);

#endif
