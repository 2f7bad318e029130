// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution: the transforms of one instruction set.

#include "kernel/winograd/winograd.h"
#include "kernel/simd/tl_simd_act.h"

#include "kernel/winograd/winograd_simd.inc.h"
