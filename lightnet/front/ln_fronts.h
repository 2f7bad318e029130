// SPDX-License-Identifier: Apache-2.0
// The front ends that can be built in.

#ifndef LN_FRONTS_H
#define LN_FRONTS_H

#include "front/ln_front.h"

extern const ln_front ln_front_compiled;
extern const ln_front ln_front_nnvm;
extern const ln_front ln_front_onnx;
extern const ln_front ln_front_il;

#endif
