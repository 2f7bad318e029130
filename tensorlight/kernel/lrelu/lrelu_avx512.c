// SPDX-License-Identifier: Apache-2.0
// The leaky rectifier: the kernels of one instruction set.

#include "kernel/lrelu/lrelu.h"
#include "kernel/simd/tl_simd.h"

#include "kernel/lrelu/lrelu_simd.inc.h"
