// SPDX-License-Identifier: Apache-2.0
// Kernels of the logistic function, 1 / (1 + exp(-x)).

#ifndef SIGMOID_H
#define SIGMOID_H

#include "kernel/tl_kernel.h"
#include "kernel/tl_map.h"

/** dst[i] = 1 / (1 + exp(-src[i])), 0 and 1 far out, NaN stays; dst may be src; `param` is not
 *  used. */
#define TL_KERNEL(name, dtype, isa) TL_KERNEL_DECLARE(tl_map_func, name, dtype, isa)
#include "kernel/sigmoid/sigmoid.def"
#undef TL_KERNEL

#endif
