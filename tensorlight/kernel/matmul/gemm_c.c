// SPDX-License-Identifier: Apache-2.0
// The matrix product of floats: the kernels of one instruction set.

#include "kernel/matmul/gemm.h"

#include <math.h>

#include "kernel/simd/tl_simd_act.h"

#include "kernel/matmul/gemm_simd.inc.h"
