// SPDX-License-Identifier: Apache-2.0
// Kernels that only multiply and add, at the peak rate of their instruction set.

#pragma once

#include "kernel/tl_kernel.h"

/** Applies x -> x * factor + addend `rounds` times to many scalars, initially 0, 1, ...; `*result`
 * is their max. Returns the number of operations. */
typedef double tl_peak_func(size_t rounds, float factor, float addend, float *result);

/** Adds dot products of src[0 .. 3] with four weights per lane, of the 64 at `weight`, to many
 * sums, `rounds` times; `*result` is the max sum. Returns the number of operations. */
typedef double tl_peak_bytes_func(size_t rounds, const uint8_t *src, const int8_t *weight,
                                  float *result);

/** Adds 2 * factor1 * factor2 `rounds` times to many sums, initially 0, 1, ...; `*result` is the
 * max sum. Returns the number of operations. */
typedef double tl_peak_pairs_func(size_t rounds, float factor1, float factor2, float *result);

#define TL_PEAK_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_peak, F32, BOTH)
TL_PEAK_KERNELS(TL_KERNEL_DECLARE, tl_peak_func)

/** Kernels of matrix units add as many products of whole tiles as take about that long. */
#define TL_PEAK_PAIRS_KERNELS(ROW, arg)             \
    TL_KERNELS(ROW, arg, tl_peak_pairs, BF16, BF16) \
    TL_KERNELS(ROW, arg, tl_peak_pair_tile, BF16, PAIR_TILE)
TL_PEAK_PAIRS_KERNELS(TL_KERNEL_DECLARE, tl_peak_pairs_func)

#define TL_PEAK_BYTES_KERNELS(ROW, arg)          \
    TL_KERNELS(ROW, arg, tl_peak_bytes, U8, DOT) \
    TL_KERNELS(ROW, arg, tl_peak_tile, U8, TILE)
TL_PEAK_BYTES_KERNELS(TL_KERNEL_DECLARE, tl_peak_bytes_func)
