// SPDX-License-Identifier: Apache-2.0
// The rectifier: the kernels of one instruction set.

#include "kernel/relu/relu.h"
#include "kernel/simd/tl_simd.h"

#include "kernel/relu/relu_simd.inc.h"
