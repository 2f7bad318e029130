// SPDX-License-Identifier: Apache-2.0
// Kernels of Winograd's convolution in the blocked layout (tl_blocked.h).
//
// A tile of m x m results needs a patch of t x t pixels, t = m + 2. Along one axis, patch and
// window are polynomials, whose product is found from its values at t points: a product for each
// point instead of 3 m. For both axes:
//
//     result = A' [(G window G') * (B' patch B)] A        * element by element
//
// Summed over channels, the product becomes t * t matrix multiplications, computed for many tiles
// at a time by the kernels of conv_blocked (a 1x1 convolution whose pixels are tiles).
//
// The points are 0, infinity, and m / 2 pairs +p, -p. Common terms of a pair are computed once:
// with N(x) the product of x^2 - q^2 over the other pairs, the row of B' for the point +-p is
// x (x +- p) N(x), so d[2], d[4], .. and d[1], d[3], .. have the same coefficients; row p of A' is
// 1, p, p^2, ..: even and odd powers again. G includes all scales, so that B' and A' have no
// fractions; it is computed in double when weights are packed.
//
// Source: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016,
// arXiv:1509.09308; for the choice of points, symmetric ones near 1: Barabasz, Anderson,
// Soodhalter and Gregg, "Error Analysis and Improving the Accuracy of Winograd Convolution for
// Deep Neural Networks", 2020, arXiv:1803.10986.

#pragma once

#include <stddef.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_blocked.h"

enum {
    TL_WINO_PAIRS = 3,                   // of points, at most
    TL_WINO_SIZE = 2 * TL_WINO_PAIRS + 2 // t, at most
};

/** The points of a number of pairs. All values but the powers of square roots are exact floats. */
typedef struct tl_wino_points {
    double power[TL_WINO_PAIRS][2 * TL_WINO_PAIRS]; // p^0, p^1, .. of each pair
    double others[TL_WINO_PAIRS][TL_WINO_PAIRS];    // N(x) of each: coefficients of x^0, x^2, ..
    double all[TL_WINO_PAIRS + 1];                  // the product of x^2 - p^2 over all pairs
} tl_wino_points;

#define TL_SQRT1_2 0.70710678118654752440
#define TL_SQRT2   1.41421356237309504880

/** By the number of pairs. For two pairs, 1/sqrt(2) and sqrt(2) have a third of the error of the
 *  usual 1 and 2; for three, no points near 1/2, 1, 2 are better by more than a few percent. */
static const tl_wino_points tl_wino_points_of[TL_WINO_PAIRS + 1] = {
    [1] = {.power = {{1, 1}}, .others = {{1}}, .all = {-1, 1}},
    [2] = {.power = {{1, TL_SQRT1_2, 0.5, 0.5 * TL_SQRT1_2}, {1, TL_SQRT2, 2, 2 * TL_SQRT2}},
           .others = {{-2, 1}, {-0.5, 1}},
           .all = {1, -2.5, 1}},
    [3] = {.power = {{1, 0.5, 0.25, 0.125, 0.0625, 0.03125},
                     {1, 1, 1, 1, 1, 1},
                     {1, 2, 4, 8, 16, 32}},
           .others = {{4, -5, 1}, {1, -4.25, 1}, {0.25, -1.25, 1}},
           .all = {-1, 5.25, -5.25, 1}},
};

/** Transforms a block of a patch, t x t pixels in rows `row` floats apart, to t * t vectors of
 *  TL_BLOCK floats, `step` apart: B' patch B, the points of rows before those of columns. */
typedef void tl_wino_source_func(int pairs, const float *src, size_t row, float *dst, size_t step);

/** The transform of products to results. */
typedef struct tl_wino_job {
    int pairs;
    size_t step; // floats between the products of a tile
    size_t row;  // floats between rows of results, and of add
    tl_activation act;
    float low, high; // bounds of results
} tl_wino_job;

/** Transforms t * t vectors of a block to the first `rows` x `cols` pixels of a tile: A' src A,
 *  plus the block's bias, plus add, if not NULL; then the activation. */
typedef void tl_wino_result_func(const tl_wino_job *job, const float *src, const float *bias,
                                 const float *add, float *dst, int rows, int cols);

#define TL_WINO_SOURCE_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_wino_source, F32, BOTH)
TL_WINO_SOURCE_KERNELS(TL_KERNEL_DECLARE, tl_wino_source_func)

#define TL_WINO_RESULT_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_wino_result, F32, BOTH)
TL_WINO_RESULT_KERNELS(TL_KERNEL_DECLARE, tl_wino_result_func)
