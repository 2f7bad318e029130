// SPDX-License-Identifier: Apache-2.0
// Plain C kernels of matrix multiplication: pack, multiply, store.
//
// A block of the result, at most TL_MATMUL_ROWS x TL_MATMUL_COLS, is computed in steps of
// TL_MATMUL_LEN along the sums. For each step the rows of src1 and the columns of src2 are packed
// as panels that hold TL_MATMUL_TILE_ROWS, or _COLS, of them side by side,
//
//     src1: r0[0] r1[0] r2[0] r3[0]  r0[1] r1[1] r2[1] r3[1]  ..      src2: the same of 8 columns
//
// with zeros in the last panel, so that the tile of a pair of panels reads memory in order and
// stays in registers.
//
// The type of sums is double, float (also for 16-bit floats), or unsigned integers of 32 or 64
// bits, whose lower bits are those of sums of any narrower integer type.

#pragma once

#include "kernel/tl_kernel.h"

enum {
    TL_MATMUL_TILE_ROWS = 4,
    TL_MATMUL_TILE_COLS = 8,
    TL_MATMUL_ROWS = 64, // whole tiles
    TL_MATMUL_COLS = 64,
    TL_MATMUL_LEN = 64
};

/** acc [.., TL_MATMUL_COLS] += the products of panels of `rows` rows and of `cols` columns, each
 *  `len` long. Whole tiles of acc are written. */
typedef void tl_matmul_func(const void *panels1, const void *panels2, void *acc, size_t rows,
                            size_t cols, size_t len);

/** Lines of a matrix: the rows of src1, or the columns of src2. Distances in elements. */
typedef struct tl_matmul_lines {
    const void *src;
    size_t n, step;       // the number of lines, and the distance of adjacent ones
    size_t len, len_step; // elements of a line that are summed along, and their distance
    const void *zero;     // zero points, of the type of src, or NULL
    size_t zero_step;     // from line to line: 0 or 1
} tl_matmul_lines;

/** Packs the lines as panels of `width` lines, at most TL_MATMUL_TILE_COLS, converted to the type
 *  of the sums, minus their zero points. */
typedef void tl_matmul_pack_func(const tl_matmul_lines *lines, size_t width, void *panels);

/** acc[j] += the dot product of `row` and line j, without packing; lines->zero is NULL. */
typedef void tl_matmul_row_func(const void *row, size_t row_step, const tl_matmul_lines *lines,
                                void *acc);

/** dst[j] = alpha * acc[j] + beta * bias[j * bias_step] for j < n; bias may be NULL. */
typedef void tl_matmul_store_func(const void *acc, void *dst, size_t n, double alpha,
                                  const void *bias, size_t bias_step, double beta);

#define TL_MATMUL_KERNELS(ROW, arg)                \
    ROW(arg, tl_matmul_f64_c, TL_DOUBLE, TL_ISA_C) \
    ROW(arg, tl_matmul_f32_c, TL_FLOAT, TL_ISA_C)  \
    ROW(arg, tl_matmul_u64_c, TL_UINT64, TL_ISA_C) \
    ROW(arg, tl_matmul_u32_c, TL_UINT32, TL_ISA_C)
TL_MATMUL_KERNELS(TL_KERNEL_DECLARE, tl_matmul_func)

#define TL_MATMUL_PACK_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_matmul_pack, NUM, PLAIN)
TL_MATMUL_PACK_KERNELS(TL_KERNEL_DECLARE, tl_matmul_pack_func)

#define TL_MATMUL_ROW_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_matmul_row, NUM, PLAIN)
TL_MATMUL_ROW_KERNELS(TL_KERNEL_DECLARE, tl_matmul_row_func)

#define TL_MATMUL_STORE_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_matmul_store, NUM, PLAIN)
TL_MATMUL_STORE_KERNELS(TL_KERNEL_DECLARE, tl_matmul_store_func)
