// SPDX-License-Identifier: Apache-2.0
// Queries and computations for the rules of blocked.opt and blocked_halves.opt.

#pragma once

#include <limits.h>
#include <string.h>

#include "arch/cpu/ln_choice.h"
#include "arch/none/ln_padding.h"
#include "ir/ln_sizes.h"
#include "lightnet/ln_op.h"
#include "tensorlight/tl_blocked.h"

/** Up to so many channels are read channels-first, since blocks of them would be mostly empty. */
enum { MAX_PLANES = 4 };

/** Whether images have channels, and their elements in whole blocks can be counted in an int. */
static inline int has_blocks(const ln_tensor_entry *images)
{
    const int *const dims = images->tensor->dims;
    double len = (double)tl_blocks(dims[1]) * TL_BLOCK;
    for (int i = 0; i < 4; i++)
        len *= i == 1 || dims[i] == 0 ? 1 : dims[i];
    return dims[1] > 0 && len <= INT_MAX;
}

/** Whether the elements of weights packed in rows of `row` elements can be counted in an int. */
static inline int is_packable(const ln_tensor_entry *w, size_t row)
{
    return (double)tl_blocks(w->tensor->dims[0]) * (double)row <= INT_MAX;
}

/** Whether blocked kernels support a convolution of `x` to `y`: floats, its window and sizes. */
static inline int is_blockable(const ln_op *conv, const ln_tensor_entry *x,
                               const ln_tensor_entry *y)
{
    const int *const size = ln_op_ints(conv, "size", NULL);
    return x->tensor->dtype == TL_FLOAT && size && size[0] <= TL_BLOCKED_TAPS / size[1] &&
           has_blocks(x) && has_blocks(y);
}

/** Whether the weights of a convolution can be packed for a source with `lanes` lanes. */
static inline int is_packable_for(const ln_op *conv, const ln_tensor_entry *w, int lanes)
{
    const int *const dims = w->tensor->dims, group = ln_op_int(conv, "group");
    return is_packable(
        w, tl_blocked_conv2d_packed((int[]){dims[1] * group, dims[0]}, group, dims + 2, lanes));
}

/** The window of a convolution, without its padding. */
static inline tl_conv2d_param window_of(const ln_op *conv)
{
    tl_conv2d_param param = {.group = ln_op_int(conv, "group")};
    memcpy(param.size, ln_op_ints(conv, "size", NULL), sizeof(param.size));
    memcpy(param.stride, ln_op_ints(conv, "stride", NULL), sizeof(param.stride));
    memcpy(param.dilation, ln_op_ints(conv, "dilation", NULL), sizeof(param.dilation));
    return param;
}

/** Whether a convolution in groups is faster in blocks. */
static inline int conv_pays(const ln_op *conv, const ln_tensor_entry *x, const ln_tensor_entry *y)
{
    tl_conv2d_param param = window_of(conv);
    ln_padding_of(conv, x, param.padding);
    return tl_blocked_conv2d_pays(x->tensor->dims, y->tensor->dims, &param);
}

/** Whether a transposed convolution can be computed in blocks, and is faster so. */
static inline int is_deconv_blockable(const ln_op *conv, const ln_tensor_entry *x,
                                      const ln_tensor_entry *w, const ln_tensor_entry *y)
{
    const int *const dims = w->tensor->dims, group = ln_op_int(conv, "group");
    if (!is_blockable(conv, x, y))
        return 0;
    tl_conv2d_param param = window_of(conv);
    ln_deconv_padding_of(conv, x, param.padding);
    const size_t row =
        tl_blocked_conv2d_packed((int[]){dims[0], dims[1] * group}, group, dims + 2, TL_BLOCK);
    return tl_blocked_deconv2d_fits(&param) &&
           (double)tl_blocks(dims[1] * group) * (double)row <= INT_MAX &&
           tl_blocked_deconv2d_pays(x->tensor->dims, y->tensor->dims, &param);
}

/** The tile size with which Winograd's algorithm is the fastest, 0: it is not. */
static inline int tile_of(const ln_context *ctx, const ln_op *conv, const ln_tensor_entry *x,
                          const ln_tensor_entry *y)
{
    const tl_conv2d_param param = window_of(conv);
    return ln_tuned_conv2d(ctx, x->tensor->dims, y->tensor->dims, &param);
}

// Windows

