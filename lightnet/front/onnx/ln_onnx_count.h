// SPDX-License-Identifier: Apache-2.0
// How many nodes a model unfolds to.

#ifndef LN_ONNX_COUNT_H
#define LN_ONNX_COUNT_H

#include "front/onnx/ln_onnx_model.h"

/** Fails where functions, counted at every call, and graphs within nodes have more nodes than there
 *  may be operators (LN_LIMIT_OPS). Takes time for the nodes of the file alone. */
void ln_onnx_check_count(ln_onnx_model *m);

#endif
