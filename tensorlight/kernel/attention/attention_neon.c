// SPDX-License-Identifier: Apache-2.0
// Attention: the kernel of one instruction set.

#include "kernel/attention/attention.h"
#include "kernel/simd/tl_simd_math.h"

#include "kernel/attention/attention_simd.inc.h"