/** Whether it is a depthwise convolution of `x` with multiplier 1. */
static inline int is_depthwise(const ln_op *conv, const ln_tensor_entry *x,
                               const ln_tensor_entry *w)
{
    return ln_op_has_number(conv, "group", x->tensor->dims[1]) &&
           w->tensor->dims[0] == x->tensor->dims[1];
}

/** Whether each window overlaps the image, with padding at top, left, bottom and right. */
static inline int is_padding_smaller(const int padding[4], const int size[2])
{
    return padding[0] < size[0] && padding[2] < size[0] && padding[1] < size[1] &&
           padding[3] < size[1];
}

// Gathers of channels

/** The max number of channels in the map of a shuffle by transposing. */
enum { MAX_SHUFFLED = 4096 };

/** Whether `split` has the channels of `x` as groups of channels, two axes instead of one. */
static inline int splits_channels(const ln_tensor_entry *split, const ln_tensor_entry *x)
{
    const int *const dims = split->tensor->dims, *const whole = x->tensor->dims;
    return split->tensor->ndim == 5 && x->tensor->ndim == 4 && dims[0] == whole[0] &&
           dims[3] == whole[2] && dims[4] == whole[3];
}

/** The map of a shuffle of channels from [groups, rest] to [rest, groups]. Returns `map`. */
static const int *shuffle_of(const ln_tensor_entry *split, int *map)
{
    const int groups = split->tensor->dims[1], rest = split->tensor->dims[2];
    for (int i = 0; i < groups * rest; i++)
        map[i] = i % groups * rest + i / groups;
    return map;
}

// Resampling

/** The four values of a parameter, one per axis, and `last` for the lanes, in `numbers`. */
static const double *with_lanes(const ln_op *op, const char *arg_name, double last, double *numbers)
{
    const ln_param_entry *const pe = ln_op_param(op, arg_name);
    memcpy(numbers, pe->value_array_double, 4 * sizeof(*numbers));
    numbers[4] = last;
    return numbers;
}

/** Whether a resample is the identity along the first two axes. */
static inline int keeps_channels(const ln_op *op)
{
    double shift[5], start[5], span[5], steps[5], stretch[5];
    with_lanes(op, "shift", 0, shift);
    with_lanes(op, "start", 0, start);
    with_lanes(op, "span", 0, span);
    with_lanes(op, "steps", 0, steps);
    with_lanes(op, "stretch", 0, stretch);
    int keeps = 1;
    for (int i = 0; i < 2; i++)
        keeps &= shift[i] + start[i] == 0 && span[i] == steps[i] && stretch[i] == 1;
    return keeps;
}

/** The output shape of `work`, with the blocks of `xb`. */
static const int *blocked_dims(const ln_op *work, const ln_tensor_entry *xb, int *dims)
{
    memcpy(dims, ln_op_ints(work, "dims", NULL), 4 * sizeof(*dims));
    dims[1] = xb->tensor->dims[1];
    dims[4] = xb->tensor->dims[4];
    return dims;
}

/** Whether only height and width change. */
static inline int changes_extent(const ln_tensor_entry *x, const ln_tensor_entry *y)
{
    return x->tensor->dims[0] == y->tensor->dims[0] && x->tensor->dims[1] == y->tensor->dims[1];
}

// Bfloat16

/** Whether a convolution is faster with bfloat16 than with floats, by any algorithm. Programs for
 * other batch sizes share the weights, which are packed as for one image. */
static inline int pays_in_halves(const ln_context *ctx, const ln_op *conv, const ln_tensor_entry *x,
                                 const ln_tensor_entry *y)
{
    const int *const src = x->tensor->dims, *const dst = y->tensor->dims,
                     images = ctx->many_shapes ? 1 : src[0];
    const tl_conv2d_param param = window_of(conv);
    if (ln_has_units_for_halves(ctx))
        return tl_blocked_conv2d_fills_tiles(src[1], dst, &param);
    return tl_blocked_conv2d_pairs_pay((const int[4]){images, src[1], src[2], src[3]},
                                       (const int[4]){images, dst[1], dst[2], dst[3]}, &param,
                                       tile_of(ctx, conv, x, y));
}

/** Whether the weights of a convolution can be packed in pairs. */
static inline int is_packable_in_pairs(const ln_tensor_entry *w)
{
    const int *const dims = w->tensor->dims;
    return is_packable(w, tl_blocked_conv2d_packed_pairs(dims[1], dims + 2));
}
