// SPDX-License-Identifier: Apache-2.0
// Kernels of products of floats with weights of 2 or 4 bits (layout of weights: tl_lowbit.h).
//
// Weights are bytes in dot products of four, so rows of floats become integers before: the elements
// x of a block are rounded to multiples of `unit`, 2^-22 of the power of two above the largest
// magnitude in the block. Each integer is the sum of three signed bytes, its limbs,
//
//     x = unit * (65536 high + 256 middle + low)
//
// The three sums of products with weights q - zero are exact in 32 bits, for the 128 rows that a
// block has at most. A block adds
//
//     ((float)sum of high * 65536 + (float)(256 * sum of middle + sum of low)) * (scale * unit)
//
// to a column, block by block. Each operation rounds once, so all instruction sets give the same
// bits. The result differs from the definition by less than that of a loop in floats: rounding the
// elements costs half a unit each, and there are as many sums as blocks.
//
// Rows with infinities or NaN are computed by the definition.
//
// For many rows, a panel is converted to floats once, and multiplied like that of any packed matrix
// (kernel/matmul/gemm.h).

#ifndef LOWBIT_H
#define LOWBIT_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_lowbit.h"

enum {
    TL_LOWBIT_LIMBS = 3,
    TL_LOWBIT_QUAD = 4,         /* rows of weights in a dot product */
    TL_LOWBIT_MOST_BLOCK = 128, /* max rows of a block: sums of more could overflow 32 bits */
};

/** The header of a block of a prepared row; its limbs follow, [TL_LOWBIT_LIMBS][block]. */
typedef struct tl_lowbit_head {
    int32_t high, low; /* sums of all high, and of all 256 middle + low */
    float unit;
    int32_t is_finite; /* whether all elements are */
} tl_lowbit_head;

typedef struct tl_lowbit_job {
    tl_lowbit_param param;
    size_t k, blocks;           /* rows of weights, and their blocks */
    size_t row_size;            /* bytes of a prepared row */
    size_t scales_at, zeros_at; /* offset in a panel, after the weights */
    size_t panel_size;
} tl_lowbit_job;

/** dst [rows, cols] = the prepared rows x a panel + bias (or NULL); cols <= TL_LOWBIT_PANEL. */
typedef void tl_lowbit_func(const tl_lowbit_job *job, const char *prepared, size_t rows,
                            const uint8_t *panel, const float *bias, float *dst, size_t dst_row,
                            size_t cols);

/** Prepares a row: src [k] -> job->row_size bytes. */
typedef void tl_lowbit_rows_func(const tl_lowbit_job *job, const float *src, char *dst);

/** A panel as floats: dst [job->blocks * block][TL_LOWBIT_PANEL]. */
typedef void tl_lowbit_widen_func(const tl_lowbit_job *job, const uint8_t *panel, float *dst);

#define TL_LOWBIT_WIDEN_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_lowbit_widen, U8, DOT)
TL_LOWBIT_WIDEN_KERNELS(TL_KERNEL_DECLARE, tl_lowbit_widen_func)

#define TL_LOWBIT_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_lowbit, U8, DOT)
TL_LOWBIT_KERNELS(TL_KERNEL_DECLARE, tl_lowbit_func)

#define TL_LOWBIT_ROWS_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_lowbit_rows, U8, DOT)
TL_LOWBIT_ROWS_KERNELS(TL_KERNEL_DECLARE, tl_lowbit_rows_func)

/** All fields except pointers: `k` rows. */
tl_lowbit_job tl_lowbit_job_of(size_t k, const tl_lowbit_param *param);

/** Bytes of a block of a prepared row. */
static inline size_t tl_lowbit_block_size(const tl_lowbit_job *job)
{
    return sizeof(tl_lowbit_head) + TL_LOWBIT_LIMBS * (size_t)job->param.block;
}

/** The position of the stored weight of row k in a panel: the byte, and its lowest bit. Bytes of a
 * column have rows four apart: with 4 bits the first one has rows 0 and 4. */
static inline size_t tl_lowbit_place(const tl_lowbit_job *job, size_t k, size_t col, int *bit)
{
    const size_t rows = TL_LOWBIT_QUAD * (8 / (size_t)job->param.bits); // of a byte's four
    *bit = (int)(k % rows / TL_LOWBIT_QUAD) * job->param.bits;
    return (k / rows * TL_LOWBIT_PANEL + col) * TL_LOWBIT_QUAD + k % TL_LOWBIT_QUAD;
}

/** The same product by the definition, for an unprepared row. */
void tl_lowbit_define(const tl_lowbit_job *job, const float *src, const uint8_t *panel,
                      const float *bias, float *dst, size_t cols);

#endif
