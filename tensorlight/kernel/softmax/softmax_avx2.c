// SPDX-License-Identifier: Apache-2.0
// Softmax, and its logarithm: the kernels of one instruction set.

#include "kernel/simd/tl_simd_math.h"
#include "kernel/softmax/softmax.h"

#include "kernel/softmax/softmax_simd.inc.h"
