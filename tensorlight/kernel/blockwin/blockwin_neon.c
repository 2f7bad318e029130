// SPDX-License-Identifier: Apache-2.0
// Windows over single channels in the blocked layout: the kernels of one instruction set.

#include "kernel/blockwin/blockwin.h"
#include "kernel/simd/tl_simd_act.h"

#include "kernel/blockwin/blockwin_simd.inc.h"
