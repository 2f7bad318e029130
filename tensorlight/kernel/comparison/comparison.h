// SPDX-License-Identifier: Apache-2.0
// Kernels of the comparisons between tensors that are broadcast.

#ifndef COMPARISON_H
#define COMPARISON_H

#include "kernel/tl_broadcast.h"
#include "kernel/tl_kernel.h"

/** Both sources have the row's type, dst has TL_BOOL. */
#define TL_KERNEL(function, dtype, isa) TL_KERNEL_DECLARE(tl_broadcast_func, function, dtype, isa)
#define TL_COMPARE(op, name)            TL_KERNELS_ALL(tl_compare_##name, c, TL_ISA_C)
#include "kernel/comparison/comparison.def"
#undef TL_COMPARE
#undef TL_KERNEL

#endif
