// SPDX-License-Identifier: Apache-2.0
// Kernels of the rectifier, x < 0 ? 0 : x (NaN stays).

#ifndef RELU_H
#define RELU_H

#include "kernel/tl_kernel.h"
#include "kernel/tl_map.h"

/** dst[i] = src[i] < 0 ? 0 : src[i]; dst may be src; `param` is not used. */
#define TL_KERNEL(name, dtype, isa) TL_KERNEL_DECLARE(tl_map_func, name, dtype, isa)
#include "kernel/relu/relu.def"
#undef TL_KERNEL

#endif
