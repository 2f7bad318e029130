// SPDX-License-Identifier: Apache-2.0
// Queries and computations for the rules of norms.opt.

#ifndef LN_NORMS_RULES_H
#define LN_NORMS_RULES_H

#include "lightnet/ln_rule.h"

static inline int is_floating(const ln_tensor_entry *te)
{
    return tl_dtype_is_float(te->tensor->dtype);
}

static inline int is_same_shape(const ln_tensor_entry *a, const ln_tensor_entry *b)
{
    return tl_tensor_issameshape(a->tensor, b->tensor);
}

/** The first of the axes that `reduce` takes, if these are the last ones of `x`; otherwise the
 * number of axes. */
static inline int first_axis(const ln_op *reduce, const ln_tensor_entry *x)
{
    int len, first = x->tensor->ndim;
    const int *axes = ln_rule_get_ints(reduce, "axes", &len);
    for (int i = 0; i < len; i++)
        first = axes[i] < first ? axes[i] : first;
    return first == x->tensor->ndim - len ? first : x->tensor->ndim;
}

/** Whether `k` has an element for each index of `x` along the axes from `axis` on, and is broadcast
 * along the others. */
static inline int spans(const ln_tensor_entry *k, const ln_tensor_entry *x, int axis)
{
    const int shift = x->tensor->ndim - k->tensor->ndim;
    if (k->tensor->dtype != x->tensor->dtype || shift < 0 || shift > axis)
        return 0;
    for (int i = shift; i < x->tensor->ndim; i++) {
        if (k->tensor->dims[i - shift] != (i < axis ? 1 : x->tensor->dims[i]))
            return 0;
    }
    return 1;
}

#endif
