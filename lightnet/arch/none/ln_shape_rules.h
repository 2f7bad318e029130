// SPDX-License-Identifier: Apache-2.0
// Queries and computations for the rules that move, pad and view tensors: identity.opt, rows.opt,
// pad.opt, lines.opt.

#pragma once

#include <limits.h>
#include <math.h>
#include <string.h>

#include "arch/none/ln_padding.h"
#include "ir/ln_sizes.h"
#include "lightnet/ln_rule.h"

// Identity.opt

/** Whether a view of `x` may replace a copy of it, `y`. */
static inline int may_share(const ln_context *ctx, const ln_tensor_entry *x,
                            const ln_tensor_entry *y)
{
    return !ln_context_is_mutated(ctx, x->name) && !ln_context_is_mutated(ctx, y->name);
}

/** Whether a permutation of the axes of `x` moves no elements: the axes longer than 1 keep their
 * order. */
static inline int moves_nothing(const ln_op *transpose, const ln_tensor_entry *x)
{
    const int *axes = ln_op_ints(transpose, "axes", NULL);
    int last = -1;
    for (int i = 0; i < x->tensor->ndim; i++) {
        if (x->tensor->dims[axes[i]] == 1 && !ln_sizes_is_open(x, axes[i]))
            continue;
        if (axes[i] < last)
            return 0;
        last = axes[i];
    }
    return 1;
}

/** Whether the axes of a transpose are 0, 1, 2 .. */
static inline int keeps_order(const ln_op *transpose)
{
    int n;
    const int *const axes = ln_op_ints(transpose, "axes", &n);
    for (int i = 0; i < n; i++)
        if (axes[i] != i)
            return 0;
    return 1;
}

/** The shape of `x`, with -1 for an open size. Returns the number of open sizes; a view supports
 * one. */
static inline int open_dims(const ln_tensor_entry *x, int *dims)
{
    int n = 0;
    for (int i = 0; i < x->tensor->ndim; i++) {
        dims[i] = ln_sizes_is_open(x, i) ? -1 : x->tensor->dims[i];
        n += dims[i] < 0;
    }
    return n;
}

// Rows.opt

/** The index in the constant `index` for an axis of `len`; -1: unknown. */
static inline int constant_index(const ln_context *ctx, const ln_tensor_entry *index, int len)
{
    const double i = ln_rule_scalar(ctx, index);
    return i >= -len && i < len ? (int)(i < 0 ? i + len : i) : -1;
}

/** The dimension of a source of a broadcast result along the result's `axis`. */
static inline int broadcast_dim(const ln_tensor_entry *src, const ln_tensor_entry *result, int axis)
{
    const int own = axis - (result->tensor->ndim - src->tensor->ndim);
    return own < 0 ? 1 : src->tensor->dims[own];
}

/** Whether a source has the full length of the result along the axis of `slice`, and the same index
 * of that axis. */
static inline int is_whole(const ln_op *slice, const ln_tensor_entry *src,
                           const ln_tensor_entry *result)
{
    const int axis = ln_op_int(slice, "axis");
    return src->tensor->ndim == result->tensor->ndim &&
           src->tensor->dims[axis] == result->tensor->dims[axis];
}

/** Whether a source, or NULL, is broadcast along the axis of `slice`. */
static inline int is_repeated(const ln_op *slice, const ln_tensor_entry *src,
                              const ln_tensor_entry *result)
{
    return !src || broadcast_dim(src, result, ln_op_int(slice, "axis")) == 1;
}

/** Whether a and b have the same dimensions up to the axis of `slice`. */
static inline int begin_alike(const ln_op *slice, const ln_tensor_entry *a,
                              const ln_tensor_entry *b)
{
    const int axis = ln_op_int(slice, "axis");
    int alike = axis < a->tensor->ndim;
    for (int i = 0; i <= axis; i++)
        alike = alike && a->tensor->dims[i] == b->tensor->dims[i];
    return alike;
}

