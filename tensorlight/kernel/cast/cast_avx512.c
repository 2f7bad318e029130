// SPDX-License-Identifier: Apache-2.0
// The conversion between types: the kernels of one instruction set.

#include "kernel/cast/cast.h"
#include "kernel/convert/convert.h"
#include "kernel/simd/tl_simd_small.h"

#include "kernel/cast/cast_simd.inc.h"
