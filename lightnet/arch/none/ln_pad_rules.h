// SPDX-License-Identifier: Apache-2.0
// Queries and computations for the rules of pad.opt.

#ifndef LN_PAD_RULES_H
#define LN_PAD_RULES_H

#include <limits.h>
#include <math.h>
#include <string.h>

#include "arch/none/ln_padding.h"
#include "lightnet/ln_rule.h"

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

/** Whether `pad` crops nothing, and leaves batch and channels as they are. */
static inline int pads_space(const ln_op *pad)
{
    int ndim, crops = 0;
    const int *const before = ln_rule_get_ints(pad, "before", &ndim);
    const int *const after = ln_rule_get_ints(pad, "after", NULL);
    for (int i = 0; i < ndim; i++)
        crops |= before[i] < 0 || after[i] < 0;
    return !crops && ndim > 2 && before[0] == 0 && after[0] == 0 && before[1] == 0 && after[1] == 0;
}

/** The sum of the padding of `pad` and of the windows after it, `own`: before each spatial axis,
 * then after each. Returns the number of values; 0: no valid sum, since the windows crop, or it is
 * too large. */
static inline int padding_together(const ln_op *pad, const int *own, int *padding)
{
    int ndim;
    const int *const before = ln_rule_get_ints(pad, "before", &ndim);
    const int *const after = ln_rule_get_ints(pad, "after", NULL);
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
    return padding_together(pad, ln_padding_of(windows, mid, own), padding);
}

/** Whether a pool supports the sum of the padding: each window overlaps the image. */
static inline int fits_pool(const ln_op *pad, const ln_op *pool, const ln_tensor_entry *mid)
{
    int p[4];
    const int *const size = ln_rule_get_ints(pool, "size", NULL);
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

/** Whether a unary function has no results below 0. NaN may pass, which a max drops after a zero
 * and keeps at the beginning. */
static inline int is_positive(const ln_op *func)
{
    return ln_rule_has_string(func, "func", "TL_UNARY_RELU") ||
           ln_rule_has_string(func, "func", "TL_UNARY_SIGMOID") ||
           (ln_rule_has_string(func, "func", "TL_UNARY_CLIP") &&
            ln_rule_get_number(func, "alpha") >= 0 && ln_rule_get_number(func, "beta") >= 0);
}

/** Whether `y` is `x` with an axis of length 1 before its last one. */
static inline int is_row_of(const ln_tensor_entry *y, const ln_tensor_entry *x)
{
    const int *const line = x->tensor->dims, *const image = y->tensor->dims;
    return x->tensor->ndim == 3 && y->tensor->ndim == 4 && image[0] == line[0] &&
           image[1] == line[1] && image[2] == 1 && image[3] == line[2];
}

/** The values of a `pad` of lines, for images of one row. */
static const int *for_row(const ln_op *pad, const char *arg_name, int numbers[4])
{
    const int *const of = ln_rule_get_ints(pad, arg_name, NULL);
    memcpy(numbers, (int[]){of[0], of[1], 0, of[2]}, 4 * sizeof(*numbers));
    return numbers;
}

/** The values of a `pad`, in the order of a transpose after it. Returns their number. */
static inline int in_order(const ln_op *pad, const char *arg_name, const ln_op *transpose,
                           int *numbers)
{
    int ndim;
    const int *const axes = ln_rule_get_ints(transpose, "axes", &ndim);
    for (int i = 0; i < ndim; i++)
        numbers[i] = ln_rule_get_ints(pad, arg_name, NULL)[axes[i]];
    return ndim;
}

#endif
