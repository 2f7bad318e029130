// SPDX-License-Identifier: Apache-2.0
// Quantization and back: the kernels of one instruction set.

#include "kernel/quantize/quantize.h"
#include "kernel/simd/tl_simd_small.h"

#include "kernel/quantize/quantize_simd.inc.h"
