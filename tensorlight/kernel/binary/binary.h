// SPDX-License-Identifier: Apache-2.0
// Kernels of the binary operations between tensors that are broadcast: of the rows of TL_BINARY_OPS
// (tl_functions.h). binary_c.c is compiled for wider vectors, too, for rows with BOOL and MANY.

#pragma once

#include "kernel/tl_broadcast.h"
#include "kernel/tl_kernel.h"
#include "tensorlight/tl_elementwise.h"

/** The rows of an operation in all its types and instruction sets. */
#define TL_BINARY_KERNELS(ROW, arg, name, types, sets)   \
    TL_KERNELS(ROW, arg, tl_binary_##name, types, PLAIN) \
    TL_BESIDE_##sets(ROW, arg, tl_binary_##name)

/** Both sources and dst have the row's type. They fail as documented for tl_binary_op. */
#define TL_BINARY_DECLARE(type, NAME, name, types, cost, sets, ...) \
    TL_BINARY_KERNELS(TL_KERNEL_DECLARE, type, name, types, sets)
TL_BINARY_OPS(TL_BINARY_DECLARE, tl_broadcast_func)

/** The kernel of `op`, which supports `dtype`, for the instruction set of `exec`, and its grain:
 * for chains. */
tl_broadcast_func *tl_binary_kernel(const tl_exec *exec, tl_binary_op op, tl_dtype dtype);
size_t tl_binary_grain(tl_binary_op op);
