// SPDX-License-Identifier: Apache-2.0
// What neural networks compute on tensors: convolution, pooling, reductions, resampling, detection.

#ifndef TL_NN_H
#define TL_NN_H

#include "tensorlight/tl_tensor.h"

TL_BEGIN_DECLS

TL_END_DECLS

#endif
