// SPDX-License-Identifier: Apache-2.0
// What the rules of blocked.opt ask and compute.

#ifndef LN_BLOCKED_RULES_H
#define LN_BLOCKED_RULES_H

#include <limits.h>
#include <string.h>

#include "arch/cpu/ln_tuned.h"
#include "arch/none/ln_padding.h"
#include "ir/ln_dynamic.h"
#include "lightnet/ln_rule.h"
#include "tensorlight/tl_blocked.h"

/** Few channels would leave most lanes of a block empty: they are read from their planes. */
enum { PLANES = 4 };

/** Whether images have channels, and may have whole blocks of them. */
static inline int has_blocks(const ln_tensor_entry *images)
{
    const int *const dims = images->tensor->dims;
    double len = (double)tl_blocks(dims[1]) * TL_BLOCK;
    for (int i = 0; i < 4; i++)
        len *= i == 1 || dims[i] == 0 ? 1 : dims[i];
    return dims[1] > 0 && len <= INT_MAX;
}

/** Whether weights may be packed in rows of so many elements. */
static inline int is_packable(const ln_tensor_entry *w, size_t row)
{
    return (double)tl_blocks(w->tensor->dims[0]) * (double)row <= INT_MAX;
}

static inline int is_blockable(const ln_op *conv, const ln_tensor_entry *x,
                               const ln_tensor_entry *y)
{
    const int *const size = ln_rule_get_ints(conv, "size", NULL);
    return x->tensor->dtype == TL_FLOAT && size && size[0] <= TL_BLOCKED_TAPS / size[1] &&
           has_blocks(x) && has_blocks(y);
}

/** Whether the weights of a convolution may be packed for a source of so many lanes. */
static inline int is_packable_for(const ln_op *conv, const ln_tensor_entry *w, int lanes)
{
    const int *const dims = w->tensor->dims, group = ln_rule_get_int(conv, "group");
    return is_packable(
        w, tl_blocked_conv2d_packed((int[]){dims[1] * group, dims[0]}, group, dims + 2, lanes));
}

/** The window of a convolution, without its padding. */
static inline tl_conv2d_param window_of(const ln_op *conv)
{
    tl_conv2d_param param = {.group = ln_rule_get_int(conv, "group")};
    memcpy(param.size, ln_rule_get_ints(conv, "size", NULL), sizeof(param.size));
    memcpy(param.stride, ln_rule_get_ints(conv, "stride", NULL), sizeof(param.stride));
    memcpy(param.dilation, ln_rule_get_ints(conv, "dilation", NULL), sizeof(param.dilation));
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
    const int *const dims = w->tensor->dims, group = ln_rule_get_int(conv, "group");
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

/** The extent of the tiles with which Winograd's algorithm is the fastest, 0: it is not. */
static inline int tile_of(const ln_context *ctx, const ln_op *conv, const ln_tensor_entry *x,
                          const ln_tensor_entry *y)
{
    const tl_conv2d_param param = window_of(conv);
    return ln_tuned_conv2d(ctx, x->tensor->dims, y->tensor->dims, &param);
}

#endif
