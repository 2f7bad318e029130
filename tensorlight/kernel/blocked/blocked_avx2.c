// SPDX-License-Identifier: Apache-2.0
// From planes to blocks of channels, and back: the kernels of one instruction set.

#include "kernel/blocked/blocked.h"
#include "kernel/simd/tl_simd.h"

#include "kernel/blocked/blocked_simd.inc.h"