// Pad.opt

/** Whether `pad` writes zeros: `value` may be absent. */
static inline int pads_zeros(const ln_context *ctx, const ln_tensor_entry *value)
{
    return !value || ln_rule_scalar(ctx, value) == 0;
}

/** Whether `pad` writes the min of its type, for floats minus infinity. */
static inline int pads_lowest(const ln_context *ctx, const ln_tensor_entry *value)
{
    const tl_dtype dtype = value->tensor->dtype;
    double lowest = -INFINITY;
    char element[TL_DTYPE_MAX_SIZE];
    if (!tl_dtype_is_float(dtype)) {
        tl_convert(element, dtype, &lowest, TL_DOUBLE);
        tl_convert(&lowest, TL_DOUBLE, element, dtype);
    }
    return ln_rule_scalar(ctx, value) == lowest;
}

/** Whether `pad` crops nothing, and keeps batch and channels. */
static inline int pads_space(const ln_op *pad)
{
    int ndim, crops = 0;
    const int *const before = ln_op_ints(pad, "before", &ndim);
    const int *const after = ln_op_ints(pad, "after", NULL);
    for (int i = 0; i < ndim; i++)
        crops |= before[i] < 0 || after[i] < 0;
    return !crops && ndim > 2 && before[0] == 0 && after[0] == 0 && before[1] == 0 && after[1] == 0;
}

/** Adds the padding of `pad` to that of the windows after it, `own`: before each spatial axis, then
 * after each. Returns the number of values; 0: the windows crop, or a sum is too large. */
static inline int sum_padding(const ln_op *pad, const int *own, int *padding)
{
    int ndim;
    const int *const before = ln_op_ints(pad, "before", &ndim);
    const int *const after = ln_op_ints(pad, "after", NULL);
    const int n = ndim - 2;
    for (int i = 0; i < 2 * n; i++) {
        const int more = i < n ? before[2 + i] : after[2 + i - n];
        if (own[i] < 0 || own[i] > INT_MAX - more)
            return 0;
        padding[i] = own[i] + more;
    }
    return 2 * n;
}

/** The same for windows over an image `mid`. */
static inline int image_padding(const ln_op *pad, const ln_op *windows, const ln_tensor_entry *mid,
                                int padding[4])
{
    int own[4];
    return sum_padding(pad, ln_padding_of(windows, mid, own), padding);
}

/** Whether a pool supports the sum of the padding: each window overlaps the image. */
static inline int fits_pool(const ln_op *pad, const ln_op *pool, const ln_tensor_entry *mid)
{
    int p[4];
    const int *const size = ln_op_ints(pool, "size", NULL);
    return pads_space(pad) && image_padding(pad, pool, mid, p) && p[0] < size[0] &&
           p[2] < size[0] && p[1] < size[1] && p[3] < size[1];
}

/** Whether a pool's windows are within its images `x`. */
static inline int has_no_padding(const ln_op *pool, const ln_tensor_entry *x)
{
    int padding[4];
    ln_padding_of(pool, x, padding);
    return !(padding[0] || padding[1] || padding[2] || padding[3]);
}

/** Whether a unary function has no results below 0. For NaN, max pooling may differ: it keeps one
 * only as the first element of a window. */
static inline int is_nonnegative(const ln_op *func)
{
    return ln_op_has_string(func, "func", "TL_UNARY_RELU") ||
           ln_op_has_string(func, "func", "TL_UNARY_SIGMOID") ||
           (ln_op_has_string(func, "func", "TL_UNARY_CLIP") && ln_op_number(func, "alpha") >= 0 &&
            ln_op_number(func, "beta") >= 0);
}

/** Whether `y` is `x` with an axis of length 1 before its last one. */
static inline int is_row_of(const ln_tensor_entry *y, const ln_tensor_entry *x)
{
    const int *const line = x->tensor->dims, *const image = y->tensor->dims;
    return x->tensor->ndim == 3 && y->tensor->ndim == 4 && image[0] == line[0] &&
           image[1] == line[1] && image[2] == 1 && image[3] == line[2];
}

