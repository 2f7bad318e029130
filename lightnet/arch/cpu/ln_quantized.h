// SPDX-License-Identifier: Apache-2.0
// Helpers of operators on 8-bit integers for their kernels: scales and zero points are read at run
// time, since quantization may be dynamic.

#pragma once

#include <stdint.h>
#include <string.h>

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

/** A convolution whose weights are packed. */
typedef struct ln_quantized_conv {
    int is_depthwise, is_transposed;
    int channels[2]; // of the source and of the result
    tl_conv2d_param window;
    int tile; // tile size of Winograd's algorithm along an axis; 0: direct
} ln_quantized_conv;

/** Output channels of a convolution's weights. */
static inline int ln_quantized_outputs(const tl_tensor *weight, int is_transposed, int group)
{
    return is_transposed ? weight->dims[1] * group : weight->dims[0];
}

/** Whether the convolution supports its `tile`. */
static inline int ln_quantized_has_tile(const ln_quantized_conv *c)
{
    return c->tile == 0 || (c->tile == 4 && !c->is_depthwise && !c->is_transposed &&
                            tl_blocked_winograd_fits(&c->window));
}

/** Bytes of a row of packed weights; 0: they cannot be packed. */
static inline size_t ln_quantized_row(const ln_quantized_conv *c)
{
    const int group = c->window.group, *const size = c->window.size;
    if (c->channels[0] % group || c->channels[1] % group || size[0] > TL_BLOCKED_TAPS / size[1] ||
        (c->is_transposed && !tl_blocked_deconv2d_fits(&c->window)))
        return 0;
    if (c->is_depthwise)
        return tl_quantized_depthwise2d_packed(size);
    return c->tile ? tl_quantized_winograd_packed(c->channels[0])
                   : tl_quantized_conv2d_packed(c->channels, &c->window, c->is_transposed);
}

/** Bytes of scratch memory for `threads` threads. `is_open`: for any number of images up to that of
 *  src. */
static inline size_t ln_quantized_scratch(const ln_quantized_conv *c, const tl_tensor *src,
                                          const tl_tensor *dst, int is_open, int threads)
{
    if (c->is_depthwise)
        return 0;
    if (!c->tile)
        return tl_quantized_conv2d_scratch(src, dst, &c->window, c->channels, c->is_transposed,
                                           threads);
    return (is_open ? tl_quantized_winograd_batch_scratch
                    : tl_quantized_winograd_scratch)(src, dst, c->channels[0], threads);
}

static inline int ln_quantized_conv_run(const tl_exec *exec, const ln_quantized_conv *c,
                                        const tl_tensor *src, const tl_tensor *weight,
                                        tl_tensor *dst, const tl_quantized_param *q)
{
    if (c->is_depthwise)
        return tl_exec_quantized_depthwise2d(exec, src, weight, dst, &c->window, q);
    if (c->tile)
        return tl_exec_quantized_winograd(exec, src, weight, dst, &c->window, c->channels[0], q);
    return tl_exec_quantized_conv2d(exec, src, weight, dst, &c->window, c->channels,
                                    c->is_transposed, q);
}

/** Bytes of scratch memory for the sums of windows, which `weight_zero` multiplies; 0 for NULL. */
static inline size_t ln_quantized_sums(const tl_tensor *weight_zero, const tl_tensor *src,
                                       const tl_tensor *dst, int group)
{
    return weight_zero ? tl_quantized_conv2d_sums(src, dst, group) : 0;
}

/** The number of columns, n, of matrices [.., k, n] or, if `is_transposed`, [.., n, k]. */
static inline int ln_quantized_columns(const tl_tensor *weight, int is_transposed)
{
    return weight->dims[weight->ndim - (is_transposed ? 2 : 1)];
}

/** Whether `weight` is one packed matrix, or one for each matrix of `src`. */
static inline int ln_quantized_has_matrices(const tl_tensor *weight, const tl_tensor *src)
{
    if (weight->ndim <= 2)
        return weight->ndim == 2;
    return weight->ndim == src->ndim &&
           memcmp(weight->dims, src->dims, (size_t)(src->ndim - 2) * sizeof(*src->dims)) == 0;
}

/** The parameters of a kernel; each tensor may be NULL. */
static inline tl_quantized_param ln_quantized_param(const tl_tensor *zero, const tl_tensor *scale,
                                                    const tl_tensor *dst_scale,
                                                    const tl_tensor *dst_zero, tl_activation act,
                                                    const tl_tensor *weight_zero)
{
    return (tl_quantized_param){.zero = ln_quantized_zero(zero),
                                .scale = ln_quantized_scale(scale),
                                .act = act,
                                .dst_factor = 1 / ln_quantized_scale(dst_scale),
                                .dst_zero = ln_quantized_zero(dst_zero),
                                .weight_zero = weight_zero};
}
