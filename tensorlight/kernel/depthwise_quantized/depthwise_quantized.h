// SPDX-License-Identifier: Apache-2.0
// Kernels of windows over single channels of 8-bit images in blocks (tl_quantized.h): depthwise
// convolution, the maximum, and the mean.

#ifndef DEPTHWISE_QUANTIZED_H
#define DEPTHWISE_QUANTIZED_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/conv_quantized/conv_quantized.h"

typedef enum tl_depthwise_u8_kind {
    TL_DEPTHWISE_U8_CONV,
    TL_DEPTHWISE_U8_MAX,
    TL_DEPTHWISE_U8_MEAN,
} tl_depthwise_u8_kind;

/** src [planes, ih, iw, 16] -> dst [planes, oh, ow, 16]; plane p is of block p % blocks. */
typedef struct tl_depthwise_u8_job {
    tl_depthwise_u8_kind kind;
    const uint8_t *src;
    const int8_t *weight; // of a convolution: [blocks, row]
    size_t row;
    void *dst;
    tl_dtype dtype; // of dst; TL_INT32: the sums of a convolution
    int blocks, ih, iw, oh, ow;
    int size[2], stride[2], dilation[2], padding[2]; // padding: top, left
    int64_t begin[2], end[2]; // the rows and columns that a mean counts; the source's, or more
    tl_quantized_param q;
    float low, high;      // the bounds of the activation, of tl_act_bounds
    uint8_t bounds[2];    // and as bytes
    const tl_exec *alone; // the exec for activations in plain C
} tl_depthwise_u8_job;

/** Computes the lines begin .. end-1, of oh in each plane, for the tl_depthwise_u8_job at `arg`.
 * The windows of a max and a mean overlap the source, and have dilation 1. */
typedef void tl_depthwise_u8_func(void *arg, size_t begin, size_t end);

#define TL_DEPTHWISE_U8_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_depthwise, U8, DOT)
TL_DEPTHWISE_U8_KERNELS(TL_KERNEL_DECLARE, tl_depthwise_u8_func)

/** The number of the `size` positions from `from` on in begin .. end-1. */
static inline int64_t tl_depthwise_u8_count(int64_t from, int size, int64_t begin, int64_t end)
{
    const int64_t to = from + size;
    return (to < end ? to : end) - (from > begin ? from : begin);
}

/** The zero points of the weights of a block of channels. */
static inline void tl_depthwise_u8_zeros(const tl_depthwise_u8_job *job, int block, int32_t *zeros)
{
    const tl_tensor *const t = job->q.weight_zero;
    const int8_t *const data = t ? t->data : NULL;
    for (int c = 0; c < TL_BLOCK; c++) {
        const int i = t && t->len > 1 ? block * TL_BLOCK + c : 0;
        zeros[c] = t && i < t->len ? data[i] : 0;
    }
}

/** Quads of weights of a row of taps. */
static inline int tl_depthwise_u8_quads(int width)
{
    return (width + TL_QUAD - 1) / TL_QUAD;
}

#endif
