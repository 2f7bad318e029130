// SPDX-License-Identifier: Apache-2.0
// Kernels of windows over single channels of 8-bit images in blocks (tl_quantized.h): depthwise
// convolution, the maximum, and the mean.

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/conv_quantized/conv_quantized.h"
#include "kernel/depthwise_blocked/depthwise_blocked.h"

#define TL_DEPTHWISE_U8_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_depthwise, U8, DOT)
TL_DEPTHWISE_U8_KERNELS(TL_KERNEL_DECLARE, tl_depthwise_func)

/** The zero points of the weights of a block of channels. */
static inline void tl_depthwise_u8_zeros(const tl_depthwise_job *job, int block, int32_t *zeros)
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
