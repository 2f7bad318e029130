// SPDX-License-Identifier: Apache-2.0
// Kernels of the comparisons between tensors that are broadcast.

#ifndef COMPARISON_H
#define COMPARISON_H

#include "kernel/tl_broadcast.h"
#include "kernel/tl_kernel.h"

/** The rows of a comparison in all its types and instruction sets. */
#define TL_COMPARE_KERNELS(name)                   \
    TL_KERNELS_ALL(tl_compare_##name, c, TL_ISA_C) \
    TL_KERNELS_WIDE(tl_compare_##name)             \
    TL_KERNELS_MORE(tl_compare_##name) TL_KERNELS_SETS_BOOL(tl_compare_##name)

/** Both sources have the row's type, dst has TL_BOOL. */
#define TL_KERNEL(function, dtype, isa) TL_KERNEL_DECLARE(tl_broadcast_func, function, dtype, isa)
#define TL_COMPARE(op, name)            TL_COMPARE_KERNELS(name)
#include "kernel/comparison/comparison.def"
#undef TL_COMPARE
#undef TL_KERNEL

#endif
