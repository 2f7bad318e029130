// SPDX-License-Identifier: Apache-2.0
// What the rules of signed.opt ask and compute.

#ifndef LN_SIGNED_RULES_H
#define LN_SIGNED_RULES_H

#include "lightnet/ln_rule.h"

/** Whether `q` holds signed 8-bit numbers that a run computes. */
static inline int is_signed(const ln_tensor_entry *q)
{
    return q->tensor->dtype == TL_INT8 && !q->isconst;
}

/** Whether the constant `w` is unsigned with the one zero point 128. */
static inline int is_around_128(const ln_context *ctx, const ln_tensor_entry *w,
                                const ln_tensor_entry *zero)
{
    return w->isconst && w->tensor->dtype == TL_UINT8 && w->tensor->ndim > 0 &&
           ln_rule_scalar(ctx, zero) == 128;
}

#endif
