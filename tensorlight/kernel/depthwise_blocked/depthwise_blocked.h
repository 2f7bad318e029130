// SPDX-License-Identifier: Apache-2.0
// Kernels of windows over single channels in the blocked layout (tl_blocked.h): depthwise
// convolution, the maximum, and the mean.
//
// All of them compute tiles: a few neighbouring results of a line, each a vector (or several) in
// registers. The taps of a window are taken row by row. Rows outside the source are skipped
// before a tile, columns outside it within the tile, so padding needs no copies and is never
// multiplied. Tiles with all windows inside have specialized loops for convolutions of common
// sizes.

#ifndef DEPTHWISE_BLOCKED_H
#define DEPTHWISE_BLOCKED_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_blocked.h"

typedef enum tl_depthwise_kind {
    TL_DEPTHWISE_CONV,
    TL_DEPTHWISE_MAX,
    TL_DEPTHWISE_MEAN,
    TL_DEPTHWISE_KIND_SIZE
} tl_depthwise_kind;

/** src [planes, ih, iw, 16] -> dst [planes, oh, ow, 16]; plane p is of block p % blocks. */
typedef struct tl_depthwise_job {
    tl_depthwise_kind kind;
    const float *src;
    const float *weight; // of a convolution: [blocks, 16 + taps * 16]
    const float *add;    // of a convolution: like dst, or NULL
    float *dst;
    int blocks, ih, iw, oh, ow;
    int size[2], stride[2], dilation[2], padding[2]; // padding: top, left
    int64_t begin[2], end[2]; // the rows and columns that a mean counts; the source's, or more
    tl_activation act;
    float low, high; // bounds of a convolution's results
} tl_depthwise_job;

/** Computes the lines begin .. end-1, of oh in each plane, for the tl_depthwise_job at `arg`. A
 * convolution: the bias, plus each tap in order, plus add, if not NULL; then the activation. The
 * windows of the others overlap the source, and have dilation 1. */
typedef void tl_depthwise_func(void *arg, size_t begin, size_t end);

#define TL_DEPTHWISE_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_depthwise, F32, BOTH)
TL_DEPTHWISE_KERNELS(TL_KERNEL_DECLARE, tl_depthwise_func)

#endif
