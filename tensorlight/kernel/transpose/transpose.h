// SPDX-License-Identifier: Apache-2.0
// Kernels of the transposition of a matrix, from which all permutations of axes are composed.

#pragma once

#include "kernel/tl_kernel.h"

/** dst[r * dst_stride + c] = src[c * src_stride + r] for r < rows, c < cols; strides in elements.
 *  src and dst do not overlap. */
typedef void tl_transpose_kernel(const void *src, size_t src_stride, void *dst, size_t dst_stride,
                                 size_t rows, size_t cols);

// Vectors of floats move any 4 bytes.
#define TL_ROWS_4_BYTES(ROW, arg, kernel, set, isa) ROW(arg, kernel##_f32_##set, TL_UINT32, isa)
#define TL_TRANSPOSE_KERNELS(ROW, arg)              \
    TL_KERNELS(ROW, arg, tl_transpose, UINT, PLAIN) \
    TL_KERNELS(ROW, arg, tl_transpose, 4_BYTES, SIMD)
TL_TRANSPOSE_KERNELS(TL_KERNEL_DECLARE, tl_transpose_kernel)

/** The kernel for elements of `size` bytes. */
tl_transpose_kernel *tl_transpose_pick(const tl_exec *exec, size_t size);
