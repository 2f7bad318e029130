// SPDX-License-Identifier: Apache-2.0
// Queries and computations for the rules of identity.opt.

#ifndef LN_IDENTITY_RULES_H
#define LN_IDENTITY_RULES_H

#include "lightnet/ln_rule.h"

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
    const int *axes = ln_rule_get_ints(transpose, "axes", NULL);
    int last = -1;
    for (int i = 0; i < x->tensor->ndim; i++) {
        if (x->tensor->dims[axes[i]] == 1)
            continue;
        if (axes[i] < last)
            return 0;
        last = axes[i];
    }
    return 1;
}

#endif