/** A parameter of a `pad` of lines, for images of one row. */
static const int *for_row(const ln_op *pad, const char *arg_name, int numbers[4])
{
    const int *const of = ln_op_ints(pad, arg_name, NULL);
    memcpy(numbers, (int[]){of[0], of[1], 0, of[2]}, 4 * sizeof(*numbers));
    return numbers;
}

/** A parameter of a `pad`, with the axes of a transpose after it. Returns its length. */
static inline int in_order(const ln_op *pad, const char *arg_name, const ln_op *transpose,
                           int *numbers)
{
    int ndim;
    const int *const axes = ln_op_ints(transpose, "axes", &ndim);
    for (int i = 0; i < ndim; i++)
        numbers[i] = ln_op_ints(pad, arg_name, NULL)[axes[i]];
    return ndim;
}

// Lines.opt

/** Whether a tensor has images of one column, [N, C, L, 1] with L > 1. */
static inline int is_column(const ln_tensor_entry *te)
{
    const int *const dims = te->tensor->dims;
    return te->tensor->ndim == 4 && dims[2] > 1 && dims[3] == 1;
}

/** Whether `x` has images of one column, and `y`, computed from it, too. */
static inline int stays_column(const ln_tensor_entry *x, const ln_tensor_entry *y)
{
    return is_column(x) && y->tensor->dims[3] == 1;
}

/** Whether `y` has lines or images of one column, and `x` the same as images of one row. */
static inline int is_line_of(const ln_tensor_entry *x, const ln_tensor_entry *y)
{
    const int *const row = x->tensor->dims, *const column = y->tensor->dims;
    return is_row_of(x, y) || (is_column(y) && x->tensor->ndim == 4 && row[0] == column[0] &&
                               row[1] == column[1] && row[2] == 1 && row[3] == column[2]);
}

/** The dimensions of an image with the last two axes swapped. */
static const int *swapped_dims(const ln_tensor_entry *te, int dims[4])
{
    const int *const of = te->tensor->dims;
    memcpy(dims, (int[]){of[0], of[1], of[3], of[2]}, 4 * sizeof(*dims));
    return dims;
}

/** The dimensions of a line [N, C, L] as an image of one row. */
static inline const int *row_dims(const ln_tensor_entry *te, int dims[4])
{
    const int *const of = te->tensor->dims;
    memcpy(dims, (int[]){of[0], of[1], 1, of[2]}, 4 * sizeof(*dims));
    return dims;
}

/** A parameter of an operator on lines, at most two numbers, for images of one row: `other` is the
 * value for the height. */
static inline const int *row_numbers(const ln_op *op, const char *arg_name, int other,
                                     int numbers[4])
{
    int n;
    const int *const of = ln_op_ints(op, arg_name, &n);
    for (int i = 0; i < n && i < 2; i++) {
        numbers[2 * i] = other;
        numbers[2 * i + 1] = of[i];
    }
    return numbers;
}

// Convolutions of volumes, whose first axis becomes windows of images with the other axes.

/** The max memory of windows, as a multiple of that of the volumes. */
enum { MAX_WINDOW_COPIES = 16 };

static inline int first_number(const ln_op *conv, const char *arg_name)
{
    return ln_op_ints(conv, arg_name, NULL)[0];
}

/** Element `at` of `padding`, for the first spatial axis, as padding of all axes of a tensor. */
static inline const int *first_axis_padding(const ln_op *conv, int at, int *numbers)
{
    memset(numbers, 0, TL_MAXDIM * sizeof(*numbers));
    numbers[2] = ln_op_ints(conv, "padding", NULL)[at];
    return numbers;
}

static inline int64_t first_padded_length(const ln_op *conv, const ln_tensor_entry *x)
{
    int n;
    const int *const padding = ln_op_ints(conv, "padding", &n);
    return (int64_t)x->tensor->dims[2] + padding[0] + padding[n / 2];
}

