// SPDX-License-Identifier: Apache-2.0
// Batch normalization in plain C, and its weights folded into a scale and a shift.

#include "kernel/batchnorm/batchnorm.h"

#include <math.h>

#define sqrt_of(x) _Generic((x), float : sqrtf, double : sqrt)(x)

#define TL_TEMPLATE "kernel/batchnorm/batchnorm_c.inc.h"
#include "tensor/tl_each_float.inc.h"
