// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication of floats with weights of 2, 4 or 8 bits (layout of weights: tl_lowbit.h).
//
// Dot products of four bytes need integers, so each row of floats is quantized first ("prepared"):
// the elements x of a block are rounded to multiples of `unit`, 2^-22 of the power of two above the
// max magnitude in the block. Each integer is the sum of three signed bytes, its limbs,
//
//     x = unit * (65536 high + 256 middle + low)
//
// The three dot products with weights q - zero are exact in 32 bits, since a block has at most 128
// rows of weights. A block adds
//
//     ((float)sum of high * 65536 + (float)(256 * sum of middle + sum of low)) * (scale * unit)
//
// to a column, block by block. Each operation rounds once, so all instruction sets compute the same
// bits. Results are more accurate than those of a loop in floats: rounding an element costs half a
// unit, with one sum per block.
//
// With src_bits 8, an integer has one limb instead: x is rounded to a multiple of `unit`, the max
// magnitude in the block / 127, and the block adds (float)sum * (scale * unit).
//
// Rows with infinities or NaN are computed by the reference loop; with src_bits 8 their unit is
// NaN.
//
// For many rows, a panel is dequantized to floats once, and multiplied like that of any packed
// matrix (kernel/matmul/gemm.h). Matrix units multiply prepared rows instead, any number of them.

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_lowbit.h"

enum {
    TL_LOWBIT_MAX_LIMBS = 3,
    TL_LOWBIT_QUAD = 4,        // rows of weights in a dot product
    TL_LOWBIT_MAX_BLOCK = 128, // rows of a block: sums of more could overflow 32 bits
    TL_LOWBIT_HEAD = 64,       // bytes in front of the panels: the first one is 1 for TL_FLOAT16
};

/** The header of a block of a prepared row; its limbs follow, [limbs][block]. */
typedef struct tl_lowbit_head {
    // The terms of the zero points in sum x (q - zero) = sum x q - zero * sum x: minus the sums of
    // all high, and of all 256 * middle + low (one limb: low), times `zero` if it is the same for
    // all weights; otherwise the kernel multiplies them by each zero point.
    int32_t high, low;
    float unit;
    int32_t is_finite; // all elements are finite
} tl_lowbit_head;

typedef struct tl_lowbit_job {
    tl_lowbit_param param;
    size_t limbs;                 // of a prepared element
    size_t k, blocks;             // rows of weights, and their blocks
    size_t row_size;              // bytes of a prepared row
    int has_halves;               // scales are binary16, not floats
    size_t scales_at, block_size; // of a block in a panel: after the weights
    size_t zeros_at, panel_size;  // of a panel: after the blocks
} tl_lowbit_job;

/** Columns of a product: the weights of a panel, a bias (or NULL), results in rows that are apart.
 */
typedef struct tl_lowbit_cols {
    const uint8_t *panel;
    const float *bias;
    float *dst;
    size_t n; // at most TL_LOWBIT_PANEL
} tl_lowbit_cols;

/** Computes cols[0], and cols[1] if it is a `pair`, of one row: dst = prepared rows x panel + bias.
 * Memory delivers two panels faster than one. */
typedef void tl_lowbit_func(const tl_lowbit_job *job, const char *prepared, size_t rows,
                            const tl_lowbit_cols *cols, int pair, size_t dst_row);

/** Prepares a row: src [k] -> job->row_size bytes. */
typedef void tl_lowbit_rows_func(const tl_lowbit_job *job, const float *src, char *dst);

/** Dequantizes a panel: dst [job->blocks * block][TL_LOWBIT_PANEL]. */
typedef void tl_lowbit_widen_func(const tl_lowbit_job *job, const uint8_t *panel, float *dst);

#define TL_LOWBIT_WIDEN_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_lowbit_widen, U8, DOT)
TL_LOWBIT_WIDEN_KERNELS(TL_KERNEL_DECLARE, tl_lowbit_widen_func)

#define TL_LOWBIT_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_lowbit, U8, DOT)
TL_LOWBIT_KERNELS(TL_KERNEL_DECLARE, tl_lowbit_func)

#define TL_LOWBIT_TILES(ROW, arg) TL_KERNELS(ROW, arg, tl_lowbit_tile, U8, TILE)
TL_LOWBIT_TILES(TL_KERNEL_DECLARE, tl_lowbit_func)

#define TL_LOWBIT_ROWS_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_lowbit_rows, U8, DOT)
TL_LOWBIT_ROWS_KERNELS(TL_KERNEL_DECLARE, tl_lowbit_rows_func)

/** The job for `k` rows of weights, whose scales are binary16 or floats. */
tl_lowbit_job tl_lowbit_job_of(size_t k, const tl_lowbit_param *param, int has_halves);

/** Bytes of a block of a prepared row. */
static inline size_t tl_lowbit_block_size(const tl_lowbit_job *job)
{
    return sizeof(tl_lowbit_head) + job->limbs * (size_t)job->param.block;
}

/** Bytes of a scale. */
static inline size_t tl_lowbit_scale_size(const tl_lowbit_job *job)
{
    return job->has_halves ? sizeof(uint16_t) : sizeof(float);
}

/** The offset in a panel of the byte with the weight of row k, and the weight's lowest bit. A byte
 * has weights of rows four apart: with 4 bits the first one has rows 0 and 4. */
static inline size_t tl_lowbit_weight_at(const tl_lowbit_job *job, size_t k, size_t col, int *bit)
{
    const size_t rows = TL_LOWBIT_QUAD * (8 / (size_t)job->param.bits); // in TL_LOWBIT_QUAD bytes
    *bit = (int)(k % rows / TL_LOWBIT_QUAD) * job->param.bits;
    const size_t block = (size_t)job->param.block, quad = k % block / rows * TL_LOWBIT_PANEL + col;
    return k / block * job->block_size + quad * TL_LOWBIT_QUAD + k % TL_LOWBIT_QUAD;
}

/** The reference loop: the product of one unprepared row with a panel. */
void tl_lowbit_reference(const tl_lowbit_job *job, const float *src, const uint8_t *panel,
                         const float *bias, float *dst, size_t cols);
