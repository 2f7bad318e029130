// SPDX-License-Identifier: Apache-2.0
// Queries and computations for the rules of attention.opt.

#ifndef LN_ATTENTION_RULES_H
#define LN_ATTENTION_RULES_H

#include <string.h>

#include "lightnet/ln_rule.h"

/** Whether a tensor is an input of an attention: [B, H, S, D]. */
static inline int has_heads(const ln_tensor_entry *te)
{
    return te->tensor->ndim == 4 && tl_dtype_is_float(te->tensor->dtype);
}

/** Whether all have the same batch and number of heads, so that nothing is broadcast. */
static inline int share_heads(const ln_tensor_entry *q, const ln_tensor_entry *k,
                              const ln_tensor_entry *v)
{
    int same = k->tensor->dims[2] == v->tensor->dims[2];
    for (int i = 0; i < 2; i++)
        same = same && q->tensor->dims[i] == k->tensor->dims[i] &&
               k->tensor->dims[i] == v->tensor->dims[i];
    return same;
}

/** Whether a tensor has its heads in the batch: [B, S, D]. */
static inline int is_batch(const ln_tensor_entry *te)
{
    return te->tensor->ndim == 3 && te->tensor->len > 0 && tl_dtype_is_float(te->tensor->dtype);
}

static inline int share_batch(const ln_tensor_entry *q, const ln_tensor_entry *k,
                              const ln_tensor_entry *v)
{
    return q->tensor->dims[0] == k->tensor->dims[0] && k->tensor->dims[0] == v->tensor->dims[0] &&
           k->tensor->dims[1] == v->tensor->dims[1];
}

/** [B, S, D] as [B, 1, S, D]. */
static inline void with_one_head(const ln_tensor_entry *te, int *dims)
{
    const int *own = te->tensor->dims;
    memcpy(dims, (int[]){own[0], 1, own[1], own[2]}, 4 * sizeof(*dims));
}

/** Whether each head of x [B, G, T, D], as [B, G, 1, T, D], is repeated to [B, G, n, T, D], which
 *  is y, [B, G * n, T, D]. */
static inline int repeats_heads(const ln_tensor_entry *x, const ln_tensor_entry *one,
                                const ln_tensor_entry *n, const ln_tensor_entry *y)
{
    const int *from = x->tensor->dims, *many = n->tensor->dims, *to = y->tensor->dims;
    return has_heads(x) && has_heads(y) && one->tensor->ndim == 5 && one->tensor->dims[2] == 1 &&
           n->tensor->ndim == 5 && many[0] == from[0] && many[1] == from[1] && many[3] == from[2] &&
           many[4] == from[3] && to[0] == from[0] && to[2] == from[2] && to[3] == from[3];
}

#endif
