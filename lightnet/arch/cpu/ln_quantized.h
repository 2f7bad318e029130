// SPDX-License-Identifier: Apache-2.0
// What operators on 8-bit integers tell their kernels: the elements of tensors that are known when
// they run, since quantization may be dynamic. And the rule about quantized joins.

#ifndef LN_QUANTIZED_H
#define LN_QUANTIZED_H

#include <stdint.h>

#include "lightnet/ln_arch.h"
#include "tensorlight/tl_quantized.h"

/** The one element of a scale, or 1. */
static inline float ln_quantized_scale(const tl_tensor *scale)
{
    return scale ? *(const float *)scale->data : 1;
}

/** The one element of a zero point, or 0. */
static inline int ln_quantized_zero(const tl_tensor *zero)
{
    return zero ? *(const uint8_t *)zero->data : 0;
}

/** Bytes of a row of packed weights of a convolution. */
static inline size_t ln_quantized_row(int is_depthwise, int channels, const int size[2])
{
    return is_depthwise ? tl_quantized_depthwise2d_packed(size)
                        : tl_quantized_conv2d_packed((const int[]){channels, 1}, size);
}

/** All of a call: each tensor may be NULL. */
static inline tl_quantized_param ln_quantized_param(const tl_tensor *zero, const tl_tensor *scale,
                                                    const tl_tensor *dst_scale,
                                                    const tl_tensor *dst_zero, tl_activation act)
{
    return (tl_quantized_param){.zero = ln_quantized_zero(zero),
                                .scale = ln_quantized_scale(scale),
                                .act = act,
                                .dst_factor = 1 / ln_quantized_scale(dst_scale),
                                .dst_zero = ln_quantized_zero(dst_zero)};
}

/** What is joined and then quantized with one scale for all is quantized part by part and joined:
 * each part's maker may then write bytes. Where other operators read a part, nothing changes. */
ln_list *ln_quantize_joined(const ln_context *ctx, ln_list **old_ops);

#endif
