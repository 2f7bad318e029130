// SPDX-License-Identifier: Apache-2.0
// Queries and computations for the rules of quantized.opt and signed.opt.

#pragma once

#include "arch/cpu/ln_blocked_rules.h"
#include "arch/cpu/ln_quantized.h"
#include "arch/cpu/ln_choice.h"
#include "lightnet/ln_rule.h"

/** The max number of products of two 8-bit integers whose sum fits 32 bits. */
enum { MAX_PRODUCTS = 65536 };

/** Packing variable weights in each run is worthwhile from so many uses of each weight. */
enum { MIN_USES = 8 };

/** Whether `q`, the source of a dequantize or a product, has unsigned 8-bit elements that a run
 * computes. */
static inline int is_bytes(const ln_tensor_entry *q)
{
    return q->tensor->dtype == TL_UINT8 && !q->isconst;
}

/** Whether a scale is one float for all elements. */
static inline int is_one_scale(const ln_tensor_entry *s)
{
    return s->tensor->len == 1 && s->tensor->dtype == TL_FLOAT;
}

/** Whether the scale of `op` is a constant of floats: one, or one for each index along `axis`. */
static inline int is_constant_scale(const ln_op *op, const ln_tensor_entry *s, int axis)
{
    return s->isconst && s->tensor->dtype == TL_FLOAT &&
           (s->tensor->len == 1 || ln_op_has_number(op, "axis", axis));
}

/** Whether `w` and its scale are constants: signed 8-bit elements with one scale, or one for each
 * index along `axis`. */
static inline int has_scales(const ln_op *dequantize, const ln_tensor_entry *w,
                             const ln_tensor_entry *s, int axis)
{
    return w->isconst && s->isconst && w->tensor->dtype == TL_INT8 &&
           s->tensor->dtype == TL_FLOAT && ln_op_has_number(dequantize, "block", 0) &&
           (s->tensor->len == 1 || ln_op_has_number(dequantize, "axis", axis));
}

/** The convolution `conv` of `x` to `y`, with packed weights. */
static inline ln_quantized_conv conv_of(const ln_op *conv, const ln_tensor_entry *x,
                                        const ln_tensor_entry *w, const ln_tensor_entry *y,
                                        int is_transposed)
{
    const int channels = x->tensor->dims[1];
    ln_quantized_conv c = {!is_transposed && channels > 1 && is_depthwise(conv, x, w),
                           is_transposed,
                           {channels, y->tensor->dims[1]},
                           window_of(conv)};
    c.window.group = c.is_depthwise ? 1 : c.window.group;
    return c;
}

/** Whether the sums of a convolution fit 32 bits, and its weights `w` can be packed. */
static inline int is_summable(const ln_quantized_conv *c, const ln_tensor_entry *w)
{
    const int *const d = w->tensor->dims;
    if (d[0] <= 0 || d[1] <= 0 || d[2] <= 0 || d[3] <= 0 || d[2] > TL_BLOCKED_TAPS / d[3])
        return 0;
    const size_t row = ln_quantized_row(c);
    const int in = c->is_transposed ? d[0] / c->window.group : d[1];
    return row > 0 && (double)in * d[2] * d[3] <= MAX_PRODUCTS &&
           (double)tl_blocks(c->channels[1]) * (double)row <= INT_MAX;
}

/** The same for a convolution, or a transposed one, of these tensors. */
static inline int is_summable_conv(const ln_op *conv, const ln_tensor_entry *x,
                                   const ln_tensor_entry *w, const ln_tensor_entry *y)
{
    const ln_quantized_conv c = conv_of(conv, x, w, y, 0);
    return has_blocks(x) && has_blocks(y) && is_summable(&c, w);
}

