// SPDX-License-Identifier: Apache-2.0
// Kernels of the choice between two tensors, element by element.

#pragma once

#include "kernel/tl_broadcast.h"
#include "kernel/tl_kernel.h"

/** Sources: the condition, TL_BOOL, and two of the row's type, which serves all types of its size.
 *  */
#define TL_WHERE_KERNELS(ROW, arg)              \
    TL_KERNELS(ROW, arg, tl_where, UINT, PLAIN) \
    TL_KERNELS(ROW, arg, tl_where, UINT, WIDE)
TL_WHERE_KERNELS(TL_KERNEL_DECLARE, tl_broadcast_func)
