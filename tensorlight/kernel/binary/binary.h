// SPDX-License-Identifier: Apache-2.0
// Kernels of the binary operations between tensors that are broadcast.

#ifndef BINARY_H
#define BINARY_H

#include "kernel/tl_broadcast.h"
#include "kernel/tl_kernel.h"

/** The binary operations: ROW(arg, op, name, types, grain, sets), one row for each of tl_binary_op,
 *  defined by `name` in binary_c.c for floats, integers and bool, and where sets is SIMD in
 *  binary_simd.c; BOOL: binary_c.c is compiled for wider vectors, too; MANY: both. */
#define TL_BINARY_OPS(ROW, arg)                                                     \
    ROW(arg, TL_BINARY_ADD, add, NUM, TL_GRAIN_MEMORY_BOUND, MANY)                  \
    ROW(arg, TL_BINARY_SUB, sub, NUM, TL_GRAIN_MEMORY_BOUND, MANY)                  \
    ROW(arg, TL_BINARY_MUL, mul, NUM, TL_GRAIN_MEMORY_BOUND, MANY)                  \
    ROW(arg, TL_BINARY_DIV, div, ALL, TL_GRAIN_MEMORY_BOUND, SIMD)                  \
    ROW(arg, TL_BINARY_MOD, mod, NUM, TL_GRAIN_COMPUTE_BOUND, PLAIN)                \
    ROW(arg, TL_BINARY_FMOD, fmod, NUM, TL_GRAIN_COMPUTE_BOUND, PLAIN)              \
    ROW(arg, TL_BINARY_POW, pow, NUM, TL_GRAIN_COMPUTE_BOUND, PLAIN)                \
    ROW(arg, TL_BINARY_MAX, max, NUM, TL_GRAIN_MEMORY_BOUND, MANY)                  \
    ROW(arg, TL_BINARY_MIN, min, NUM, TL_GRAIN_MEMORY_BOUND, MANY)                  \
    ROW(arg, TL_BINARY_PRELU, prelu, NUM, TL_GRAIN_MEMORY_BOUND, SIMD)              \
    ROW(arg, TL_BINARY_AND, and, WHOLE, TL_GRAIN_MEMORY_BOUND, BOOL)                \
    ROW(arg, TL_BINARY_OR, or, WHOLE, TL_GRAIN_MEMORY_BOUND, BOOL)                  \
    ROW(arg, TL_BINARY_XOR, xor, WHOLE, TL_GRAIN_MEMORY_BOUND, BOOL)                \
    ROW(arg, TL_BINARY_SHIFT_LEFT, shift_left, INT, TL_GRAIN_MEMORY_BOUND, PLAIN)   \
    ROW(arg, TL_BINARY_SHIFT_RIGHT, shift_right, INT, TL_GRAIN_MEMORY_BOUND, PLAIN) \
    ROW(arg, TL_BINARY_PICK_MAX, pick_max, FLT, TL_GRAIN_MEMORY_BOUND, SIMD)        \
    ROW(arg, TL_BINARY_PICK_MIN, pick_min, FLT, TL_GRAIN_MEMORY_BOUND, SIMD)        \
    ROW(arg, TL_BINARY_POW_DOUBLE, pow_double, WHOLE, TL_GRAIN_COMPUTE_BOUND, PLAIN)

/** The rows of an operation in all its types and instruction sets. */
#define TL_BINARY_KERNELS(ROW, arg, name, types, sets)   \
    TL_KERNELS(ROW, arg, tl_binary_##name, types, PLAIN) \
    TL_BESIDE_##sets(ROW, arg, tl_binary_##name)

/** Both sources and dst have the row's type. They fail as documented for tl_binary_op. */
#define TL_BINARY_DECLARE(type, op, name, types, grain, sets) \
    TL_BINARY_KERNELS(TL_KERNEL_DECLARE, type, name, types, sets)
TL_BINARY_OPS(TL_BINARY_DECLARE, tl_broadcast_func)

/** The kernel of `op`, which supports `dtype`, for the instruction set of `exec`, and its grain:
 * for chains. */
tl_broadcast_func *tl_binary_kernel(const tl_exec *exec, tl_binary_op op, tl_dtype dtype);
size_t tl_binary_grain(tl_binary_op op);

#endif