static inline int is_summable_deconv(const ln_op *conv, const ln_tensor_entry *x,
                                     const ln_tensor_entry *w, const ln_tensor_entry *y)
{
    ln_quantized_conv c = conv_of(conv, x, w, y, 1);
    ln_deconv_padding_of(conv, x, c.window.padding);
    for (int i = 0; i < 4; i++)
        if (c.window.padding[i] < 0)
            return 0;
    return has_blocks(x) && has_blocks(y) && tl_blocked_deconv2d_fits(&c.window) &&
           is_summable(&c, w);
}

/** As conv_of, with the fastest tile size. */
static inline ln_quantized_conv tiled_conv_of(const ln_context *ctx, const ln_op *conv,
                                              const ln_tensor_entry *x, const ln_tensor_entry *w,
                                              const ln_tensor_entry *y)
{
    const ln_quantized_conv direct = conv_of(conv, x, w, y, 0);
    ln_quantized_conv tiled = direct;
    tiled.tile = ln_quantized_conv2d_tile(ctx, x->tensor->dims, y->tensor->dims, &direct.window);
    return ln_quantized_has_tile(&tiled) && is_summable(&tiled, w) ? tiled : direct;
}

/** Whether the padding of a convolution is not negative; negative padding crops. */
static inline int only_pads(const ln_op *conv)
{
    int n, pads = 1;
    const int *const padding = ln_op_ints(conv, "padding", &n);
    for (int i = 0; padding && i < n; i++)
        pads = pads && padding[i] >= 0;
    return padding && pads;
}

/** As conv_of for conv_int whose sums are scaled, with the fastest tile size that supports the zero
 * points `wz` of the weights, if any. */
static inline ln_quantized_conv int_conv_of(const ln_context *ctx, const ln_op *conv,
                                            const ln_tensor_entry *x, const ln_tensor_entry *w,
                                            const ln_tensor_entry *wz, const ln_tensor_entry *y)
{
    return !wz && w->isconst ? tiled_conv_of(ctx, conv, x, w, y) : conv_of(conv, x, w, y, 0);
}

/** Whether packing weights `w` is worthwhile: at load if they are constant, else in each run, for
 *  `n` uses of each weight. */
static inline int is_packing_worthwhile(const ln_op *op, const ln_tensor_entry *w, double n)
{
    return w->isconst || (n >= MIN_USES && !ln_op_is_dynamic(op));
}

/** The number of uses of each weight in a convolution to `y`. */
static inline double pixels_of(const ln_tensor_entry *y)
{
    const tl_tensor *const t = y->tensor;
    return (double)t->len / t->dims[1];
}

/** Whether packed weights can compute a convolution of bytes to integers `y`. */
static inline int is_packable_int_conv(const ln_op *conv, const ln_tensor_entry *x,
                                       const ln_tensor_entry *w, const ln_tensor_entry *b,
                                       const ln_tensor_entry *y)
{
    return is_bytes(x) && w->tensor->dtype == TL_INT8 && x->tensor->ndim == 4 &&
           (!b || b->isconst >= w->isconst) && only_pads(conv) &&
           is_packing_worthwhile(conv, w, pixels_of(y)) && is_summable_conv(conv, x, w, y);
}

/** Whether sums over the k rows of matrices [.., k, n] fit 32 bits, and these can be packed. */
static inline int is_summable_matrix(const ln_tensor_entry *w, int trans)
{
    const tl_tensor *const t = w->tensor;
    if (t->ndim < 2)
        return 0;
    const int k = ln_quantized_columns(t, !trans), n = ln_quantized_columns(t, trans);
    return k > 0 && n > 0 && k <= MAX_PRODUCTS &&
           (double)t->len / ((double)k * n) * (double)tl_blocks(n) *
                   (double)tl_quantized_matmul_packed(k) <=
               INT_MAX;
}

/** Whether `w` is one matrix, or one for each matrix of `q`, whose number is fixed. */
static inline int has_matrices(const ln_op *mul, const ln_tensor_entry *q, const ln_tensor_entry *w)
{
    return w->tensor->ndim == 2 ||
           (ln_quantized_has_matrices(w->tensor, q->tensor) && !ln_op_is_dynamic(mul));
}