/** A parameter without its elements for the first spatial axis: one, two of `padding`. */
static inline const int *inner_numbers(const ln_op *conv, const char *arg_name, int *numbers)
{
    int n, n_axes, len = 0;
    const int *const of = ln_op_ints(conv, arg_name, &n);
    ln_op_ints(conv, "size", &n_axes);
    for (int i = 0; i < n; i++)
        if (i % n_axes)
            numbers[len++] = of[i];
    return numbers;
}

static inline int inner_len(const ln_tensor_entry *te)
{
    const int *const dims = te->tensor->dims;
    return te->tensor->len / (dims[0] * dims[1] * dims[2]);
}

/** Whether the padded volumes and the windows are not too large. */
static inline int windows_fit(const ln_op *conv, const ln_tensor_entry *x, const ln_tensor_entry *w,
                              const ln_tensor_entry *y)
{
    const int64_t slice = x->tensor->len / x->tensor->dims[2];
    const int64_t copies = (int64_t)w->tensor->dims[2] * y->tensor->dims[2];
    return first_padded_length(conv, x) <= INT_MAX / slice && copies <= INT_MAX / slice &&
           copies <= MAX_WINDOW_COPIES * (int64_t)x->tensor->dims[2];
}

/** The padded volumes: [N, C, first axis, the others] */
static inline const int *volume_dims(const ln_op *conv, const ln_tensor_entry *x, int *dims)
{
    const int *const of = x->tensor->dims;
    const int first = (int)first_padded_length(conv, x);
    memcpy(dims, (int[]){of[0], of[1], first, inner_len(x)}, 4 * sizeof(*dims));
    return dims;
}

/** [n, channels, the axes of `te` after the first of its volume] */
static inline const int *image_dims(const ln_tensor_entry *te, int n, int channels, int *dims)
{
    const tl_tensor *const t = te->tensor;
    dims[0] = n;
    dims[1] = channels;
    memcpy(dims + 2, t->dims + 3, ((size_t)t->ndim - 3) * sizeof(*dims));
    return dims;
}

/** An image for each window, whose taps are channels: [N * windows, C * taps, the other axes] */
static inline const int *window_dims(const ln_tensor_entry *x, const ln_tensor_entry *w,
                                     const ln_tensor_entry *y, int *dims)
{
    const int *const of = x->tensor->dims;
    return image_dims(x, of[0] * y->tensor->dims[2], of[1] * w->tensor->dims[2], dims);
}

/** Weights for such images: [OC, C * taps, the other axes] */
static inline const int *tap_dims(const ln_tensor_entry *w, int *dims)
{
    const int *const of = w->tensor->dims;
    return image_dims(w, of[0], of[1] * of[2], dims);
}

/** Results of the windows: [N, windows, OC, the other axes] */
static inline const int *plane_dims(const ln_tensor_entry *y, int *dims)
{
    const int *const of = y->tensor->dims;
    memcpy(dims, (int[]){of[0], of[2], of[1], inner_len(y)}, 4 * sizeof(*dims));
    return dims;
}

/** A parameter with values for both axes of an operator on images, with swapped axes. */
static const int *swapped(const ln_op *op, const char *arg_name, int numbers[4])
{
    int n;
    const int *const of = ln_op_ints(op, arg_name, &n);
    for (int i = 0; i < n && i < 4; i++)
        numbers[i] = of[i ^ 1];
    return numbers;
}

/** Whether `k`, an operand with images of one column, has one element per channel, or is a
 * scalar. */
static inline int is_per_channel(const ln_tensor_entry *k, const ln_tensor_entry *column)
{
    const tl_tensor *const t = k->tensor;
    return is_column(column) && t->ndim >= 2 && t->ndim <= 4 && t->dims[t->ndim - 1] == 1 &&
           t->dims[t->ndim - 2] == 1;
}
