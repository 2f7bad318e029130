// SPDX-License-Identifier: Apache-2.0
// Kernels of the comparisons between tensors that are broadcast.

#pragma once

#include "kernel/tl_broadcast.h"
#include "kernel/tl_kernel.h"

/** The comparisons: ROW(arg, op, name, swaps), one row for each of tl_compare_op. The kernels that
 *  comparison_c.c defines by `name` compute it, with src2 before src1 where it `swaps`. */
#define TL_COMPARISONS(ROW, arg)                   \
    ROW(arg, TL_COMPARE_EQUAL, equal, 0)           \
    ROW(arg, TL_COMPARE_NOT_EQUAL, not_equal, 0)   \
    ROW(arg, TL_COMPARE_LESS, less, 0)             \
    ROW(arg, TL_COMPARE_LESS_EQUAL, less_equal, 0) \
    ROW(arg, TL_COMPARE_GREATER, less, 1)          \
    ROW(arg, TL_COMPARE_GREATER_EQUAL, less_equal, 1)

/** The rows of a comparison in all its types and instruction sets. */
#define TL_COMPARISON_KERNELS(ROW, arg, name)           \
    TL_KERNELS(ROW, arg, tl_compare_##name, ALL, PLAIN) \
    TL_KERNELS(ROW, arg, tl_compare_##name, F32, WIDE)  \
    TL_KERNELS(ROW, arg, tl_compare_##name, MORE, WIDE) \
    TL_KERNELS(ROW, arg, tl_compare_##name, BOOL, WIDE)

/** Both sources have the row's type, dst has TL_BOOL. */
#define TL_COMPARISON_DECLARE(type, op, name, swaps) \
    TL_COMPARISON_KERNELS(TL_KERNEL_DECLARE, type, name)
TL_COMPARISONS(TL_COMPARISON_DECLARE, tl_broadcast_func)