/** Whether `w` is a batch of one matrix, [1, .., k, n]. */
static inline int is_batch_of_one(const ln_tensor_entry *w)
{
    const tl_tensor *const t = w->tensor;
    for (int i = 0; i < t->ndim - 2; i++)
        if (t->dims[i] != 1)
            return 0;
    return t->ndim > 2;
}

/** The number of uses of each weight in a matrix multiplication: the rows of `q`. */
static inline double rows_of(const ln_tensor_entry *q, const ln_tensor_entry *w)
{
    const tl_tensor *const t = w->tensor;
    return (double)q->tensor->len / t->len * t->dims[t->ndim - 1];
}

/** Whether a zero point is absent, a scalar, or one element for each of `n` columns. */
static inline int is_zero_point(const ln_tensor_entry *zero, int n)
{
    return !zero || zero->tensor->len == 1 ||
           (zero->tensor->len == n && zero->tensor->dims[zero->tensor->ndim - 1] == n);
}

/** Whether packed weights can compute matmul_int of bytes with these zero points (NULL: none). */
static inline int is_packable_int_product(const ln_op *mul, const ln_tensor_entry *q,
                                          const ln_tensor_entry *w, const ln_tensor_entry *zero,
                                          const ln_tensor_entry *wz)
{
    return is_bytes(q) && q->tensor->ndim >= 2 && w->tensor->dtype == TL_INT8 &&
           is_summable_matrix(w, 0) && has_matrices(mul, q, w) &&
           is_packing_worthwhile(mul, w, rows_of(q, w)) && (!zero || zero->tensor->len == 1) &&
           is_zero_point(wz, ln_quantized_columns(w->tensor, 0));
}

/** Whether `b` is absent, or a constant float for each of `n` indices of the last axis. */
static inline int is_bias(const ln_tensor_entry *b, int n)
{
    return !b || (b->isconst && b->tensor->dtype == TL_FLOAT && b->tensor->len == n &&
                  b->tensor->ndim > 0 && b->tensor->dims[b->tensor->ndim - 1] == n);
}

/** The same for channels of images [N, C, H, W]. */
static inline int is_channel_bias(const ln_tensor_entry *b, int channels)
{
    const tl_tensor *const t = b->tensor;
    return b->isconst && t->dtype == TL_FLOAT && t->len == channels && t->ndim >= 3 &&
           t->dims[t->ndim - 3] == channels;
}

static inline int is_linear_product(const ln_op *matmul)
{
    return ln_op_has_number(matmul, "alpha", 1) && ln_op_has_number(matmul, "beta", 1);
}

/** Whether `q` has signed 8-bit elements that a run computes. */
static inline int is_signed(const ln_tensor_entry *q)
{
    return q->tensor->dtype == TL_INT8 && !q->isconst;
}

/** Whether `w` has unsigned 8-bit elements. */
static inline int is_unsigned(const ln_tensor_entry *w)
{
    return w->tensor->dtype == TL_UINT8 && w->tensor->ndim > 0;
}

/** Whether the weights `w` are unsigned, and worth packing; below for a convolution. */
static inline int has_unsigned_matrix(const ln_op *mul, const ln_tensor_entry *q,
                                      const ln_tensor_entry *w)
{
    return is_unsigned(w) && is_packing_worthwhile(mul, w, rows_of(q, w));
}

static inline int has_unsigned_kernels(const ln_op *conv, const ln_tensor_entry *w,
                                       const ln_tensor_entry *y)
{
    return is_unsigned(w) && is_packing_worthwhile(conv, w, pixels_of(y));
}

/** Whether a zero point is 128 for all elements. */
static inline int is_128(const ln_context *ctx, const ln_tensor_entry *zero)
{
    return ln_rule_scalar(ctx, zero) == 128;
}
