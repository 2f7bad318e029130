// SPDX-License-Identifier: Apache-2.0
// What the rules of blocked_halves.opt ask and compute.

#ifndef LN_BLOCKED_HALVES_RULES_H
#define LN_BLOCKED_HALVES_RULES_H

#include "arch/cpu/ln_blocked_rules.h"
#include "arch/cpu/ln_halves.h"
#include "lightnet/ln_rule.h"

/** Whether a convolution is faster with bfloat16 than with floats, by whatever algorithm. Programs
 * for other batches share the weights, which are packed as one image wants them. */
static inline int pays_in_halves(const ln_context *ctx, const ln_op *conv, const ln_tensor_entry *x,
                                 const ln_tensor_entry *y)
{
    const int *const src = x->tensor->dims, *const dst = y->tensor->dims,
                     images = ctx->many_shapes ? 1 : src[0];
    const tl_conv2d_param param = window_of(conv);
    return tl_blocked_conv2d_pairs_pay((const int[4]){images, src[1], src[2], src[3]},
                                       (const int[4]){images, dst[1], dst[2], dst[3]}, &param,
                                       tile_of(ctx, conv, x, y));
}

/** Whether the weights of a convolution may be packed in pairs. */
static inline int is_packable_in_pairs(const ln_tensor_entry *w)
{
    const int *const dims = w->tensor->dims;
    return is_packable(w, tl_blocked_conv2d_packed_pairs(dims[1], dims + 2));
}

#endif
