// SPDX-License-Identifier: Apache-2.0
// The functions of one number: the kernels of one instruction set.

#include "kernel/simd/tl_simd_math.h"
#include "kernel/unary/unary.h"

#include "kernel/unary/unary_simd.inc.h"
