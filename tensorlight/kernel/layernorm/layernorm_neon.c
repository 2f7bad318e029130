// SPDX-License-Identifier: Apache-2.0
// Normalization of lines: the kernels of one instruction set.

#include "kernel/layernorm/layernorm.h"

#include <math.h>

#include "kernel/simd/tl_simd.h"

#include "kernel/layernorm/layernorm_simd.inc.h"
