// SPDX-License-Identifier: Apache-2.0
// Reductions of floats: plain C, compiled for the vectors of one instruction set.

#include "kernel/simd/tl_simd.h"

#define TL_SET TL_SIMD_SET

#include <math.h>

#include "kernel/reduce/reduce.h"
#include "kernel/reduce/reduce_float.inc.h"

#define TL_TAG f32
#include "tensor/tl_one_type.inc.h"
