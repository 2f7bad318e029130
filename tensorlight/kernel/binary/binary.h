// SPDX-License-Identifier: Apache-2.0
// Kernels of the binary operations between tensors that are broadcast.

#ifndef BINARY_H
#define BINARY_H

#include "kernel/tl_broadcast.h"
#include "kernel/tl_kernel.h"
#include "kernel/tl_map.h"

/** The rows of an operation in all its types and instruction sets. */
#define TL_BINARY_KERNELS(name, types, sets) \
    TL_KERNELS_##types(tl_binary_##name, c, TL_ISA_C) TL_KERNELS_SETS_##sets(tl_binary_##name)

/** Both sources and dst have the row's type. They fail where tl_binary_op says so. */
#define TL_KERNEL(function, dtype, isa)         TL_KERNEL_DECLARE(tl_broadcast_func, function, dtype, isa)
#define TL_BINARY(op, name, types, grain, sets) TL_BINARY_KERNELS(name, types, sets)
#include "kernel/binary/binary.def"
#undef TL_BINARY
#undef TL_KERNEL

/** The kernel of `op`, which takes `dtype`, for the level of `exec`, and the elements that one
 *  thread takes at least: for chains. */
tl_broadcast_func *tl_binary_kernel(const tl_exec *exec, tl_binary_op op, tl_dtype dtype);
size_t tl_binary_grain(tl_binary_op op);

#endif
