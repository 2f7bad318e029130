// SPDX-License-Identifier: Apache-2.0
// Channels picked in the blocked layout: the kernels of one instruction set.

#include "kernel/blockpick/blockpick.h"
#include "kernel/simd/tl_simd.h"

#include "kernel/blockpick/blockpick_simd.inc.h"
