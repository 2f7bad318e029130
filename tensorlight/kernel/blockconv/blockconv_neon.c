// SPDX-License-Identifier: Apache-2.0
// Convolution in the blocked layout: the kernels of one instruction set.

#include "kernel/blockconv/blockconv.h"
#include "kernel/simd/tl_simd_act.h"

#include "kernel/blockconv/blockconv_simd.inc.h"
