// SPDX-License-Identifier: Apache-2.0
// Kernels of exact 8-bit 3x3 convolutions by Winograd's algorithm, in integers.
//
// As in winograd_blocked.h, a tile of 4 x 4 results needs a patch of 6 x 6 pixels, and 36 products,
// one for each point, instead of 144. The points along an axis are 0, 1, -1, 2, -2 and infinity.
// B' has integers already, and G has them once its rows are multiplied by 4, 6, 6, 24, 24 and 1:
//
//          4  0 -5  0  1  0            1  0  0
//          0 -4 -4  1  1  0           -1 -1 -1           6  4  4  1  1  0      24 times result 0
//     B' = 0  4 -4 -1  1  0      G =  -1  1 -1      A' = 0  2 -2  1 -1  0      12 times result 1
//          0 -2 -1  2  1  0            1  2  4           0  1  1  1  1  0       6 times result 2
//          0  2 -1 -2  1  0            1 -2  4           0  1 -1  2 -2  6       6 times result 3
//          0  4  0 -5  0  1            0  0  1
//
// A' compensates these factors as far as possible in integers. All steps are exact:
//
// - Pixels minus TL_WINO_U8_OFFSET are in -128 .. 127. The sums of |B'| along its rows are 10 at
//   most, so that a transformed pixel is at most 100 * 128 = 12,800; those of |G| are 7 at most, so
//   that a transformed weight is at most 49 * 128 = 6,272: both have 16 bits. B' maps a constant c
//   to -6 c at the point 1 and to 0 elsewhere: the offset is subtracted at a single point, (1, 1).
// - Sums over channels, and A', are computed modulo 2^32. They yield each result times 9 * 2^n,
//   n = 6 at most. Multiplied by the inverse of 9 and shifted by n bits, this is the result, if
//   that is in -2^25 .. 2^25 - 1, as it is with 224 channels: 224 * 9 * 128 * 128 < 2^25. More
//   channels are summed in groups of at most TL_WINO_U8_BLOCKS blocks, whose results are added.
//
// Source: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016,
// arXiv:1509.09308.

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/conv_quantized/conv_quantized.h"

enum {
    TL_WINO_U8_TILE = 4,
    TL_WINO_U8_PATCH = 6,
    TL_WINO_U8_POINTS = TL_WINO_U8_PATCH * TL_WINO_U8_PATCH,
    TL_WINO_U8_PAIR = 2,     // channels whose products are summed at a time
    TL_WINO_U8_BLOCKS = 14,  // of source channels in a group, at most
    TL_WINO_U8_OFFSET = 128, // of pixels
    TL_WINO_U8_AT_1 = -6,    // B' applied to a constant 1, at the point 1
};

/** The inverse of 9 modulo 2^32. */
#define TL_WINO_U8_NINTH 0x38e38e39U

/** A' yields result i along an axis multiplied by 3 and by this power of two. */
static const int tl_wino_u8_shift[TL_WINO_U8_TILE] = {3, 2, 1, 1};

/** The operands of a point: steps are in elements. */
typedef struct tl_wino_u8_sum {
    int channels;       // of the group
    size_t src_step;    // from a block of source channels to the next
    size_t weight_step; // from a block of output channels to the next
    size_t dst_step;    // likewise, of products
} tl_wino_u8_sum;

/** The transform of products to results. */
typedef struct tl_wino_u8_job {
    int groups;
    size_t step; // from a point's products to the next; groups have 36 points each
    size_t row;  // elements from a line of results to the next
    void *dst;
    int is_float;            // dst
    tl_quantized_param q;    // with the pixels' offset subtracted from `zero`
    float max;               // max magnitude of a sum of products
    float low, high;         // the bounds of the activation, of tl_act_bounds
    uint8_t bounds[2];       // the same as bytes
    const tl_exec *act_exec; // the exec for activations in plain C
} tl_wino_u8_job;

typedef struct tl_wino_u8_kernel {
    /** Transforms a block of a patch, rows `row` bytes apart, to 36 vectors of TL_BLOCK, `step`
     *  elements apart: those of (pixels - offset), the points of rows before those of columns. */
    void (*source)(const uint8_t *src, size_t row, int16_t *dst, size_t step);
    /** Computes the products of a point: src [block][n][TL_BLOCK] x weight [n_blocks]
     *  [pair of channels][TL_BLOCK][2] -> dst [n_blocks][n][TL_BLOCK], for `n` tiles. */
    void (*multiply)(const tl_wino_u8_sum *sum, const int16_t *src, const int16_t *weight,
                     uint32_t *dst, int n, int n_blocks);
    /** Transforms the products of `n` tiles side by side, and writes their results, `rows` x `cols`
     * pixels from element `at` of dst on. `head` begins the block's packed weights. */
    void (*result)(const tl_wino_u8_job *job, const uint32_t *products, const int8_t *head,
                   size_t at, int n, int rows, int cols);
} tl_wino_u8_kernel;

#define TL_WINO_U8_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_wino, U8, BOTH)
TL_WINO_U8_KERNELS(TL_KERNEL_DECLARE, extern const tl_wino_u8_kernel)
