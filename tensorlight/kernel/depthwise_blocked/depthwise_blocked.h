// SPDX-License-Identifier: Apache-2.0
// Kernels of depthwise convolution, max pooling and average pooling in the blocked layout
// (tl_blocked.h).
//
// All of them compute tiles: a few neighbouring results of a line, each one or more vectors in
// registers. The taps of a window are visited row by row. Rows outside the source are skipped
// before a tile, columns outside it within the tile, so padding is neither copied nor multiplied.
// Convolutions of common sizes have specialized tiles for windows that are inside the source.

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_quantized.h"

typedef enum tl_depthwise_kind {
    TL_DEPTHWISE_CONV,
    TL_DEPTHWISE_MAX,
    TL_DEPTHWISE_MEAN,
} tl_depthwise_kind;

/** src [planes, ih, iw, 16] -> dst [planes, oh, ow, 16]; plane p is of block p % blocks. */
typedef struct tl_depthwise_job {
    tl_depthwise_kind kind;
    const void *src;
    const void *weight; // of a convolution: [blocks, 16 + taps * 16], of bytes [blocks, row]
    void *dst;
    int blocks, ih, iw, oh, ow;
    int size[2], stride[2], dilation[2], padding[2]; // padding: top, left
    int64_t begin[2], end[2]; // rows and columns that a mean counts: the source, or with padding
    float low, high;          // bounds of the activation, of tl_act_bounds
    // of floats:
    const float *add; // of a convolution: like dst, or NULL
    tl_activation act;
    // of 8-bit integers:
    size_t row;
    tl_dtype dtype; // of dst; TL_INT32: the sums of a convolution
    tl_quantized_param q;
    uint8_t bounds[2];       // low and high as bytes
    const tl_exec *act_exec; // the exec for activations in plain C
} tl_depthwise_job;

/** A job for src and dst, still without windows and activation. */
tl_depthwise_job tl_depthwise_job_of(tl_depthwise_kind kind, const tl_tensor *src, tl_tensor *dst);

/** Sets the windows of a convolution. */
void tl_depthwise_set_conv(tl_depthwise_job *job, const tl_conv2d_param *param);

/** Sets the windows of a pool. Elements of padding count for a mean if `counts_padding`. */
void tl_depthwise_set_pool(tl_depthwise_job *job, const tl_pool2d_param *param, int counts_padding);

/** The number of the `size` positions from `from` on in begin .. end-1. */
static inline int64_t tl_depthwise_count(int64_t from, int size, int64_t begin, int64_t end)
{
    const int64_t to = from + size;
    return (to < end ? to : end) - (from > begin ? from : begin);
}

/** Computes the lines begin .. end-1, of oh in each plane, for the tl_depthwise_job at `arg`. A
 * convolution: the bias, plus each tap in order, plus add, if not NULL; then the activation. The
 * windows of the others overlap the source, and have dilation 1. */
typedef void tl_depthwise_func(void *arg, size_t begin, size_t end);

#define TL_DEPTHWISE_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_depthwise, F32, BOTH)
TL_DEPTHWISE_KERNELS(TL_KERNEL_DECLARE, tl_depthwise_func)
