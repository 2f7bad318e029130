// SPDX-License-Identifier: Apache-2.0
// Queries and computations for the rules of rows.opt.

#ifndef LN_ROWS_RULES_H
#define LN_ROWS_RULES_H

#include "lightnet/ln_rule.h"

/** The index in the constant `index` for an axis of `len`; -1: unknown. */
static inline int taken(const ln_context *ctx, const ln_tensor_entry *index, int len)
{
    const double i = ln_rule_scalar(ctx, index);
    return i >= -len && i < len ? (int)(i < 0 ? i + len : i) : -1;
}

static inline int may_become_view(const ln_context *ctx, const ln_tensor_entry *x,
                                  const ln_tensor_entry *y)
{
    return !ln_context_is_mutated(ctx, x->name) && !ln_context_is_mutated(ctx, y->name);
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
    const int axis = ln_rule_get_int(slice, "axis");
    return src->tensor->ndim == result->tensor->ndim &&
           src->tensor->dims[axis] == result->tensor->dims[axis];
}

/** Whether a source, or NULL, is broadcast along the axis of `slice`. */
static inline int is_repeated(const ln_op *slice, const ln_tensor_entry *src,
                              const ln_tensor_entry *result)
{
    return !src || broadcast_dim(src, result, ln_rule_get_int(slice, "axis")) == 1;
}

/** Whether a and b have the same axes up to that of `slice`. */
static inline int begin_alike(const ln_op *slice, const ln_tensor_entry *a,
                              const ln_tensor_entry *b)
{
    const int axis = ln_rule_get_int(slice, "axis");
    int alike = axis < a->tensor->ndim;
    for (int i = 0; i <= axis; i++)
        alike = alike && a->tensor->dims[i] == b->tensor->dims[i];
    return alike;
}

#endif
