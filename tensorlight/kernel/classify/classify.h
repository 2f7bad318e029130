// SPDX-License-Identifier: Apache-2.0
// Kernels that test for NaN and infinity.

#pragma once

#include "kernel/tl_kernel.h"

/** dst[i], a TL_BOOL, = whether src[i] is in the classes at `param`, an int. */
#define TL_CLASSIFY_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_classify, FLT, PLAIN)
TL_CLASSIFY_KERNELS(TL_KERNEL_DECLARE, tl_map_func)
