// SPDX-License-Identifier: Apache-2.0
// Scale and shift per channel of floats: plain C, compiled for the vectors of one instruction set.

#include "kernel/simd/tl_simd.h"

#define TL_SET TL_SIMD_SET

#include "kernel/affine/affine.h"

#define TL_TEMPLATE "kernel/affine/affine_c.inc.h"
#define TL_TAG      f32
#include "tensor/tl_one_type.inc.h"
